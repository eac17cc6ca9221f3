// The command `mortise`: its first word says what it does.
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "cli/arguments.hpp"
#include "cli/doctor.hpp"
#include "cli/exec/run.hpp"
#include "cli/exit_code.hpp"
#include "cli/failure.hpp"
#include "cli/list.hpp"
#include "cli/show.hpp"
#include "cli/version.hpp"

namespace mortise::cli {
namespace {

struct subcommand {
  std::string_view name;
  const char* what;
  int (*run)(int argc, const char* const* argv);
};

constexpr std::array<subcommand, 5> subcommands = {{
    {"exec", "run a command while a lock is held", exec::run},
    {"list", "who holds which lock, and how many wait", list_locks},
    {"show", "who holds one lock, and who waits, in order", show_lock},
    {"doctor", "whether the servers are safe for locks", examine},
    {"version", "which version this is", print_version},
}};

void print_help() {
  std::puts("Distributed locks on the command line.\n\n  mortise exec nightly -- backup --all\n");
  for (const auto& one : subcommands) {
    std::printf("  mortise %-8s %s\n", one.name.data(), one.what);
  }
  std::puts("\nEach has its own --help. The server is that of --url or of MORTISE_URL.");
}

int run(int argc, const char* const* argv) {
  const std::string_view wanted = argc > 1 ? argv[1] : "";
  for (const auto& one : subcommands) {
    if (one.name == wanted) return run_subcommand(one.name.data(), one.run, argc - 1, argv + 1);
  }
  if (wanted == "--version") return print_version(argc - 1, argv + 1);
  if (wanted == "--help" || wanted == "-h" || wanted == "help") {
    print_help();
    return exit_ok;
  }
  const auto text = wanted.empty() ? std::string("there is no command")
                                   : "there is no command \"" + std::string(wanted) + "\"";
  complain("", text + "; see mortise --help");
  return exit_usage;
}

}  // namespace
}  // namespace mortise::cli

int main(int argc, char** argv) {
  const int code = mortise::cli::run(argc, argv);
  // What could not be written is no success: the disk may be full, or the pipe closed.
  const bool is_written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (is_written || errno == EBADF) return code;
  mortise::cli::complain("", std::string("writing failed: ") + std::strerror(errno));
  return code == mortise::cli::exit_ok ? mortise::cli::exit_input_output : code;
}
