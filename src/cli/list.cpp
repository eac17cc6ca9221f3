#include "cli/list.hpp"

#include <cstdio>

#include "cli/arguments.hpp"
#include "cli/census.hpp"
#include "cli/exit_code.hpp"
#include "cli/failure.hpp"
#include "cli/lock_summary.hpp"
#include "cli/period.hpp"
#include "cli/text_table.hpp"

namespace mortise::cli {
namespace {

const char* const list_help = R"HELP(Shows who holds which lock, and how many wait.

  mortise list
  mortise list --json | jq '.entries[] | select(.waiters > 0)'

Usage: mortise list [OPTION...]

      --url URL    where the locks are; else MORTISE_URL
      --json       what the clients have said, as JSON
      --wait TIME  how long to wait for clients that do not answer; 1s unless given
  -h, --help       this text

All clients that live are asked; no keys are looked for. Holds of clients that are dead, and of
other programs, are not shown. Ends with 0, also if there are no locks, or with 64 and above as
mortise exec.
)HELP";

void print(const census& seen) {
  text_table table(
      {"NAME", "KIND", "HOLDER", "TOKEN", "HELD", "LEFT", "WAITERS", "WAITED", "LABEL"});
  for (const auto& [name, one] : summaries_of(seen)) {
    if (!one.is_in_use()) continue;
    const bool holds = one.holders > 0;
    table.add({printable_of(name), one.kind, one.holder_text(),
               text_or_dash(holds, std::to_string(one.token)),
               text_or_dash(holds, rough_text_of(one.held_ms)),
               text_or_dash(holds, rough_text_of(one.time_left_ms)), std::to_string(one.waiters),
               text_or_dash(one.waiters > 0, rough_text_of(one.waited_ms)),
               printable_of(one.label)});
  }
  table.print();
}

}  // namespace

int list_locks(int argc, const char* const* argv) {
  CLI::App app;
  std::string url;
  std::string wait = "1s";
  bool is_json = false;
  app.add_option("--url", url);
  app.add_flag("--json", is_json);
  app.add_option("--wait", wait);
  if (!read_arguments(app, "list", list_help, argc, argv)) return exit_ok;
  const auto wait_ms = census_wait_ms_of(wait);
  const error_handle error(mortise_error_new());
  const auto client = connect(url, error.get());
  const census seen(client.get(), wait_ms, error.get());
  if (is_json) {
    std::puts(seen.json());
  } else {
    print(seen);
  }
  if (const auto gaps = seen.gaps(); !gaps.empty()) complain("list", gaps);
  return exit_ok;
}

}  // namespace mortise::cli
