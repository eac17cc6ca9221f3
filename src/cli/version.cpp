#include "cli/version.hpp"

#include <mortise/mortise.h>

#include <cstdio>

#include "cli/exit_code.hpp"

namespace mortise::cli {

int print_version(int /*argc*/, const char* const* /*argv*/) {
  std::printf("mortise %s\n", mortise_version_text());
  return exit_ok;
}

}  // namespace mortise::cli
