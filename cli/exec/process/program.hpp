// The start of a program.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mortise::cli::exec {

// Names and values. A variable without a value is omitted.
using variables = std::vector<std::pair<std::string, std::optional<std::string>>>;

// Starts a program with this signal mask and the present environment, changed by these
// variables. It inherits all descriptors that are not close-on-exec. Throws a failure: 127 if the
// program is not found, 126 if it cannot be executed.
pid_t start_program(const std::vector<std::string>& command, const variables& more,
                    const sigset_t& mask);

}  // namespace mortise::cli::exec
