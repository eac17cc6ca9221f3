// The rest of --at-least after the end of the command.
#pragma once

#include <cstdint>

#include "cli/exec/locks.hpp"

namespace mortise::cli::exec {

// Detaches this process from the caller of `mortise exec`, waits until this time (CLOCK_BOOTTIME)
// and releases the locks. A termination signal stops the wait. The locks then end with their lease,
// without a release. All signals are blocked already. Throws a failure.
void release_in_background(locks& held, int64_t at_ns);

}  // namespace mortise::cli::exec
