/** Times: how long a call may wait, leases, and the clock that deadlines are told by. */
#ifndef MORTISE_TIMEOUT_HPP
#define MORTISE_TIMEOUT_HPP

#include <time.h>

#include <chrono>
#include <cstdint>

#include "status.hpp"
#if MORTISE_HAS_STOP_TOKEN
#include <stop_token>
#endif

namespace mortise {
inline namespace MORTISE_CXX_NAMESPACE {

namespace detail {

/** Milliseconds, rounded up; nothing for what is negative or no number, `otherwise` beyond a year.
 */
template <class Count, class Period>
std::int64_t to_ms(std::chrono::duration<Count, Period> given, std::int64_t otherwise) {
  // As a double first, because the milliseconds of the longest durations are no int64_t.
  const double about_ms = std::chrono::duration<double, std::milli>(given).count();
  if (!(about_ms > 0)) return 0;
  if (about_ms > static_cast<double>(MORTISE_MAX_MS)) return otherwise;
  using milliseconds = std::chrono::duration<std::int64_t, std::milli>;
  return std::chrono::ceil<milliseconds>(given).count();
}

/** The milliseconds of a lease, which C refuses when it is too long or negative. */
template <class Count, class Period>
std::int64_t to_lease_ms(std::chrono::duration<Count, Period> given) {
  if (!(given.count() >= 0)) return -1;
  return to_ms(given, MORTISE_MAX_MS + 1);
}

}  // namespace detail

/**
 * The clock of deadlines, CLOCK_BOOTTIME: steady, and it goes on while the machine is suspended, as
 * leases do.
 * @since 1.2
 */
struct boot_clock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<boot_clock>;
  static constexpr bool is_steady = true;

  static time_point now() noexcept {
    timespec time{};
    clock_gettime(CLOCK_BOOTTIME, &time);
    return time_point(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
  }
};

/**
 * How long a call may wait: a duration, which is rounded up to a millisecond, or until a moment of
 * any clock; and, from C++20 on, what may end the wait before. What is negative or past is 0; what
 * is longer than MORTISE_MAX_MS is forever.
 * @since 1.2
 */
class timeout {
 public:
  /** Without end, but for cancel, interrupt and the end of the handle. @since 1.2 */
  constexpr timeout() noexcept : ms_(MORTISE_FOREVER) {}
  /** For so long. @since 1.2 */
  template <class Count, class Period>
  timeout(std::chrono::duration<Count, Period> given)
      : ms_(detail::to_ms(given, MORTISE_FOREVER)) {}
  /** Until this moment, which is compared with its clock now. @since 1.2 */
  template <class Clock, class Duration>
  timeout(std::chrono::time_point<Clock, Duration> moment) : ms_(0) {
    const auto now = Clock::now();
    if (moment > now) ms_ = detail::to_ms(moment - now, MORTISE_FOREVER);
  }
#if MORTISE_HAS_STOP_TOKEN
  /**
   * Until a stop is requested, which ends the wait with status::cancelled, also when it was
   * requested before. A grant may win the race with it, and is given then. While it is stopped, the
   * handle is interrupted as by `mortise_lock_interrupt`.
   * @since 1.2
   */
  timeout(std::stop_token stop) noexcept : ms_(MORTISE_FOREVER), stop_(std::move(stop)) {}
  /** For so long, or until a stop is requested. @since 1.2 */
  timeout(const timeout &given, std::stop_token stop) noexcept
      : ms_(given.ms_), stop_(std::move(stop)) {}
  /** What may end the wait. @since 1.2 */
  const std::stop_token &stop() const noexcept { return stop_; }
#endif
  /** As C takes it: milliseconds, or MORTISE_FOREVER. @since 1.2 */
  std::int64_t ms() const noexcept { return ms_; }

 private:
  std::int64_t ms_;
#if MORTISE_HAS_STOP_TOKEN
  std::stop_token stop_;
#endif
};

/** A timeout that never ends. @since 1.2 */
inline const timeout forever{};

}  // namespace MORTISE_CXX_NAMESPACE
}  // namespace mortise

#endif  // MORTISE_TIMEOUT_HPP
