// What bounds the passes of a lock from one holder to the next within a client: how many in a row
// while others wait, and how many fencing tokens may be drawn for them. Whoever takes up a claim
// that was retained is passed it, too.
#pragma once

#include <algorithm>
#include <cstdint>

#include "lock/lease.hpp"

namespace mortise::lock {

class passes {
 public:
  // A grant: the first holder of a claim has it from the servers.
  void begin_claim(time_ns now) noexcept {
    begin(now);
    is_first_holder_ = true;
  }
  // From a grant on, or since others are known to wait.
  void begin(time_ns now) noexcept {
    count_ = 0;
    began_ = now;
  }
  // A claim that is retained may be passed on without an end, and only the first passes count.
  void note_pass() noexcept {
    count_ = std::min(count_ + 1, batch_passes);
    is_first_holder_ = false;
  }
  [[nodiscard]] bool is_first_holder() const noexcept { return is_first_holder_; }
  // So long is a round trip to the server now.
  void note_trip(time_ns trip_ns) noexcept {
    batch_ns_ = std::clamp(batch_trips * trip_ns, batch_least_ns, batch_most_ns);
  }
  // Whether it is the others' turn.
  [[nodiscard]] bool is_over(time_ns now) const noexcept {
    return count_ >= batch_passes || now - began_ >= batch_ns_;
  }

  // How many tokens to draw with one renewal: as many as there is credit for and as can be used.
  // And no more than have had time since the last were drawn, because the counter must not outrun
  // the server's clock, which counts in microseconds (hazard 30): taking up what was retained
  // asks nobody.
  [[nodiscard]] std::int64_t tokens_to_draw(bool others_wait, time_ns now) const noexcept {
    const auto usable =
        others_wait ? std::max<std::int64_t>(batch_passes - count_, 1) : reserve_tokens;
    return std::clamp<std::int64_t>(std::min(credit_ / 2, (now - drawn_at_) / token_ns), 1, usable);
  }
  void note_drawn(std::int64_t tokens, time_ns now) noexcept {
    credit_ = std::max<std::int64_t>(credit_ - 2 * tokens, 0);
    drawn_at_ = now;
  }
  // Three tokens may be drawn for two that were handed out, so that who passes on without an end
  // soon draws many at once, and few are left over where the passes end.
  void note_handed_out() noexcept { credit_ = std::min(credit_ + 3, 2 * reserve_tokens); }

 private:
  int count_ = 0;
  bool is_first_holder_ = true;
  time_ns began_ = 0;
  time_ns drawn_at_ = 0;
  time_ns batch_ns_ = batch_least_ns;
  std::int64_t credit_ = 0;  // how many fencing tokens may be drawn ahead, in halves
};

}  // namespace mortise::lock
