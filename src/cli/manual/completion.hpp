// What completes the command in a shell. Nobody asks a server for that: names of locks are not
// completed.
#pragma once

#include <string>
#include <vector>

#include "cli/manual/command.hpp"

namespace mortise::cli::manual {

std::string bash_completion_of(const std::vector<command>& all);
std::string zsh_completion_of(const std::vector<command>& all);

}  // namespace mortise::cli::manual
