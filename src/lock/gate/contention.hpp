// When the waiting clients of a quorum lock ask for it. No server knows their order, and
// simultaneous requests split the votes. So each client asks at a random time. A client that has
// lost many turns asks sooner than one that has lost few. The longest waiter is likely to be first,
// and a newcomer is not (hazard 24).
#pragma once

#include <cstdint>

#include "base/time.hpp"

namespace mortise::lock {

class contention {
 public:
  // A round was lost, and took `trip_ns`.
  void note_lost(time_ns trip_ns) noexcept { trip_ns_ = trip_ns; }
  // Another client has the lock, so there is a turn to wait for.
  void note_taken() noexcept { splits_ = 0; }
  // A turn: the lock is free.
  void note_turn() noexcept {
    ++turns_;
    splits_ = 0;
  }
  // The contention that the next attempt of this client expects.
  [[nodiscard]] contention next() const noexcept;

  // The window within which a client asks: at first, at a turn, and after split votes. 0: at once.
  // Splits end because their window doubles each time.
  [[nodiscard]] time_ns first_window() const noexcept;
  [[nodiscard]] time_ns turn_window() const noexcept;
  [[nodiscard]] time_ns split_window() noexcept;
  // The pause before that window, so that the releases of other clients reach the servers.
  [[nodiscard]] time_ns split_pause() const noexcept;

 private:
  [[nodiscard]] time_ns window(std::int64_t trips, std::int64_t others) const noexcept;

  std::int64_t expected_turns_ = 0;  // lost by the previous attempt
  std::int64_t turns_ = 0;           // lost by this attempt
  time_ns trip_ns_ = 0;              // of the latest lost round; 0: none was lost
  int splits_ = 0;                   // consecutive
};

}  // namespace mortise::lock
