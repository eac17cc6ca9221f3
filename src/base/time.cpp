#include "base/time.hpp"

#include <ctime>

namespace mortise {

time_ns boot_now() noexcept {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<time_ns>(now.tv_sec) * ns_per_s + now.tv_nsec;
}

std::int64_t wall_now_us() noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000 + now.tv_nsec / ns_per_us;
}

}  // namespace mortise
