// What is left of --at-least when the command is done.
#pragma once

#include <cstdint>

#include "cli/exec/locks.hpp"

namespace mortise::cli::exec {

// Detaches this process from the caller of `mortise exec`, waits until then (CLOCK_BOOTTIME) and
// releases the locks. A signal that asks the process to end stops the wait: the locks are not
// released then, and end with their lease. All signals are blocked already. Throws a failure.
void release_in_background(locks& held, int64_t at_ns);

}  // namespace mortise::cli::exec
