#include "cli/subcommands.hpp"

#include <array>

#include "cli/commands/acquire.hpp"
#include "cli/commands/bench.hpp"
#include "cli/commands/doctor.hpp"
#include "cli/commands/list.hpp"
#include "cli/commands/release.hpp"
#include "cli/commands/show.hpp"
#include "cli/commands/top.hpp"
#include "cli/commands/version.hpp"
#include "cli/commands/why.hpp"
#include "cli/exec/run.hpp"

namespace mortise::cli {

std::span<const subcommand> subcommands() {
  static constexpr std::array<subcommand, 11> all = {{
      {"exec", "run a command while a lock is held", exec::run},
      {"acquire", "acquire a lock for several commands", acquire_lock},
      {"renew", "renew a hold of mortise acquire", renew_hold},
      {"list", "list the holder and the number of waiters of each lock", list_locks},
      {"show", "show the holders and the waiters of a lock, in order", show_lock},
      {"why", "show when a lock was held, and which waits were behind", show_history},
      {"top", "watch the locks with the most waiters", watch_locks},
      {"release", "release a hold of mortise acquire, or a lock by force", release_lock},
      {"doctor", "check whether the servers are safe for locks", check_health},
      {"bench", "measure the latency of locks", bench_locks},
      {"version", "print the version", print_version},
  }};
  return all;
}

std::string main_help() {
  constexpr size_t name_width = 8;
  std::string text =
      "Distributed locks on the command line.\n\n  mortise exec nightly -- backup --all\n\n";
  for (const auto& one : subcommands()) {
    std::string name(one.name);
    name.resize(name_width, ' ');
    text += "  mortise " + name + " " + one.what + "\n";
  }
  return text +
         "\nEach command has its own --help. The servers are those of --url (default: "
         "$MORTISE_URL).\n";
}

}  // namespace mortise::cli
