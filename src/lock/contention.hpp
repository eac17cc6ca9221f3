// When the clients that wait for a lock of a quorum ask for it. No server knows their order, and
// those who ask at the same time split the votes. So each asks at a random time, and one that has
// lost many turns asks sooner than one that has lost few. Whoever has waited for longer is likely
// to be first, and a newcomer is not (hazard 24).
#pragma once

#include <cstdint>

#include "base/time.hpp"

namespace mortise::lock {

class contention {
 public:
  // A round was lost, and has taken so long.
  void note_lost(time_ns trip_ns) noexcept { trip_ns_ = trip_ns; }
  // Another has the lock, so there is a turn to wait for.
  void note_taken() noexcept { splits_ = 0; }
  // A turn: the lock is free.
  void note_turn() noexcept {
    ++turns_;
    splits_ = 0;
  }
  // What the next attempt of this client has to expect.
  [[nodiscard]] contention next() const noexcept;

  // A client asks within so much time: the first time, at a turn, and after a split of the votes.
  // 0: at once. A split of the votes comes to an end as its window doubles each time.
  [[nodiscard]] time_ns first_window() const noexcept;
  [[nodiscard]] time_ns turn_window() const noexcept;
  [[nodiscard]] time_ns split_window() noexcept;
  // Before that: what the others have given back has to be there.
  [[nodiscard]] time_ns split_pause() const noexcept;

 private:
  [[nodiscard]] time_ns window(std::int64_t trips, std::int64_t others) const noexcept;

  std::int64_t expected_turns_ = 0;  // which the attempt before has lost
  std::int64_t turns_ = 0;           // which this one has
  time_ns trip_ns_ = 0;              // of a round, the latest; 0: none was lost
  int splits_ = 0;                   // one after the other
};

}  // namespace mortise::lock
