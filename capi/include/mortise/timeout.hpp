/** Timeouts, leases, and the clock of deadlines. */
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

/**
 * Milliseconds, rounded up. 0 for a negative value or no number, `otherwise` beyond MORTISE_MAX_MS.
 */
template <class Count, class Period>
std::int64_t to_ms(std::chrono::duration<Count, Period> given, std::int64_t otherwise) {
  // As a double first, because the longest durations exceed int64_t in milliseconds.
  const double about_ms = std::chrono::duration<double, std::milli>(given).count();
  if (!(about_ms > 0)) return 0;
  if (about_ms > static_cast<double>(MORTISE_MAX_MS)) return otherwise;
  using milliseconds = std::chrono::duration<std::int64_t, std::milli>;
  return std::chrono::ceil<milliseconds>(given).count();
}

/** The milliseconds of a lease. C rejects a lease that is too long or negative. */
template <class Count, class Period>
std::int64_t to_lease_ms(std::chrono::duration<Count, Period> given) {
  if (!(given.count() >= 0)) return -1;
  return to_ms(given, MORTISE_MAX_MS + 1);
}

}  // namespace detail

/**
 * The clock of deadlines, CLOCK_BOOTTIME. It is steady, and like leases it runs while the machine
 * is suspended.
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
 * How long a call may wait: a duration, rounded up to a millisecond, or until a moment of any
 * clock. From C++20 on, a stop token can end the wait earlier. A negative duration or a past moment
 * is 0. A duration above MORTISE_MAX_MS is forever.
 */
class timeout {
 public:
  /** No end. Only cancel, interrupt and the destruction of the handle end the wait. */
  constexpr timeout() noexcept : ms_(MORTISE_FOREVER) {}
  /** For this duration. */
  template <class Count, class Period>
  timeout(std::chrono::duration<Count, Period> given)
      : ms_(detail::to_ms(given, MORTISE_FOREVER)) {}
  /** Until this moment, compared with its clock now. */
  template <class Clock, class Duration>
  timeout(std::chrono::time_point<Clock, Duration> moment) : ms_(0) {
    const auto now = Clock::now();
    if (moment > now) ms_ = detail::to_ms(moment - now, MORTISE_FOREVER);
  }
#if MORTISE_HAS_STOP_TOKEN
  /**
   * Until a stop is requested, which ends the wait with status::cancelled, even if it was requested
   * before. If a grant arrives first, it is returned. While the stop is requested, the handle is
   * interrupted as by `mortise_lock_interrupt`.
   */
  timeout(std::stop_token stop) noexcept : ms_(MORTISE_FOREVER), stop_(std::move(stop)) {}
  /** For this duration, or until a stop is requested. */
  timeout(const timeout &given, std::stop_token stop) noexcept
      : ms_(given.ms_), stop_(std::move(stop)) {}
  /** The token that can end the wait. */
  const std::stop_token &stop() const noexcept { return stop_; }
#endif
  /** The value for C: milliseconds, or MORTISE_FOREVER. */
  std::int64_t ms() const noexcept { return ms_; }

 private:
  std::int64_t ms_;
#if MORTISE_HAS_STOP_TOKEN
  std::stop_token stop_;
#endif
};

/** A timeout without end. */
inline const timeout forever{};

}  // namespace MORTISE_CXX_NAMESPACE
}  // namespace mortise

#endif  // MORTISE_TIMEOUT_HPP
