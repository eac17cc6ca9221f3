// Clocks of this process that jump. The test program defines clock_gettime and its like itself, so
// that every clock the library reads goes through here; the kernel's own clocks and timers do not
// jump with them. Use it in a child process: there is no way back to the right time. Preloaded into
// a server it is what `settable_clock` works by.
#pragma once

#include <ctime>

#include "base/time.hpp"

namespace mortise::testing {

// Adds to what the clock says from now on.
void shift_clock(clockid_t clock, time_ns by_ns);

}  // namespace mortise::testing
