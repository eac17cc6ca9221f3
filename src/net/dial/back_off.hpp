// When to retry after a failure: after a random part of a window that doubles with each failure. So
// the clients of a restarted server do not come all at once. In the first minute of a fault the
// window stays short: a failover is over by then, and callers wait for its end. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/time.hpp"

namespace mortise::net {

class back_off {
 public:
  // The connection works from now on.
  void begin(time_ns now) noexcept { well_since_ = now; }
  // The connection has ended. If the server itself refuses again and again, each time a little
  // later, that is one fault. So are connections of which each ends right after the handshake.
  void end(bool is_refusal, time_ns now) noexcept {
    const bool is_short = now - well_since_ < longest_ns;
    const bool is_repeated = std::exchange(was_short_, is_short) && is_short;
    if (is_repeated || (is_refusal && is_short)) return;
    failures_ = 0;
    failing_since_ = now;
  }
  // When to retry after another failure. `chance` is any number.
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

  int failures_ = 0;  // since it last worked
  time_ns failing_since_ = 0;
  time_ns well_since_ = 0;
  bool was_short_ = false;  // the last connection
};

}  // namespace mortise::net
