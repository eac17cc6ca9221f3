// What bounds the passes of a lock from one holder to the next within a client: how many in a row
// while others wait, and how many fencing tokens may be drawn for them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "lock/lease.hpp"

namespace mortise::lock {

class passes {
 public:
  // From a grant on, or since others are known to wait.
  void begin(time_ns now) noexcept {
    count_ = 0;
    began_ = now;
  }
  void note_pass() noexcept { ++count_; }
  [[nodiscard]] bool is_first_holder() const noexcept { return count_ == 0; }
  // So long is a round trip to the server now.
  void note_trip(time_ns trip_ns) noexcept {
    batch_ns_ = std::clamp(batch_trips * trip_ns, batch_least_ns, batch_most_ns);
  }
  // Whether it is the others' turn.
  [[nodiscard]] bool is_over(time_ns now) const noexcept {
    return count_ >= batch_passes || now - began_ >= batch_ns_;
  }

  // How many tokens to draw with one renewal: as many as there is credit for and as can be used.
  [[nodiscard]] std::int64_t tokens_to_draw(bool others_wait) const noexcept {
    const auto usable = others_wait ? std::int64_t{batch_passes} - count_ : reserve_tokens;
    return std::clamp<std::int64_t>(credit_ / 2, 1, usable);
  }
  void note_drawn(std::int64_t tokens) noexcept {
    credit_ = std::max<std::int64_t>(credit_ - 2 * tokens, 0);
  }
  // Three tokens may be drawn for two that were handed out, so that load alone never makes the
  // counter outrun the server's clock (hazard 30), and who passes on without an end soon draws many
  // at once.
  void note_handed_out() noexcept { credit_ = std::min(credit_ + 3, 2 * reserve_tokens); }

 private:
  int count_ = 0;
  time_ns began_ = 0;
  time_ns batch_ns_ = batch_least_ns;
  std::int64_t credit_ = 0;  // how many fencing tokens may be drawn ahead, in halves
};

}  // namespace mortise::lock
