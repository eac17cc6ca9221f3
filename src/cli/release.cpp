#include "cli/release.hpp"

#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/exit_code.hpp"
#include "cli/failure.hpp"
#include "cli/named_lock.hpp"
#include "cli/text_table.hpp"

namespace mortise::cli {
namespace {

const char* const release_help = R"HELP(Ends the hold of a lock by force: whoever waits is next.

  mortise release --force nightly
  mortise release --force --yes --host build7 --pid 4711 nightly

Usage: mortise release --force [OPTION...] NAME

      --force      it is somebody else's hold
      --yes        do not ask; needed where there is no terminal
      --host HOST  only holders on this host
      --pid PID    only holders of this process
      --url URL    where the lock is; else MORTISE_URL
  -h, --help       this text

All who hold are told on stderr, and then asked about. What a holder does until it has heard, it
does beside the next: end its process first, or let what is protected refuse its fencing token. Its
mortise exec ends the command with 79. At most 16 holders are ended at a time.

Ends with 0 if a hold was ended; 1 if there was none, or the answer was no; or with 64 and above as
mortise exec.
)HELP";

struct release_request {
  std::string name;
  std::string url;
  std::string host;
  int64_t pid = 0;
  bool is_forced = false;
  bool is_agreed = false;
};

std::string text_of(const mortise_info* info, int64_t entry) {
  auto text = printable_of(mortise_info_entry_host(info, entry)) + ":" +
              std::to_string(mortise_info_entry_pid(info, entry));
  const auto label = printable_of(mortise_info_entry_label(info, entry));
  return label.empty() ? text : text + " (" + label + ")";
}

// The entries of the holders that are meant.
std::vector<int64_t> holders_in(const mortise_info* info, const release_request& wanted) {
  std::vector<int64_t> found;
  for (int64_t entry = 0; entry < mortise_info_shown_holder_count(info); ++entry) {
    const bool is_there =
        wanted.host.empty() || wanted.host == mortise_info_entry_host(info, entry);
    const bool is_it = wanted.pid == 0 || wanted.pid == mortise_info_entry_pid(info, entry);
    if (is_there && is_it) found.push_back(entry);
  }
  return found;
}

bool agrees(const mortise_info* info, const std::vector<int64_t>& holders,
            const std::string& name) {
  for (const auto entry : holders) complain("release", text_of(info, entry) + " holds " + name);
  std::fprintf(stderr, "End %s? [y/N] ", holders.size() == 1 ? "this hold" : "these holds");
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

int end_holds(const release_request& wanted) {
  const error_handle error(mortise_error_new());
  const auto client = connect(wanted.url, error.get());
  named_lock lock(client.get(), wanted.name, error.get());
  const auto* const info = lock.info();
  const auto name = printable_of(wanted.name);
  const auto holders = holders_in(info, wanted);
  if (holders.empty()) {
    const bool is_free = mortise_info_is_held(info) == 0;
    complain("release", is_free ? name + " is free" : "no such holder has " + name);
    return exit_not_acquired;
  }
  if (!wanted.is_agreed && !agrees(info, holders, name)) return exit_not_acquired;
  bool is_ended = false;
  for (const auto entry : holders) {
    const bool was_held = lock.force_release(entry, error.get());
    complain("release", (was_held ? "ended the hold of " : "it was over by itself: ") +
                            text_of(info, entry) + " of " + name);
    is_ended = is_ended || was_held;
  }
  const auto unseen = mortise_info_holder_count(info) - mortise_info_shown_holder_count(info);
  if (unseen > 0) {
    complain("release", std::to_string(unseen) + " more hold " + name + "; call it again for them");
  }
  return is_ended ? exit_ok : exit_not_acquired;
}

}  // namespace

int release_lock(int argc, const char* const* argv) {
  CLI::App app;
  release_request wanted;
  app.add_option("NAME", wanted.name);
  app.add_flag("--force", wanted.is_forced);
  app.add_flag("--yes", wanted.is_agreed);
  app.add_option("--host", wanted.host);
  app.add_option("--pid", wanted.pid);
  app.add_option("--url", wanted.url);
  if (!read_arguments(app, "release", release_help, argc, argv)) return exit_ok;
  if (app.count("NAME") == 0) {
    throw failure(exit_usage, "there is no NAME; see mortise release --help");
  }
  if (!wanted.is_forced) {
    throw failure(exit_usage, "this process holds nothing; give --force to end another's hold");
  }
  const bool has_terminal = ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
  if (!wanted.is_agreed && !has_terminal) {
    throw failure(exit_usage, "there is no terminal to ask at; give --yes");
  }
  return end_holds(wanted);
}

}  // namespace mortise::cli
