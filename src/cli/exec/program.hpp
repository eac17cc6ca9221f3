// Starting a program.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

namespace mortise::cli::exec {

using variables = std::vector<std::pair<std::string, std::string>>;

// Starts a program with these variables beside our own and this mask of signals. It has all
// descriptors but those that close on exec. Throws a failure: 127 if there is none of that name,
// 126 if it cannot be executed.
pid_t start_program(const std::vector<std::string>& command, const variables& more,
                    const sigset_t& mask);

}  // namespace mortise::cli::exec
