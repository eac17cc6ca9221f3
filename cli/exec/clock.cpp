#include "cli/exec/clock.hpp"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "cli/exit_code.hpp"
#include "cli/failure.hpp"

namespace mortise::cli::exec {
namespace {

constexpr int64_t ns_per_s = 1'000'000'000;

int64_t now_of(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return now.tv_sec * ns_per_s + now.tv_nsec;
}

}  // namespace

int64_t now_ns() { return now_of(CLOCK_BOOTTIME); }

int64_t calendar_now_ms() { return now_of(CLOCK_REALTIME) / ns_per_ms; }

timer::timer() : descriptor_(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK)) {
  if (descriptor_ < 0) {
    throw failure(exit_system, std::string("cannot create a timer: ") + std::strerror(errno));
  }
}

timer::~timer() { ::close(descriptor_); }

void timer::set(int64_t at_ns) {
  // 0 would disarm the timer.
  const int64_t time_ns = std::max<int64_t>(at_ns, 1);
  const itimerspec at{{0, 0}, {time_ns / ns_per_s, time_ns % ns_per_s}};
  ::timerfd_settime(descriptor_, TFD_TIMER_ABSTIME, &at, nullptr);
}

void timer::clear() {
  const itimerspec never{};
  ::timerfd_settime(descriptor_, TFD_TIMER_ABSTIME, &never, nullptr);
}

}  // namespace mortise::cli::exec
