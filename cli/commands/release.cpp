#include "cli/commands/release.hpp"

#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/delayed_signals.hpp"
#include "cli/exit_code.hpp"
#include "cli/failure.hpp"
#include "cli/held_by_id.hpp"
#include "cli/named_lock.hpp"
#include "cli/text/text_table.hpp"

namespace mortise::cli {
namespace {

const char* const release_help = R"HELP(Releases a hold of mortise acquire, or a lock by force.

  mortise release --hold "$id"
  mortise release --force nightly
  mortise release --force --yes --host build7 --pid 4711 nightly

Usage: mortise release --hold ID [OPTION...]
       mortise release --force [OPTION...] NAME

      --hold ID    release this hold, as mortise acquire printed it
      --force      confirm that another process holds the lock
      --yes        do not ask. Required without a terminal
      --host HOST  only holders on this host
      --pid PID    only holders with this process id
      --url URL    servers of the locks (default: $MORTISE_URL)
  -h, --help       print this help

With --force it lists the holders on stderr and asks before it releases their holds, at most 16 at a
time. Until a holder notices the loss, it works at the same time as the next holder. End its process
first, or let the protected resource reject its fencing token. A holder that is a mortise exec ends
its command and exits with 79.

Exit codes: 0 a hold was released; 1 no hold was found, or the answer was no; 79 the hold of --hold
has ended, or a command runs under it; 64 and above as in mortise exec.
)HELP";

struct release_request {
  std::string name;
  std::string url;
  std::string host;
  std::string hold;
  int64_t pid = 0;
  bool is_forced = false;
  bool is_agreed = false;
};

std::string text_of(const mortise_info* info, int64_t entry) {
  const auto host = printable_of(mortise_info_entry_host(info, entry));
  // Nobody renews an exported hold.
  if (host.empty()) return "an unknown client";
  auto text = host + ":" + std::to_string(mortise_info_entry_pid(info, entry));
  const auto label = printable_of(mortise_info_entry_label(info, entry));
  return label.empty() ? text : text + " (" + label + ")";
}

// The entries of the selected holders.
std::vector<int64_t> holders_in(const mortise_info* info, const release_request& request) {
  std::vector<int64_t> found;
  for (int64_t entry = 0; entry < mortise_info_shown_holder_count(info); ++entry) {
    const bool is_there =
        request.host.empty() || request.host == mortise_info_entry_host(info, entry);
    const bool is_it = request.pid == 0 || request.pid == mortise_info_entry_pid(info, entry);
    if (is_there && is_it) found.push_back(entry);
  }
  return found;
}

bool agrees(const mortise_info* info, const std::vector<int64_t>& holders,
            const std::string& name) {
  for (const auto entry : holders) complain("release", text_of(info, entry) + " holds " + name);
  std::fprintf(stderr, "Release %s? [y/N] ", holders.size() == 1 ? "this hold" : "these holds");
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

int end_holds(const release_request& request) {
  const error_handle error(mortise_error_new());
  const auto client = connect(request.url, error.get());
  named_lock lock(client.get(), request.name, error.get());
  const auto* const info = lock.info();
  const auto name = printable_of(request.name);
  const auto holders = holders_in(info, request);
  if (holders.empty()) {
    const bool is_free = mortise_info_is_held(info) == 0;
    complain("release", name + (is_free ? " is free" : " has no such holder"));
    return exit_not_acquired;
  }
  if (!request.is_agreed && !agrees(info, holders, name)) return exit_not_acquired;
  bool is_ended = false;
  for (const auto entry : holders) {
    const bool was_held = lock.force_release(entry, error.get());
    complain("release", (was_held ? "released" : "already ended:") + std::string(" the hold of ") +
                            text_of(info, entry) + " on " + name);
    is_ended = is_ended || was_held;
  }
  const auto unseen = mortise_info_holder_count(info) - mortise_info_shown_holder_count(info);
  if (unseen > 0) {
    complain("release",
             name + " is still held by " + std::to_string(unseen) + " more; release again");
  }
  return is_ended ? exit_ok : exit_not_acquired;
}

int release_hold(const release_request& request) {
  const error_handle error(mortise_error_new());
  const auto lock = lock_of(request.hold, error.get());
  const auto client = connect(request.url, error.get());
  const auto options = options_with_confirmed_release(client.get(), error.get());
  const delayed_signals signals;
  held_by_id held(client.get(), lock, options.get(), error.get());
  held.adopt(request.hold);
  held.unlock();
  return exit_ok;
}

}  // namespace

int release_lock(int argc, const char* const* argv) {
  CLI::App app;
  release_request request;
  app.add_option("NAME", request.name);
  app.add_flag("--force", request.is_forced);
  app.add_flag("--yes", request.is_agreed);
  app.add_option("--hold", request.hold);
  app.add_option("--host", request.host);
  app.add_option("--pid", request.pid);
  app.add_option("--url", request.url);
  if (!read_arguments(app, "release", release_help, argc, argv)) return exit_ok;
  if (app.count("--hold") > 0) {
    if (app.count("NAME") == 0 && !request.is_forced) return release_hold(request);
    throw failure(exit_usage, "--hold names the lock; give it without NAME and --force");
  }
  if (app.count("NAME") == 0) {
    throw failure(exit_usage, "NAME is missing; see mortise release --help");
  }
  if (!request.is_forced) {
    throw failure(exit_usage,
                  "this process does not hold the lock; give --force to release it, or the --hold "
                  "of mortise acquire");
  }
  // An empty variable of a script must not select the holds of all.
  if (app.count("--host") > 0 && request.host.empty()) {
    throw failure(exit_usage, "--host is empty; omit it for the holders on all hosts");
  }
  if (app.count("--pid") > 0 && request.pid < 1) {
    throw failure(exit_usage, "--pid " + std::to_string(request.pid) +
                                  " is out of range; give 1 or more, or omit it for all processes");
  }
  const bool has_terminal = ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
  if (!request.is_agreed && !has_terminal) {
    throw failure(exit_usage, "cannot ask: no terminal; give --yes");
  }
  return end_holds(request);
}

}  // namespace mortise::cli
