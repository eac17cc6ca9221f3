#include "cli/subcommands.hpp"

#include <array>

#include "cli/bench.hpp"
#include "cli/doctor.hpp"
#include "cli/exec/run.hpp"
#include "cli/list.hpp"
#include "cli/release.hpp"
#include "cli/show.hpp"
#include "cli/top.hpp"
#include "cli/version.hpp"

namespace mortise::cli {

std::span<const subcommand> subcommands() {
  static constexpr std::array<subcommand, 8> all = {{
      {"exec", "run a command while a lock is held", exec::run},
      {"list", "who holds which lock, and how many wait", list_locks},
      {"show", "who holds one lock, and who waits, in order", show_lock},
      {"top", "the locks that are waited for most, as they change", watch_locks},
      {"release", "end somebody else's hold by force", release_lock},
      {"doctor", "whether the servers are safe for locks", check_health},
      {"bench", "how fast locks are on your servers", bench_locks},
      {"version", "which version this is", print_version},
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
  return text + "\nEach has its own --help. The server is that of --url or of MORTISE_URL.\n";
}

}  // namespace mortise::cli
