#include "clock_shim.hpp"

#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <atomic>

namespace {

constexpr int clock_count = 16;
std::array<std::atomic<mortise::time_ns>, clock_count> shifts{};

timespec shifted(clockid_t clock, const timespec& real) {
  const auto shift = clock >= 0 && clock < clock_count
                         ? shifts[static_cast<std::size_t>(clock)].load(std::memory_order_relaxed)
                         : 0;
  const auto now = real.tv_sec * mortise::ns_per_s + real.tv_nsec + shift;
  return {now / mortise::ns_per_s, now % mortise::ns_per_s};
}

}  // namespace

// These take the place of the C library's for the whole program.
extern "C" {

int clock_gettime(clockid_t clock, timespec* now) noexcept {
  const auto result = syscall(SYS_clock_gettime, clock, now);
  if (result == 0) *now = shifted(clock, *now);
  return static_cast<int>(result);
}

int gettimeofday(timeval* __restrict now, void* __restrict) noexcept {
  timespec precise{};
  clock_gettime(CLOCK_REALTIME, &precise);
  *now = {precise.tv_sec, precise.tv_nsec / 1000};
  return 0;
}

time_t time(time_t* into) noexcept {
  timespec precise{};
  clock_gettime(CLOCK_REALTIME, &precise);
  if (into != nullptr) *into = precise.tv_sec;
  return precise.tv_sec;
}

}  // extern "C"

namespace mortise::testing {

void shift_clock(clockid_t clock, time_ns by_ns) {
  shifts.at(static_cast<std::size_t>(clock)).fetch_add(by_ns);
}

}  // namespace mortise::testing
