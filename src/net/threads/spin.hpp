// Whether a caller that leads and waits alone spins before it sleeps. To spin is to look for its
// answer again and again. A wake-up takes longer than the answer of a near server. But others may
// need the core. Then a spinning thread loses the core for a whole slice, or delays the very server
// that has to answer. So an adaptive caller spins while the last answers came soon. It stops when
// an answer is late, or when the thread did not run for a while between two looks. It tries again
// after a pause that doubles with each failure. Pure: the times are arguments.
#pragma once

#include <algorithm>
#include <utility>

#include "base/time.hpp"

namespace mortise::net {

class spin {
 public:
  // `length_ns`: how long each wait spins. 0: not at all. Negative: as long as it pays off.
  explicit spin(time_ns length_ns) noexcept : length_ns_(length_ns) {}

  // Whether to begin(), for the answer to a request of that time; 0 without a request.
  [[nodiscard]] bool is_due(time_ns asked_ns) const noexcept {
    if (!is_adaptive()) return length_ns_ > 0;
    return asked_ns > 0 && asked_ns >= resume_ns_ && short_trips_ >= wanted_trips;
  }
  // Whether note_cores() is due before begin(): a thread may be moved at any time.
  [[nodiscard]] bool wants_cores(time_ns now) const noexcept {
    return is_adaptive() && now >= count_ns_;
  }
  // Notes how many cores the caller may use.
  void note_cores(int count, time_ns now) noexcept {
    count_ns_ = now + count_interval_ns;
    if (count < 2) resume_ns_ = count_ns_;
  }
  // A caller is about to look. False when it must not.
  bool begin(time_ns asked_ns, time_ns now) noexcept {
    if (!is_due(asked_ns)) return false;
    end_ns_ = is_adaptive() ? asked_ns + longest_trip_ns : now + length_ns_;
    look_ns_ = now;
    return true;
  }
  // A look found nothing. Returns whether to look again.
  bool goes_on(time_ns now) noexcept {
    const auto gap_ns = now - std::exchange(look_ns_, now);
    if (now < end_ns_) return true;
    if (is_adaptive()) fail(gap_ns, now);
    return false;
  }
  // A look found something.
  void note_find(time_ns now) noexcept {
    if (!is_adaptive()) return;
    const auto gap_ns = now - look_ns_;
    if (gap_ns > longest_look_ns) return fail(gap_ns, now);
    // It has gone well for the length of the pause.
    if (pause_ns_ > 0 && now - resume_ns_ >= pause_ns_) {
      pause_ns_ /= 2;
      resume_ns_ = now;
    }
  }
  // The answer came, by a look or after a sleep.
  void note_answer(time_ns asked_ns, time_ns now) noexcept {
    const bool is_short = now - asked_ns <= longest_trip_ns;
    short_trips_ = is_short ? std::min(short_trips_ + 1, wanted_trips) : 0;
  }

 private:
  // A longer wait is not worth a spin: the wake-up is a small part of it.
  static constexpr time_ns longest_trip_ns = 150 * ns_per_us;
  static constexpr int wanted_trips = 8;
  // A look takes a microsecond or two. An interrupt and its wake-ups take some more. A longer gap
  // means that another thread needed the core and got it.
  static constexpr time_ns longest_look_ns = 200 * ns_per_us;
  static constexpr time_ns shortest_pause_ns = 2 * ns_per_ms;
  static constexpr time_ns longest_pause_ns = 10 * ns_per_s;
  // The pause is so many times the loss. So retries cost next to nothing, however long slices are.
  static constexpr time_ns pause_share = 100;
  static constexpr time_ns count_interval_ns = 100 * ns_per_ms;

  [[nodiscard]] bool is_adaptive() const noexcept { return length_ns_ < 0; }
  void fail(time_ns lost_ns, time_ns now) noexcept {
    pause_ns_ = std::clamp(std::max(2 * pause_ns_, pause_share * lost_ns), shortest_pause_ns,
                           longest_pause_ns);
    resume_ns_ = now + pause_ns_;
  }

  time_ns length_ns_;
  int short_trips_ = 0;  // consecutive short trips
  time_ns end_ns_ = 0;
  time_ns look_ns_ = 0;  // time of the last look
  time_ns pause_ns_ = 0;
  time_ns resume_ns_ = 0;
  time_ns count_ns_ = 0;  // when to count the cores
};

}  // namespace mortise::net
