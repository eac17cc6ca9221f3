#include "cli/commands/version.hpp"

#include <mortise/mortise.h>

#include <cstdio>

#include "cli/arguments.hpp"
#include "cli/exit_code.hpp"

namespace mortise::cli {
namespace {

const char* const version_help = R"HELP(Prints the version.

  mortise version

Usage: mortise version [OPTION...]

      --json  print JSON
  -h, --help  print this help
)HELP";

}  // namespace

int print_version(int argc, const char* const* argv) {
  CLI::App app;
  bool is_json = false;
  app.add_flag("--json", is_json);
  if (!read_arguments(app, "version", version_help, argc, argv)) return exit_ok;
  std::printf(is_json ? "{\"version\":\"%s\"}\n" : "mortise %s\n", mortise_version_text());
  return exit_ok;
}

}  // namespace mortise::cli
