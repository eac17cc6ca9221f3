#include "lock/gate/contention.hpp"

#include <algorithm>
#include <cmath>

namespace mortise::lock {

namespace {

// In round trips, for each other client that is expected to wait.
constexpr std::int64_t first_trips = 2;
constexpr std::int64_t turn_trips = 8;
constexpr std::int64_t split_trips = 4;
constexpr int most_doublings = 6;
constexpr time_ns least_trip_ns = 300 * ns_per_us;
constexpr time_ns longest_window_ns = 1'800 * ns_per_ms;
constexpr time_ns longest_pause_ns = 100 * ns_per_ms;

}  // namespace

contention contention::next() const noexcept {
  contention result;
  result.expected_turns_ = turns_;
  result.trip_ns_ = trip_ns_;
  return result;
}

// With a power above 1 the chance of the oldest waiter grows faster than its age, so no wait is
// much longer than others. With a power of 2, two old waiters split the votes again and again.
time_ns contention::window(std::int64_t trips, std::int64_t others) const noexcept {
  const auto age = static_cast<double>(1 + turns_);
  const auto whole = static_cast<double>(trips * others) * static_cast<double>(trip_ns_);
  return static_cast<time_ns>(
      std::min(whole / (age * std::sqrt(age)), static_cast<double>(longest_window_ns)));
}

time_ns contention::first_window() const noexcept {
  return window(first_trips, std::max<std::int64_t>(expected_turns_ - 1, 0));
}

time_ns contention::turn_window() const noexcept {
  return window(turn_trips, std::max<std::int64_t>(std::max(expected_turns_, turns_) - 1, 0));
}

time_ns contention::split_window() noexcept {
  const auto trip_ns = std::max(trip_ns_, least_trip_ns);
  const auto others = std::max<std::int64_t>({expected_turns_, turns_, 1});
  const auto window_ns = std::max(window(split_trips, others), trip_ns) << splits_;
  splits_ = std::min(splits_ + 1, most_doublings);
  return std::min(window_ns, longest_window_ns);
}

time_ns contention::split_pause() const noexcept {
  return std::min(std::max(trip_ns_, least_trip_ns) / 2, longest_pause_ns);
}

}  // namespace mortise::lock
