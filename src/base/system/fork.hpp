// The identity of this process across fork(). A child must never use its parent's connections
// (hazard 21).
#pragma once

#include <cstdint>

namespace mortise {

// A random number for this process; a forked child has a different one. Cheap: one load.
std::uint64_t process_mark() noexcept;

}  // namespace mortise
