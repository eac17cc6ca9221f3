#include "cli/commands/acquire.hpp"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/arguments.hpp"
#include "cli/delayed_signals.hpp"
#include "cli/exit_code.hpp"
#include "cli/failure.hpp"
#include "cli/held_by_id.hpp"
#include "cli/period.hpp"

namespace mortise::cli {
namespace {

const char* const acquire_help =
    R"HELP(Acquires a lock for several commands, and prints the id of the hold.

  mortise acquire --hold-for 30m deploy       print the id of the hold
  mortise exec --hold "$id" -- backup --all   run a command under the hold
  mortise release --hold "$id"                end it

Usage: mortise acquire --hold-for TIME [OPTION...] NAME

      --hold-for TIME  how long the lock stays held, such as 90 (seconds), 30m, 8h. No process
                       renews it: see mortise renew and mortise exec --hold
  -s, --shared         shared mode of a read-write lock
  -x, --exclusive      exclusive mode of a read-write lock. The default is a mutex
      --permits N      one of N permits of a semaphore
  -n, --nonblock       do not wait
  -w, --wait TIME      wait at most this long
      --label TEXT     description of the holder in mortise list and show
      --json           print the id, the name and the fencing token as JSON
      --url URL        servers of the lock (default: $MORTISE_URL)
  -h, --help           print this help

The id works with every client of the same servers, for one command at a time. Such a client can
also release the lock. Exit codes: 0 acquired; 1 not acquired; 64 and above as in mortise exec.
)HELP";

const char* const renew_help = R"HELP(Renews a hold of mortise acquire.

  mortise renew --hold-for 30m "$id"

Usage: mortise renew --hold-for TIME [OPTION...] ID

      --hold-for TIME  how long the lock stays held from now on
      --url URL        servers of the lock (default: $MORTISE_URL)
  -h, --help           print this help

The id stays the same. Exit codes: 0 renewed; 79 the hold has ended, or a command runs under it; 64
and above as in mortise exec.
)HELP";

struct acquire_request {
  lock_terms lock;
  std::string url, label, hold_for;
  int64_t wait_ms = MORTISE_FOREVER;
  bool is_shared = false;
  bool is_exclusive = false;
  bool is_nonblocking = false;
  bool is_json = false;
};

[[noreturn]] void refuse(const char* command, const std::string& text) {
  throw failure(exit_usage, text + "; see mortise " + command + " --help");
}

int64_t hold_ms_of(const char* command, const std::string& text) {
  if (text.empty()) refuse(command, "--hold-for is missing");
  const auto time_ms = milliseconds_of("--hold-for", text);
  if (time_ms >= MORTISE_MIN_LEASE_MS) return time_ms;
  refuse(command, "--hold-for " + text + " is too short; give " +
                      text_of_milliseconds(MORTISE_MIN_LEASE_MS) + " or more");
}

void read_lock(const CLI::App& app, acquire_request& request) {
  const bool has_permits = app.count("--permits") > 0;
  if (int{request.is_shared} + int{request.is_exclusive} + int{has_permits} > 1) {
    refuse("acquire",
           "--shared, --exclusive and --permits are different kinds of lock; give one of them");
  }
  if (has_permits && (request.lock.permits < 1 || request.lock.permits > MORTISE_MAX_PERMITS)) {
    refuse("acquire", "--permits " + std::to_string(request.lock.permits) +
                          " is out of range; give 1 to " + std::to_string(MORTISE_MAX_PERMITS));
  }
  if (request.is_nonblocking && app.count("--wait") > 0) {
    refuse("acquire", "--nonblock and --wait contradict each other; give one of them");
  }
  if (request.is_nonblocking) request.wait_ms = 0;
  if (app.count("NAME") == 0) refuse("acquire", "NAME is missing");
  if (request.is_shared || request.is_exclusive) request.lock.kind = "rw";
  if (has_permits) request.lock.kind = "semaphore";
  request.lock.is_exclusive = !request.is_shared;
}

// Renewed only until the export.
options_handle options_of(mortise_client* client, const std::string& label, mortise_error* error) {
  auto options = options_with_confirmed_release(client, error);
  mortise_options_set_progress_ms(options.get(), 0, error);
  // A shared claim has no id of its own.
  mortise_options_set_fair_strict(options.get(), 1, error);
  if (mortise_options_set_label(options.get(), label.data(), label.size(), error) != MORTISE_OK) {
    throw failure(error);
  }
  return options;
}

int acquire(const acquire_request& request, int64_t hold_ms) {
  const error_handle error(mortise_error_new());
  // Only from the grant on: a signal ends the wait at once.
  std::optional<delayed_signals> signals;
  const auto client = connect(request.url, error.get());
  const auto options = options_of(client.get(), request.label, error.get());
  held_by_id held(client.get(), request.lock, options.get(), error.get());
  if (!held.acquire(request.wait_ms)) {
    held.check_kind();
    return exit_not_acquired;
  }
  signals.emplace();
  const auto token = held.token();
  // Otherwise a closed pipe would end this process, and the lock would stay held.
  ::signal(SIGPIPE, SIG_IGN);
  const auto id = held.give_out(hold_ms);
  auto text = id;
  if (request.is_json) {
    const nlohmann::json json = {
        {"id", id}, {"name", request.lock.name}, {"token", token}, {"held_for_ms", hold_ms}};
    text = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  if (signals->await_room(STDOUT_FILENO) && std::puts(text.c_str()) >= 0 &&
      std::fflush(stdout) == 0) {
    return exit_ok;
  }
  const std::string problem = std::strerror(errno);
  held.adopt(id);
  held.unlock();
  throw failure(exit_input_output,
                "cannot write the id to stdout: " + problem + "; the lock was released");
}

}  // namespace

int acquire_lock(int argc, const char* const* argv) {
  CLI::App app;
  acquire_request request;
  std::string wait;
  app.add_option("NAME", request.lock.name);
  app.add_option("--hold-for", request.hold_for);
  app.add_flag("-s,--shared", request.is_shared);
  app.add_flag("-x,--exclusive", request.is_exclusive);
  app.add_option("--permits", request.lock.permits);
  app.add_flag("-n,--nonblock", request.is_nonblocking);
  app.add_option("-w,--wait", wait);
  app.add_option("--label", request.label);
  app.add_flag("--json", request.is_json);
  app.add_option("--url", request.url);
  if (!read_arguments(app, "acquire", acquire_help, argc, argv)) return exit_ok;
  read_lock(app, request);
  if (app.count("--wait") > 0) request.wait_ms = milliseconds_of("--wait", wait);
  return acquire(request, hold_ms_of("acquire", request.hold_for));
}

int renew_hold(int argc, const char* const* argv) {
  CLI::App app;
  std::string id, hold_for, url;
  app.add_option("ID", id);
  app.add_option("--hold-for", hold_for);
  app.add_option("--url", url);
  if (!read_arguments(app, "renew", renew_help, argc, argv)) return exit_ok;
  if (app.count("ID") == 0) refuse("renew", "ID is missing");
  const auto hold_ms = hold_ms_of("renew", hold_for);
  const error_handle error(mortise_error_new());
  const auto lock = lock_of(id, error.get());
  const auto client = connect(url, error.get());
  const auto options = options_of(client.get(), "", error.get());
  const delayed_signals signals;
  held_by_id held(client.get(), lock, options.get(), error.get());
  held.adopt(id);
  held.give_out(hold_ms);
  return exit_ok;
}

}  // namespace mortise::cli
