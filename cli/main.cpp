// The command `mortise`. Its first argument is the subcommand.
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
  complain("", text + "; see mortise --help");
  return exit_usage;
}

}  // namespace
}  // namespace mortise::cli

int main(int argc, char** argv) {
  const int code = mortise::cli::run(argc, argv);
  // An output error is a failure: the disk may be full, or stdout closed.
  const bool is_written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (is_written) return code;
  mortise::cli::complain("", std::string("cannot write standard output: ") + std::strerror(errno));
  return code == mortise::cli::exit_ok ? mortise::cli::exit_input_output : code;
}
