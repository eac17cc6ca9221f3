// Time inside a run: a queue of things to come, and clocks that are as wrong as real ones are.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "base/time.hpp"

namespace mortise::simulation {

// True time, and what happens when. Things planned for the same moment happen in order of planning.
class virtual_time {
 public:
  [[nodiscard]] time_ns now() const noexcept { return now_; }

  void at(time_ns when, std::function<void()> what) {
    plans_.push({when < now_ ? now_ : when, next_++, std::move(what)});
  }
  void after(time_ns delay, std::function<void()> what) { at(now_ + delay, std::move(what)); }

  // Lets the next thing happen unless it lies beyond `end`, which is where the time then stands.
  bool advance(time_ns end) {
    if (plans_.empty() || plans_.top().when > end) {
      now_ = end > now_ ? end : now_;
      return false;
    }
    // The top of a priority_queue is const, but it is popped right after.
    auto what = std::move(const_cast<plan&>(plans_.top()).what);
    now_ = plans_.top().when;
    plans_.pop();
    what();
    return true;
  }

 private:
  struct plan {
    time_ns when;
    std::uint64_t order;
    std::function<void()> what;
    bool operator<(const plan& other) const noexcept {
      return when != other.when ? when > other.when : order > other.order;
    }
  };
  std::priority_queue<plan> plans_;
  std::uint64_t next_ = 0;
  time_ns now_ = 0;
};

// A clock that starts anywhere and runs fast or slow, but evenly.
class drifting_clock {
 public:
  drifting_clock(time_ns offset, std::int64_t fast_ppm) : offset_(offset), fast_ppm_(fast_ppm) {}

  [[nodiscard]] time_ns read(time_ns truth) const noexcept {
    return offset_ + truth + truth / 1'000'000 * fast_ppm_ +
           truth % 1'000'000 * fast_ppm_ / 1'000'000;
  }
  // The first true time at which the clock shows `reading`.
  [[nodiscard]] time_ns truth_of(time_ns reading) const noexcept {
    if (reading >= time_never) return time_never;
    const auto elapsed = reading - offset_;
    auto truth = elapsed - elapsed / (1'000'000 + fast_ppm_) * fast_ppm_;
    while (read(truth) >= reading) truth -= 1 + (read(truth) - reading);
    while (read(truth) < reading) truth += (reading - read(truth) + 1) / 2;
    return truth;
  }
  // The caller sets it.
  void step(time_ns by) noexcept { offset_ += by; }

 private:
  time_ns offset_;
  std::int64_t fast_ppm_;
};

}  // namespace mortise::simulation
