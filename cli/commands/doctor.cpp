#include "cli/commands/doctor.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "cli/arguments.hpp"
#include "cli/commands/deadlocks.hpp"
#include "cli/exit_code.hpp"
#include "cli/failure.hpp"
#include "cli/period.hpp"

namespace mortise::cli {
namespace {

const char* const doctor_help =
    R"HELP(Checks whether the settings, rights and clocks of the servers are safe for locks.

  mortise doctor
  mortise doctor --json
  mortise doctor --deadlocks

Usage: mortise doctor [OPTION...]

      --url URL    servers of the locks (default: $MORTISE_URL)
      --json       print JSON
      --all        also print the findings that are ok
      --deadlocks  instead search for threads that wait for each other
      --wait TIME  time limit for the answers of the clients, with --deadlocks (default: 1s)
  -h, --help       print this help

It changes nothing. Exit codes: 0 all findings are ok; 1 locks may fail after another fault, or a
server does not report a setting; 2 locks do not work, or two clients may hold one lock; 64 and
above as in mortise exec. With --deadlocks: 0 none was found; 2 threads wait for each other; 75 a
server did not answer.
)HELP";

enum doctor_exit_code : int { exit_warn = 1, exit_bad = 2 };

bool has_colors() {
  const char* const refusal = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  const bool is_refused = refusal != nullptr && *refusal != '\0';
  const bool is_able = terminal != nullptr && std::string(terminal) != "dumb";
  return !is_refused && is_able && ::isatty(STDOUT_FILENO) == 1;
}

const char* color_of(mortise_severity severity) {
  switch (severity) {
    case MORTISE_SEVERITY_OK:
      return "\033[32m";
    case MORTISE_SEVERITY_BAD:
      return "\033[31m";
    default:
      return "\033[33m";
  }
}

void print(const mortise_health* found, int64_t index, bool is_colored) {
  const auto severity = mortise_health_severity(found, index);
  std::printf("%s%-7s%s %s at %s: %s\n", is_colored ? color_of(severity) : "",
              mortise_severity_text(severity), is_colored ? "\033[0m" : "",
              mortise_health_name(found, index), mortise_health_server(found, index),
              mortise_health_value(found, index));
  for (const auto* const text :
       {mortise_health_consequence(found, index), mortise_health_remedy(found, index)}) {
    if (*text != '\0') std::printf("        %s\n", text);
  }
}

int exit_code_of_severity(mortise_severity worst) {
  if (worst == MORTISE_SEVERITY_OK) return exit_ok;
  return worst == MORTISE_SEVERITY_BAD ? int{exit_bad} : int{exit_warn};
}

}  // namespace

int check_health(int argc, const char* const* argv) {
  CLI::App app;
  std::string url;
  bool is_json = false;
  bool is_all = false;
  bool is_deadlocks = false;
  std::string wait = "1s";
  app.add_option("--url", url);
  app.add_flag("--json", is_json);
  app.add_flag("--all", is_all);
  app.add_flag("--deadlocks", is_deadlocks);
  app.add_option("--wait", wait);
  if (!read_arguments(app, "doctor", doctor_help, argc, argv)) return exit_ok;
  if (is_deadlocks && is_all) {
    throw failure(exit_usage, "--all selects findings; omit it with --deadlocks");
  }
  if (!is_deadlocks && app.count("--wait") > 0) {
    throw failure(exit_usage, "--wait is for the answers of clients; give --deadlocks too");
  }
  const auto wait_ms = listing_wait_ms_of(wait);
  const error_handle error(mortise_error_new());
  const auto client = connect_to_check(url, error.get());
  if (is_deadlocks) return report_deadlocks(client.get(), wait_ms, is_json, error.get());
  const health_handle found(mortise_client_check_health(client.get(), error.get()));
  if (!found) throw failure(error.get());
  const auto worst = mortise_health_worst(found.get());
  if (is_json) {
    std::puts(mortise_health_json(found.get()));
    return exit_code_of_severity(worst);
  }
  const auto count = mortise_health_count(found.get());
  const bool is_colored = has_colors();
  int64_t well = 0;
  for (int64_t index = 0; index < count; ++index) {
    const bool is_well = mortise_health_severity(found.get(), index) == MORTISE_SEVERITY_OK;
    well += int64_t{is_well};
    if (!is_well || is_all) print(found.get(), index, is_colored);
  }
  std::printf("%lld findings, %lld of them ok\n", static_cast<long long>(count),
              static_cast<long long>(well));
  return exit_code_of_severity(worst);
}

}  // namespace mortise::cli
