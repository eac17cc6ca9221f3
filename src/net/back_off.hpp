// When to try again what failed: after a random part of a window that doubles with each failure, so
// that the clients of a server that comes back do not come all at once. In the first minute of a
// fault the window stays short: a failover is over by then, and callers wait for its end. Pure.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.hpp"

namespace mortise::net {

class back_off {
 public:
  // From now on it is well.
  void begin(time_ns now) noexcept { well_since_ = now; }
  // It is not well any more. Where the server itself says so again and again, a little later each
  // time, that is one fault and not many.
  void end(bool is_turned_away, time_ns now) noexcept {
    if (is_turned_away && now - well_since_ < longest_ns) return;
    failures_ = 0;
    failing_since_ = now;
  }
  // When to try again after one more failure; `chance` is any number.
  time_ns next(bool is_awaited, std::uint64_t chance, time_ns now) noexcept {
    if (failures_ == 0) failing_since_ = now;
    const bool is_young = now - failing_since_ < young_ns;
    const auto window = std::min(shortest_ns << std::min(failures_, doublings),
                                 is_awaited || is_young ? longest_while_awaited_ns : longest_ns);
    ++failures_;
    return now + static_cast<time_ns>(chance % static_cast<std::uint64_t>(window));
  }
  [[nodiscard]] int failures() const noexcept { return failures_; }

 private:
  static constexpr time_ns shortest_ns = 10 * ns_per_ms;
  static constexpr time_ns longest_while_awaited_ns = 80 * ns_per_ms;
  static constexpr time_ns longest_ns = ns_per_s;
  static constexpr time_ns young_ns = 60 * ns_per_s;
  static constexpr int doublings = 7;

  int failures_ = 0;  // since it was well
  time_ns failing_since_ = 0;
  time_ns well_since_ = 0;
};

}  // namespace mortise::net
