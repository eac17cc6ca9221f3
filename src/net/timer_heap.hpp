// Timers ordered by time: an intrusive pairing heap. It never allocates, so scheduling cannot fail.
#pragma once

#include "base/time.hpp"

namespace mortise::net {

// Work for a given time. Its owner keeps it alive while it is scheduled.
class timer {
 public:
  timer() = default;
  virtual ~timer() = default;
  timer(const timer&) = delete;
  timer& operator=(const timer&) = delete;

  // Runs on the reactor's thread, at or after the time. May schedule itself again.
  virtual void on_timer(time_ns now) noexcept = 0;

 private:
  friend class timer_heap;
  time_ns at_ns_ = 0;
  bool is_scheduled_ = false;
  timer* child_ = nullptr;
  timer* next_ = nullptr;      // the next sibling
  timer* previous_ = nullptr;  // the previous sibling, or the parent of a first child
};

// Not synchronized: the reactor does that.
class timer_heap {
 public:
  [[nodiscard]] bool is_empty() const noexcept { return root_ == nullptr; }
  // The earliest time; time_never when empty.
  [[nodiscard]] time_ns earliest() const noexcept {
    return root_ == nullptr ? time_never : root_->at_ns_;
  }
  [[nodiscard]] static bool contains(const timer& item) noexcept { return item.is_scheduled_; }

  // Inserts the timer, or moves it if it is in the heap already.
  void insert(timer& item, time_ns at_ns) noexcept;
  // Does nothing if it is not in the heap.
  void remove(timer& item) noexcept;
  // Removes and returns the earliest timer if it is due; null if none is.
  timer* take_due(time_ns now) noexcept;

 private:
  static timer* merge(timer* left, timer* right) noexcept;
  static timer* merge_siblings(timer* first) noexcept;

  timer* root_ = nullptr;
};

}  // namespace mortise::net
