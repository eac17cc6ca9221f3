// The limits of passes from one holder to the next within a client: how many in a row while others
// wait, and how many fencing tokens may be drawn for them. The take-up of a retained claim is also
// a pass.
#pragma once

#include <algorithm>
#include <cstdint>

#include "lock/lease.hpp"

namespace mortise::lock {

class passes {
 public:
  // A grant. The first holder of a claim gets it from the servers.
  void begin_claim(time_ns now) noexcept {
    begin(now);
    is_first_holder_ = true;
  }
  // Starts at a grant, or when other clients are known to wait.
  void begin(time_ns now) noexcept {
    count_ = 0;
    began_ = now;
  }
  // The count has an upper limit, because a retained claim may be passed on without end.
  void note_pass() noexcept {
    count_ = std::min(count_ + 1, batch_passes);
    is_first_holder_ = false;
  }
  [[nodiscard]] bool is_first_holder() const noexcept { return is_first_holder_; }
  // Records the present round trip to the server.
  void note_trip(time_ns trip_ns) noexcept {
    batch_ns_ = std::clamp(batch_trips * trip_ns, batch_least_ns, batch_most_ns);
  }
  // Whether it is the turn of other clients.
  [[nodiscard]] bool is_over(time_ns now) const noexcept {
    return count_ >= batch_passes || now - began_ >= batch_ns_;
  }

  // How many tokens to draw with one renewal: at most the credit, and at most the usable number.
  // The time since the last draw is also a limit, because the counter must not outrun the server's
  // clock in microseconds (hazard 30). The take-up of a retained claim needs no request that would
  // limit the rate.
  [[nodiscard]] std::int64_t tokens_to_draw(bool others_wait, time_ns now) const noexcept {
    const auto usable =
        others_wait ? std::max<std::int64_t>(batch_passes - count_, 1) : reserve_tokens;
    return std::clamp<std::int64_t>(std::min(credit_ / 2, (now - drawn_at_) / token_ns), 1, usable);
  }
  void note_drawn(std::int64_t tokens, time_ns now) noexcept {
    credit_ = std::max<std::int64_t>(credit_ - 2 * tokens, 0);
    drawn_at_ = now;
  }
  // Two handed-out tokens give credit for three new ones. A long series of passes soon draws many
  // tokens at once, and few remain unused at its end.
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
