#include "base/time.hpp"

#include <ctime>

namespace mortise {

time_ns boot_now() noexcept {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<time_ns>(now.tv_sec) * ns_per_s + now.tv_nsec;
}

}  // namespace mortise
