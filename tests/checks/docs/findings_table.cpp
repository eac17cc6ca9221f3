// findings [--write]: the table of findings on the page docs/health_check.md. It follows from the
// rules of src/protocol/health/finding_rules.cpp. Reports whether it is in step with them, or
// writes it.
#include <iostream>
#include <stdexcept>

#include "protocol/health/health.hpp"
#include "support/pages.hpp"

namespace {

std::string or_never(const char* when) { return *when == '\0' ? "–" : when; }

std::string row_of_page(const mortise::protocol::finding_rule& rule) {
  return std::string("| `") + rule.name + "` | " + rule.looks_at + " | " +
         or_never(rule.warn_when) + " | " + or_never(rule.bad_when) + " | " + rule.consequence +
         " | " + rule.remedy + " |\n";
}

}  // namespace

int main(int count, char** arguments) try {
  const bool is_to_write = count > 1 && arguments[1] == std::string("--write");
  std::string table =
      "| finding | what is looked at | warn | bad | what could happen | what to do |\n"
      "|---|---|---|---|---|---|\n";
  for (const auto& rule : mortise::protocol::finding_rules()) table += row_of_page(rule);
  const bool is_page =
      mortise::testing::bring_in_step("docs/health_check.md", "./dev generate", table, is_to_write);
  return is_page ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << "findings: " << error.what() << "\n";
  return 1;
}
