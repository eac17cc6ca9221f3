// Shell completions of the command. They send no requests to servers, so names of locks are not
// completed.
#pragma once

#include <string>
#include <vector>

#include "cli/manual/command.hpp"

namespace mortise::cli::manual {

std::string bash_completion_of(const std::vector<command>& all);
std::string zsh_completion_of(const std::vector<command>& all);

}  // namespace mortise::cli::manual
