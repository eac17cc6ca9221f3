// A subcommand from its user's view: the input of the manual.
#pragma once

#include <string>
#include <vector>

#include "cli/manual/help.hpp"
#include "cli/subcommands.hpp"

namespace mortise::cli::manual {

struct command {
  std::string name;  // "" for `mortise` itself
  std::string what;  // a short description
  help text;

  std::string page_name() const { return name.empty() ? "mortise" : "mortise-" + name; }
  bool takes_command() const;  // after --
};

// Describes a subcommand. Throws a std::runtime_error if its --help does not list exactly its
// options.
command describe(const subcommand& one);

// `mortise` itself, then its subcommands.
std::vector<command> commands();

}  // namespace mortise::cli::manual
