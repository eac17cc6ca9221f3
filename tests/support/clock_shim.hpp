// Clocks of this process that jump. The test program defines clock_gettime and its like itself, so
// each clock of the library is read through this file. The kernel's own clocks and timers do not
// jump with them. Use it in a child process, because there is no way back to the right time.
// Preloaded into a server it implements `settable_clock`.
#pragma once

#include <ctime>

#include "base/time.hpp"

namespace mortise::testing {

// Adds to the clock from now on.
void shift_clock(clockid_t clock, time_ns by_ns);

}  // namespace mortise::testing
