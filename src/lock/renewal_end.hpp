// The time beyond which a hold is not renewed.
#pragma once

#include <algorithm>

#include "base/status.hpp"
#include "base/time.hpp"

namespace mortise::lock {

struct renewal_end {
  time_ns longest = time_never;  // the end by `max_hold`, or of an unrenewed lease
  // The end by `progress`, unless more is reported: its time and one lease after the last report.
  time_ns stalled = time_never;

  [[nodiscard]] time_ns at() const noexcept { return std::min(longest, stalled); }
  [[nodiscard]] reason why() const noexcept {
    return stalled < longest ? reason::stalled : reason::max_hold;
  }
  // Progress is reported, for the first time if there is no such end yet.
  void note_progress(time_ns until) noexcept {
    stalled = stalled == time_never ? until : std::max(stalled, until);
  }
  // The user extends the hold, whatever the options.
  void extend(time_ns until) noexcept {
    longest = std::max(longest, until);
    stalled = std::max(stalled, until);
  }
  // Several holds share a claim, which is renewed until the last of their ends.
  void join(const renewal_end& other) noexcept {
    if (other.at() > at()) *this = other;
  }
};

}  // namespace mortise::lock
