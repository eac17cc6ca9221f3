// Which process this is, across fork(). A child must never use what its parent opened (hazard 21).
#pragma once

#include <cstdint>

namespace mortise {

// A random number that names this process; a forked child has another. Cheap: one load.
std::uint64_t process_mark() noexcept;

}  // namespace mortise
