// statistics [--write]: the table of names on the page docs/statistics.md, which follows from
// src/statistics/snapshot.cpp. Reports whether it is in step with that, or writes it.
#include "statistics/snapshot.hpp"

#include <iostream>
#include <stdexcept>

#include "support/pages.hpp"

int main(int count, char** arguments) try {
  const bool is_to_write = count > 1 && arguments[1] == std::string("--write");
  std::string table = "| name | type | labels | what it is |\n|---|---|---|---|\n";
  const mortise::statistics::snapshot nothing;
  for (const auto& one : nothing.families()) {
    table += std::string("| `") + one.name + "` | " + mortise::statistics::type_text(one.type) +
             " | " + one.labels + " | " + one.help + " |\n";
  }
  const bool is_page =
      mortise::testing::bring_in_step("docs/statistics.md", "./dev generate", table, is_to_write);
  return is_page ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << "statistics: " << error.what() << "\n";
  return 1;
}
