// Timers ordered by time: an intrusive pairing heap. It never allocates, so scheduling cannot fail.
// The time of a timer with a slack is rounded down to a share of the slack. Timers of the same time
// form a ring, of which one is in the heap. So 100,000 renewals are only some hundred nodes.
#pragma once

#include <array>
#include <cstddef>

#include "base/time.hpp"

namespace mortise::net {

// Work for a given time. Its owner keeps it alive while it is scheduled.
class timer {
 public:
  timer() = default;
  virtual ~timer() = default;
  timer(const timer&) = delete;
  timer& operator=(const timer&) = delete;

  // Runs on the reactor's thread, at or after the time, or earlier by at most its slack. May
  // schedule itself again.
  virtual void on_timer(time_ns now) noexcept = 0;

 private:
  friend class timer_heap;
  time_ns at_ns_ = 0;
  time_ns slack_ns_ = 0;
  bool is_scheduled_ = false;
  bool is_in_heap_ = false;    // otherwise in the ring of a node
  timer* child_ = nullptr;     // of a node
  timer* next_ = nullptr;      // the next sibling of a node
  timer* previous_ = nullptr;  // the previous sibling, or the parent of a first child
  timer* ring_next_ = nullptr;
  timer* ring_previous_ = nullptr;
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

  // Inserts the timer, or moves it if it is in the heap already. It may run earlier by at most
  // `slack_ns`.
  void insert(timer& item, time_ns at_ns, time_ns slack_ns = 0) noexcept;
  // Does nothing if it is not in the heap.
  void remove(timer& item) noexcept;
  // Removes and returns the earliest timer if it is due; null if none is. `may_be_early`: also if
  // it is due within its slack.
  timer* take_due(time_ns now, bool may_be_early = false) noexcept;

 private:
  static timer* merge(timer* left, timer* right) noexcept;
  static timer* merge_siblings(timer* first) noexcept;
  static void join_ring(timer& item, timer& other) noexcept;
  static void leave_ring(timer& item) noexcept;
  void replace(timer& node, timer& heir) noexcept;
  void remove_node(timer& node) noexcept;
  timer*& recent_of(time_ns at_ns, time_ns share) noexcept;

  static constexpr time_ns shares = 64;

  timer* root_ = nullptr;
  // Timers with a slack, by their rounded time: the last inserted one of each time, in turn.
  std::array<timer*, 128> recent_{};
};

}  // namespace mortise::net
