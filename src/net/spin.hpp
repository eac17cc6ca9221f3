// Whether a caller that leads and waits alone spins, which is to look for its answer again and
// again, before it sleeps. To be woken takes longer than a near server needs to answer. But who
// spins where others want to run loses the core for a whole slice, or keeps it from the very server
// that is to answer. So where it is left to adapt, a caller spins while the last answers came soon.
// It stops when one does not, or when it has not run for a while between two looks, and tries again
// after a pause that doubles with each failure. Pure: it is handed the times.
#pragma once

#include <algorithm>
#include <utility>

#include "base/time.hpp"

namespace mortise::net {

class spin {
 public:
  // `length_ns`: how long each wait spins, 0 for not at all, less for as long as it pays.
  explicit spin(time_ns length_ns) noexcept : length_ns_(length_ns) {}

  // Whether to begin(), for an answer to what was asked at that time; 0 where nothing was asked.
  [[nodiscard]] bool is_due(time_ns asked_ns) const noexcept {
    if (!is_adaptive()) return length_ns_ > 0;
    return asked_ns > 0 && asked_ns >= resume_ns_ && short_trips_ >= wanted_trips;
  }
  // Whether note_cores() is to be told anew, before begin(): a thread may be moved at any time.
  [[nodiscard]] bool wants_cores(time_ns now) const noexcept {
    return is_adaptive() && now >= count_ns_;
  }
  // On how many cores the caller may run.
  void note_cores(int count, time_ns now) noexcept {
    count_ns_ = now + count_interval_ns;
    if (count < 2) resume_ns_ = count_ns_;
  }
  // A caller is about to look. False when it is not to, after all.
  bool begin(time_ns asked_ns, time_ns now) noexcept {
    if (!is_due(asked_ns)) return false;
    end_ns_ = is_adaptive() ? asked_ns + longest_trip_ns : now + length_ns_;
    look_ns_ = now;
    return true;
  }
  // It has looked and found nothing. Whether it looks again.
  bool goes_on(time_ns now) noexcept {
    const auto gap_ns = now - std::exchange(look_ns_, now);
    if (now < end_ns_) return true;
    if (is_adaptive()) fail(gap_ns, now);
    return false;
  }
  // It has looked and found something.
  void note_find(time_ns now) noexcept {
    if (!is_adaptive()) return;
    const auto gap_ns = now - look_ns_;
    if (gap_ns > longest_look_ns) return fail(gap_ns, now);
    // As long as it paused, it has gone well.
    if (pause_ns_ > 0 && now - resume_ns_ >= pause_ns_) {
      pause_ns_ /= 2;
      resume_ns_ = now;
    }
  }
  // The answer came, however it was waited for.
  void note_answer(time_ns asked_ns, time_ns now) noexcept {
    const bool is_short = now - asked_ns <= longest_trip_ns;
    short_trips_ = is_short ? std::min(short_trips_ + 1, wanted_trips) : 0;
  }

 private:
  // What is beyond it is not worth it: being woken is a small part of it.
  static constexpr time_ns longest_trip_ns = 150 * ns_per_us;
  static constexpr int wanted_trips = 8;
  // A look takes a microsecond or two, an interrupt and what it wakes some more. Whoever was away
  // for longer has lost the core to somebody who wants it.
  static constexpr time_ns longest_look_ns = 200 * ns_per_us;
  static constexpr time_ns shortest_pause_ns = 2 * ns_per_ms;
  static constexpr time_ns longest_pause_ns = 10 * ns_per_s;
  // So many times what was lost, so that trying again costs next to nothing however long slices
  // are.
  static constexpr time_ns pause_share = 100;
  static constexpr time_ns count_interval_ns = 100 * ns_per_ms;

  [[nodiscard]] bool is_adaptive() const noexcept { return length_ns_ < 0; }
  void fail(time_ns lost_ns, time_ns now) noexcept {
    pause_ns_ = std::clamp(std::max(2 * pause_ns_, pause_share * lost_ns), shortest_pause_ns,
                           longest_pause_ns);
    resume_ns_ = now + pause_ns_;
  }

  time_ns length_ns_;
  int short_trips_ = 0;  // how many came one after the other
  time_ns end_ns_ = 0;
  time_ns look_ns_ = 0;  // when it looked last
  time_ns pause_ns_ = 0;
  time_ns resume_ns_ = 0;
  time_ns count_ns_ = 0;  // when to count cores
};

}  // namespace mortise::net
