// What `mortise` can do: its first word says which.
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

// What `mortise --help` says.
std::string main_help();

}  // namespace mortise::cli
