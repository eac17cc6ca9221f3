// The subcommands of `mortise`. The first argument selects one.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace mortise::cli {

struct subcommand {
  std::string_view name;
  const char* what;
  int (*run)(int argc, const char* const* argv);
};

std::span<const subcommand> subcommands();

// The text of `mortise --help`.
std::string main_help();

}  // namespace mortise::cli
