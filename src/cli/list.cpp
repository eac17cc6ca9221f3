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
  mortise list -o wide
  mortise list --json | jq '.entries[] | select(.waiters > 0)'

Usage: mortise list [OPTION...]

      --url URL      where the locks are; else MORTISE_URL
  -o, --output FORM  wide: a line for each client that holds or waits; name: names alone;
                     json: as --json
      --json         what the clients have said, as JSON
      --wait TIME    how long to wait for clients that do not answer; 1s unless given
  -h, --help         this text

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

void print_names(const census& seen) {
  for (const auto& [name, one] : summaries_of(seen)) {
    if (one.is_in_use()) std::puts(printable_of(name).c_str());
  }
}

// Each client by itself, with all that it says.
void print_wide(const census& seen) {
  text_table table({"NAME", "KIND", "MODE", "CLIENT", "HOST", "PID", "TOKEN", "PERMITS", "HELD",
                    "LEFT", "WAITERS", "WAITED", "GRANTS", "CONTENDED", "LABEL"});
  for (int64_t index = 0; index < seen.size(); ++index) {
    const auto number = [&](std::string_view key) { return seen.number(index, key); };
    const auto text = [&](std::string_view key) { return printable_of(seen.text(index, key)); };
    const bool holds = number("holds") > 0;
    const bool waits = number("waiters") > 0;
    if (!holds && !waits) continue;
    const auto of_hold = [&](const std::string& cell) { return text_or_dash(holds, cell); };
    table.add(
        {text("name"), text("kind"), text("mode"), text("client"), text("host"),
         std::to_string(number("pid")), of_hold(std::to_string(number("token"))),
         of_hold(std::to_string(number("permits"))), of_hold(rough_text_of(number("held_ms"))),
         of_hold(rough_text_of(number("time_left_ms"))), std::to_string(number("waiters")),
         text_or_dash(waits, rough_text_of(number("waited_ms"))), std::to_string(number("grants")),
         std::to_string(number("contended")), text("label")});
  }
  table.sort();
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
  std::string form;
  app.add_option("-o,--output", form);
  app.add_option("--wait", wait);
  if (!read_arguments(app, "list", list_help, argc, argv)) return exit_ok;
  if (!form.empty() && form != "wide" && form != "name" && form != "json") {
    throw failure(exit_usage, "--output " + form + " is unknown; give wide, name or json");
  }
  const auto wait_ms = census_wait_ms_of(wait);
  const error_handle error(mortise_error_new());
  const auto client = connect(url, error.get());
  const census seen(client.get(), wait_ms, error.get());
  if (is_json || form == "json") {
    std::puts(seen.json());
  } else if (form == "wide") {
    print_wide(seen);
  } else if (form == "name") {
    print_names(seen);
  } else {
    print(seen);
  }
  if (const auto gaps = seen.gaps(); !gaps.empty()) complain("list", gaps);
  return exit_ok;
}

}  // namespace mortise::cli
