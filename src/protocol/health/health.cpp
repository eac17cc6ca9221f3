#include "protocol/health/health.hpp"

#include <algorithm>

#include "base/text/json.hpp"
#include "base/text/printable.hpp"

namespace mortise::protocol {

const char* severity_text(finding_severity severity) noexcept {
  switch (severity) {
    case finding_severity::ok:
      return "ok";
    case finding_severity::unknown:
      return "unknown";
    case finding_severity::warn:
      return "warn";
    case finding_severity::bad:
      return "bad";
  }
  return "unknown";
}

const finding* health::worst() const noexcept {
  const auto found =
      std::max_element(findings.begin(), findings.end(),
                       [](const finding& a, const finding& b) { return a.severity < b.severity; });
  return found == findings.end() ? nullptr : &*found;
}

outcome health::refusal() const noexcept {
  const auto* const found = worst();
  if (found == nullptr || found->severity != finding_severity::bad) return {};
  return outcome::of(status::refused, found->server, ": ", found->name, " is bad (", found->value,
                     "): ", found->consequence, "; ", found->remedy, " (health_check=strict)");
}

std::string health::json() const {
  const auto* const first = worst();
  std::string text = "{\"worst\":";
  append_json(text, severity_text(first == nullptr ? finding_severity::unknown : first->severity));
  text += ",\"findings\":[";
  for (const auto& item : findings) {
    const auto add = [&](const char* field, std::string_view value, char before = ',') {
      text.append(1, before).append("\"").append(field).append("\":");
      append_json(text, value);
    };
    if (&item != &findings.front()) text += ',';
    add("name", item.name, '{');
    add("severity", severity_text(item.severity));
    add("server", item.server);
    add("value", item.value);
    add("consequence", item.consequence);
    add("remedy", item.remedy);
    text += '}';
  }
  return text.append("]}");
}

void judge_unreachable(const outcome& problem, const std::string& server, bool is_spare,
                       health& result) {
  constexpr std::size_t longest_problem = 400;  // the text also names an address
  const auto& rule = finding_rules().back();
  result.findings.push_back({rule.name, is_spare ? finding_severity::warn : finding_severity::bad,
                             server, printable(problem.words(), longest_problem),
                             is_spare ? rule.consequence : "its locks cannot be acquired",
                             rule.remedy});
}

void judge(const server_facts& facts, const checking_client& client, const std::string& server,
           health& result) {
  for (const auto& rule : finding_rules()) {
    auto [severity, value] = rule.judge(facts, client);
    finding made{rule.name, severity, server, std::move(value)};
    if (severity != finding_severity::ok) {
      made.consequence = rule.consequence;
      made.remedy = severity == finding_severity::unknown
                        ? "give the user the right to read it (see the page about health checks), "
                          "or check it at the server"
                        : rule.remedy;
    }
    result.findings.push_back(std::move(made));
  }
}

}  // namespace mortise::protocol
