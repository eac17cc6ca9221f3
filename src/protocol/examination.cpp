#include "protocol/examination.hpp"

#include <algorithm>

#include "base/json.hpp"
#include "base/printable.hpp"

namespace mortise::protocol {

const char* verdict_text(finding_verdict verdict) noexcept {
  switch (verdict) {
    case finding_verdict::ok:
      return "ok";
    case finding_verdict::unknown:
      return "unknown";
    case finding_verdict::warn:
      return "warn";
    case finding_verdict::bad:
      return "bad";
  }
  return "unknown";
}

const finding* examination::worst() const noexcept {
  const auto found =
      std::max_element(findings.begin(), findings.end(),
                       [](const finding& a, const finding& b) { return a.verdict < b.verdict; });
  return found == findings.end() ? nullptr : &*found;
}

outcome examination::refusal() const noexcept {
  const auto* const found = worst();
  if (found == nullptr || found->verdict != finding_verdict::bad) return {};
  return outcome::of(status::refused, found->server, ": ", found->name, " is bad (", found->value,
                     "): ", found->consequence, "; ", found->mend, " (examine=strict)");
}

std::string examination::json() const {
  const auto* const first = worst();
  std::string text = "{\"worst\":";
  append_json(text, verdict_text(first == nullptr ? finding_verdict::unknown : first->verdict));
  text += ",\"findings\":[";
  for (const auto& item : findings) {
    const auto add = [&](const char* field, std::string_view value, char before = ',') {
      text.append(1, before).append("\"").append(field).append("\":");
      append_json(text, value);
    };
    if (&item != &findings.front()) text += ',';
    add("name", item.name, '{');
    add("verdict", verdict_text(item.verdict));
    add("server", item.server);
    add("value", item.value);
    add("consequence", item.consequence);
    add("mend", item.mend);
    text += '}';
  }
  return text.append("]}");
}

void judge_away(const outcome& problem, const std::string& server, bool is_spare,
                examination& into) {
  constexpr std::size_t longest_problem = 400;  // it names an address, too
  const auto& rule = finding_rules().back();
  into.findings.push_back({rule.name, is_spare ? finding_verdict::warn : finding_verdict::bad,
                           server, printable(problem.words(), longest_problem),
                           is_spare ? rule.consequence : "its locks cannot be acquired",
                           rule.mend});
}

void judge(const server_facts& facts, const examining_client& client, const std::string& server,
           examination& into) {
  for (const auto& rule : finding_rules()) {
    auto [verdict, value] = rule.judge(facts, client);
    finding made{rule.name, verdict, server, std::move(value)};
    if (verdict != finding_verdict::ok) {
      made.consequence = rule.consequence;
      made.mend = verdict == finding_verdict::unknown
                      ? "let the user ask for it (see the page about examination), or look where "
                        "the server is run"
                      : rule.mend;
    }
    into.findings.push_back(std::move(made));
  }
}

}  // namespace mortise::protocol
