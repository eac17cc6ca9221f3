// A subcommand as its users see it: what the manual tells of it.
#pragma once

#include <string>
#include <vector>

#include "cli/manual/help.hpp"
#include "cli/subcommands.hpp"

namespace mortise::cli::manual {

struct command {
  std::string name;  // "" for `mortise` itself
  std::string what;  // in a few words
  help text;

  std::string page_name() const { return name.empty() ? "mortise" : "mortise-" + name; }
  bool takes_command() const;  // after --
};

// What a subcommand says of itself. Throws a std::runtime_error if its --help does not name the
// options that there are, no more and no less.
command describe(const subcommand& one);

// `mortise` itself and then its subcommands.
std::vector<command> commands();

}  // namespace mortise::cli::manual
