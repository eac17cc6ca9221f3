#include "base/time.hpp"

#include <ctime>

namespace mortise {

time_ns boot_now() noexcept {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<time_ns>(now.tv_sec) * ns_per_s + now.tv_nsec;
}

static time_ns wall_now() noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<time_ns>(now.tv_sec) * ns_per_s + now.tv_nsec;
}

std::int64_t wall_now_us() noexcept { return wall_now() / ns_per_us; }

// Reads the clocks one after the other, and again if the thread lost its core in between.
std::int64_t wall_us_at(time_ns when) noexcept {
  constexpr int most_readings = 10;
  constexpr time_ns quick_ns = ns_per_us;
  time_ns shortest_ns = time_never;
  time_ns offset_ns = 0;
  for (int i = 0; i < most_readings && shortest_ns > quick_ns; ++i) {
    const time_ns before = boot_now();
    const time_ns wall = wall_now();
    const time_ns lasted_ns = boot_now() - before;
    if (lasted_ns >= shortest_ns) continue;
    shortest_ns = lasted_ns;
    offset_ns = wall - (before + lasted_ns / 2);
  }
  return (when + offset_ns) / ns_per_us;
}

}  // namespace mortise
