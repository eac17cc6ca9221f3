#include "cli/exec/plan.hpp"

#include <algorithm>

#include "cli/arguments.hpp"
#include "cli/exec/help.hpp"
#include "cli/failure.hpp"
#include "cli/held_by_id.hpp"
#include "cli/period.hpp"

namespace mortise::cli::exec {
namespace {

// The options before their validation.
struct written {
  bool is_shared = false;
  bool is_exclusive = false;
  bool is_nonblocking = false;
  std::string wait, lease, grace, at_least, at_most, progress, once_per, shell_command;
};

void add_options(CLI::App& app, plan& result, written& as) {
  // The names. As a list of CLI11, a name in brackets would be split at its commas.
  app.allow_extras();
  app.add_option("--hold", result.hold);
  app.add_flag("-s,--shared", as.is_shared);
  app.add_flag("-x,--exclusive", as.is_exclusive);
  app.add_option("--permits", result.permits);
  app.add_flag("-n,--nonblock", as.is_nonblocking);
  app.add_option("-w,--wait", as.wait);
  app.add_option("-E,--conflict-exit-code", result.conflict_code);
  app.add_option("-c,--command", as.shell_command);
  app.add_option("--lease", as.lease);
  app.add_option("--grace", as.grace);
  app.add_option("--at-least", as.at_least);
  app.add_option("--at-most", as.at_most);
  app.add_option("--progress", as.progress);
  app.add_option("--once-per", as.once_per);
  app.add_flag("--only-success", result.counts_success_only);
  app.add_option("--on-lost", result.on_lost);
  app.add_option("--on-contended", result.on_contended);
  app.add_option("--token-file", result.token_file);
  app.add_option("--label", result.label);
  app.add_option("--url", result.url);
  app.add_flag("--pass-url", result.passes_url);
  app.add_flag("--verbose", result.is_verbose);
}

[[noreturn]] void refuse(const std::string& text) {
  throw failure(exit_usage, text + "; see mortise exec --help");
}

void read_names(const CLI::App& app, plan& result) {
  result.names = app.remaining();
  for (const auto& one : result.names) {
    if (one.size() < 2 || !one.starts_with('-')) continue;
    refuse("The following argument was not expected: " + one);
  }
}

void read_mode(const CLI::App& app, const written& as, plan& result) {
  const bool has_permits = app.count("--permits") > 0;
  if (int{as.is_shared} + int{as.is_exclusive} + int{has_permits} > 1) {
    refuse("--shared, --exclusive and --permits are different kinds of lock; give one of them");
  }
  if (has_permits && (result.permits < 1 || result.permits > MORTISE_MAX_PERMITS)) {
    refuse("--permits " + std::to_string(result.permits) + " is out of range; give 1 to " +
           std::to_string(MORTISE_MAX_PERMITS));
  }
  if (as.is_shared) result.access = mode::reader;
  if (as.is_exclusive) result.access = mode::writer;
  if (has_permits) result.access = mode::permit;
}

void check_period(const written& as, const plan& result) {
  if (result.once_per_ms > 0 && result.once_per_ms < 1000) {
    refuse("--once-per " + as.once_per +
           " is too short for the clock skew of hosts; give 1s or more");
  }
  if (result.counts_success_only && result.once_per_ms == 0) {
    refuse("--only-success needs a period; give --once-per PERIOD, too");
  }
}

void read_times(const CLI::App& app, const written& as, plan& result) {
  const auto read = [&app](const char* option, const std::string& text, int64_t& ms) {
    if (app.count(option) > 0) ms = milliseconds_of(option, text);
  };
  if (as.is_nonblocking && app.count("--wait") > 0) {
    refuse("--nonblock and --wait contradict each other; give one of them");
  }
  if (as.is_nonblocking) result.wait_ms = 0;
  read("--wait", as.wait, result.wait_ms);
  read("--lease", as.lease, result.lease_ms);
  read("--grace", as.grace, result.grace_ms);
  read("--at-least", as.at_least, result.at_least_ms);
  read("--at-most", as.at_most, result.at_most_ms);
  read("--progress", as.progress, result.progress_ms);
  read("--once-per", as.once_per, result.once_per_ms);
  if (app.count("--lease") > 0 && result.lease_ms < MORTISE_MIN_LEASE_MS) {
    refuse("--lease " + as.lease + " is too short; give " +
           text_of_milliseconds(MORTISE_MIN_LEASE_MS) + " or more");
  }
  for (const auto& [option, ms] :
       {std::pair{"--at-most", result.at_most_ms}, std::pair{"--progress", result.progress_ms},
        std::pair{"--once-per", result.once_per_ms}}) {
    if (app.count(option) > 0 && ms == 0)
      refuse(std::string(option) + " 0 is too short; give a longer time");
  }
  if (result.at_most_ms > 0 && result.grace_ms >= result.at_most_ms) {
    refuse("--grace " + as.grace + " is not shorter than --at-most " + as.at_most +
           "; give a shorter --grace");
  }
  check_period(as, result);
}

// The id names the lock, and its hold has been acquired.
void read_hold(const CLI::App& app, plan& result) {
  if (!result.names.empty()) refuse("--hold and NAME contradict each other; give one of them");
  for (const auto* const option : {"--shared", "--exclusive", "--permits", "--nonblock", "--wait",
                                   "--conflict-exit-code", "--at-least", "--once-per"}) {
    if (app.count(option) > 0) {
      refuse(std::string("--hold and ") + option + " contradict each other; give one of them");
    }
  }
  const error_handle error(mortise_error_new());
  result.names = {lock_of(result.hold, error.get()).name};
}

void read_command(const CLI::App& app, const written& as, const std::vector<std::string>& after,
                  plan& result) {
  const bool has_shell_command = app.count("--command") > 0;
  if (has_shell_command && !after.empty()) {
    refuse("-c and a command after -- contradict each other; give one of them");
  }
  if (has_shell_command) {
    result.command = {"/bin/sh", "-c", as.shell_command};
  } else {
    result.command = after;
  }
  if (app.count("--hold") > 0) read_hold(app, result);
  if (result.names.empty()) refuse("NAME is missing");
  if (result.command.empty())
    refuse("the command is missing; give one after --, as in: mortise exec NAME -- COMMAND");
  if (result.names.size() > MORTISE_MAX_MEMBERS) {
    refuse(std::to_string(result.names.size()) + " names are too many; give at most " +
           std::to_string(MORTISE_MAX_MEMBERS));
  }
  if (app.count("--token-file") > 0 && result.token_file.empty()) {
    refuse("--token-file \"\" is no file; give its path, or omit --token-file");
  }
  if (result.conflict_code < 0 || result.conflict_code > largest_exit_code) {
    refuse("-E " + std::to_string(result.conflict_code) + " is out of range; give 0 to 255");
  }
}

}  // namespace

bool read_plan(int argc, const char* const* argv, plan& result) {
  // Arguments after -- belong to the command, even if they look like options of mortise.
  const auto* const end = argv + argc;
  const auto* const separator = std::find(argv, end, std::string_view("--"));
  const std::vector<std::string> after(separator == end ? end : separator + 1, end);

  CLI::App app;
  written as;
  add_options(app, result, as);
  if (!read_arguments(app, "exec", help_text, static_cast<int>(separator - argv), argv))
    return false;
  read_names(app, result);
  read_mode(app, as, result);
  read_times(app, as, result);
  read_command(app, as, after, result);
  return true;
}

}  // namespace mortise::cli::exec
