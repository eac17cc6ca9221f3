// One handle in the lock logic: its terms, its state and its hold.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/options.hpp"
#include "base/status.hpp"
#include "base/system/thread_identity.hpp"
#include "base/time.hpp"
#include "lock/amount.hpp"
#include "lock/renewal_end.hpp"
#include "statistics/lock_statistics.hpp"

namespace mortise::lock {

class acquire_operation;
class claim_queue;

enum class owner_state : std::uint8_t {
  idle,
  acquiring,
  held,
  unlocking,  // the hold is over, the reply is pending
  lost,       // the hold was lost and has not been unlocked
};

// Whether an owner may change from one state to the other. A freed handle becomes idle.
constexpr bool is_transition(owner_state from, owner_state next) noexcept {
  switch (next) {
    case owner_state::idle:
      return true;
    case owner_state::acquiring:
      return from == owner_state::idle || from == owner_state::lost;
    case owner_state::held:
      return from == owner_state::acquiring;
    case owner_state::unlocking:
    case owner_state::lost:
      return from == owner_state::held;
  }
  return false;
}

struct owner;

// The fields of a hold that shares its claim, as readers of one client do.
struct joint_hold {
  owner* before = nullptr;  // in the list of the claim's holders
  owner* behind = nullptr;
  renewal_end end;               // its own; the others may continue
  bool is_end_reported = false;  // whether its near end was reported
};

// How an acquire waits if the protocol has no queue.
struct polling {
  std::int64_t interval_ms = 100;
  std::int64_t attempts = -1;  // -1: no limit
};

// How a handle appears in tracepoints (base/probe.hpp) and in the history.
struct handle_trace {
  const char* lock_name = "";
  std::uint64_t number = 0;  // of the handle in its client
};

// How long the holds of an owner are renewed.
struct hold_limits {
  std::int64_t max_hold_ms = 3'600'000;  // -1: no limit
  std::int64_t progress_ms = 0;          // after the last report of progress; 0: not needed
};

// The terms of a handle, fixed when it is made.
struct owner_terms : hold_limits {
  std::int64_t lease_ms = 30'000;
  std::int64_t drift_ppm = default_drift_ppm;
  bool renews = true;
  bool is_strict = false;                      // competes alone, also within its client
  bool unlocks_by_sending = false;             // an unlock does not wait for the reply
  std::int64_t retain_ms = 0;                  // how long an unlock keeps the claim; 0: never
  bool reports_contention = false;             // its holds are notified of waiters
  bool fails_in_deadlock = false;              // its waits may end in a deadlock
  std::array<bool, 2> is_reentrant{};          // by mode
  std::int64_t capacity = 1;                   // the capacity of the lock; 1 for a mutex
  std::array<std::int64_t, 2> lifetimes_ms{};  // of what other programs write, by mode
  polling poll;
  std::string label;
  std::string value;  // of each hold, until it is changed; empty for none
  handle_trace trace;
  // The statistics that count this handle, by mode.
  std::array<statistics::lock_statistics*, 2> counts{&statistics::uncounted(),
                                                     &statistics::uncounted()};
};

// The gate keeps its fields.
struct owner : owner_terms {
  claim_queue* queue = nullptr;  // of its wait or hold
  joint_hold joint;
  std::array<std::int64_t, 2> hold_counts{};  // by mode
  std::int64_t token = 0;                     // of the present or the last hold
  std::int64_t hold_number = 0;               // of the same hold; each grant increments it
  acquire_operation* pending = nullptr;       // the acquire that waits
  reason loss = reason::none;                 // of the last hold that was lost
  bool is_interrupted = false;                // rejects new acquires
  bool is_freed = false;                      // while its handle or its client ends
  bool is_contention_due = false;             // for the present hold, until it is reported
  time_ns held_since = 0;                     // of the present hold, in its present mode
  thread_identity thread;                     // or the task that has acquired it
  statistics::lock_statistics* counts_of_hold = &statistics::uncounted();  // for this hold

  [[nodiscard]] owner_state state() const noexcept { return state_; }
  // Every change of the state. The owner leaves its claim queue when its wait or hold ends.
  void enter(owner_state next) noexcept;
  [[nodiscard]] bool may_reenter(hold_mode mode) const noexcept {
    return is_reentrant[static_cast<std::size_t>(mode)];
  }
  std::int64_t& hold_count(hold_mode mode) noexcept {
    return hold_counts[static_cast<std::size_t>(mode)];
  }
  [[nodiscard]] bool has_hold(hold_mode mode) const noexcept {
    return hold_counts[static_cast<std::size_t>(mode)] > 0;
  }
  [[nodiscard]] std::int64_t holds() const noexcept { return hold_counts[0] + hold_counts[1]; }
  [[nodiscard]] statistics::lock_statistics& counts_of(hold_mode mode) const noexcept {
    return *counts[static_cast<std::size_t>(mode)];
  }
  // Begins and ends the counted hold. In the statistics a change of mode starts another hold.
  void count_hold(hold_mode mode, time_ns now) noexcept {
    counts_of_hold = &counts_of(mode);
    held_since = now;
    counts_of_hold->hold_began();
  }
  void count_hold_end(time_ns now) noexcept { counts_of_hold->hold_ended(now - held_since); }
  // Sets the hold count to one in this mode, and to zero in the other.
  void hold_once(hold_mode mode) noexcept {
    hold_counts = {};
    hold_count(mode) = 1;
  }
  // ok if it holds and no acquire or unlock is in progress. busy() is the error during one.
  [[nodiscard]] outcome check_held() const;
  // ok if `number` is that of its present or last hold, or 0 for any.
  [[nodiscard]] outcome check_number(std::int64_t number) const;
  [[nodiscard]] outcome busy() const;
  // For a holding owner: whether it may acquire again, and whether it holds once in one mode only.
  [[nodiscard]] outcome check_again(hold_mode mode) const;
  [[nodiscard]] outcome check_single(hold_mode mode) const;
  // Unlocks a lost hold, which needs as many unlocks as acquires.
  outcome unlock_lost(hold_mode mode) noexcept;

 private:
  owner_state state_ = owner_state::idle;
};

}  // namespace mortise::lock
