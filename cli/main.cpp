// The command `mortise`. Its first argument is the subcommand.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "cli/arguments.hpp"
#include "cli/exit_code.hpp"
#include "cli/failure.hpp"
#include "cli/subcommands.hpp"

namespace mortise::cli {
namespace {

// Otherwise a connection to a server gets the number of a closed descriptor, and with it the texts
// of this program. The replacement refuses the use, as a closed descriptor does.
void replace_closed_descriptors() {
  for (const int one : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(one, F_GETFD) >= 0) continue;
    static_cast<void>(::open("/dev/null", one == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  }
}

int run(int argc, const char* const* argv) {
  std::string_view name = argc > 1 ? argv[1] : "";
  if (name == "--version") name = "version";
  for (const auto& one : subcommands()) {
    if (one.name == name) return run_subcommand(one.name.data(), one.run, argc - 1, argv + 1);
  }
  if (name == "--help" || name == "-h" || name == "help") {
    std::fputs(main_help().c_str(), stdout);
    return exit_ok;
  }
  const auto text = name.empty() ? std::string("the command is missing")
                                 : "unknown command \"" + std::string(name) + "\"";
  complain("", without_passwords(text, argc, argv) + "; see mortise --help");
  return exit_usage;
}

}  // namespace
}  // namespace mortise::cli

int main(int argc, char** argv) {
  mortise::cli::replace_closed_descriptors();
  const int code = mortise::cli::run(argc, argv);
  // An output error is a failure: the disk may be full, or stdout closed.
  const bool is_written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (is_written) return code;
  mortise::cli::complain("", std::string("cannot write standard output: ") + std::strerror(errno));
  return code == mortise::cli::exit_ok ? mortise::cli::exit_input_output : code;
}
