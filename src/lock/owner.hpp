// One handle as the lock logic sees it: who may hold, on which terms, and what it has.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/options.hpp"
#include "base/status.hpp"
#include "base/time.hpp"
#include "lock/amount.hpp"
#include "statistics/lock_statistics.hpp"

namespace mortise::lock {

class acquire_operation;
class claim_queue;

enum class owner_state : std::uint8_t {
  idle,
  acquiring,
  held,
  unlocking,  // the hold is over, the server has not answered yet
  lost,       // the hold was lost and has not been unlocked
};

struct owner;

// What a hold is where others hold by the same claim, as readers of one client do.
struct joint_hold {
  owner* before = nullptr;  // of those who hold with it
  owner* behind = nullptr;
  time_ns until = time_never;  // its own end, where the others may go on
  bool is_end_told = false;    // that this end is near
};

// How a lock whose protocol has no queue is waited for.
struct polling {
  std::int64_t interval_ms = 100;
  std::int64_t attempts = -1;  // -1: no limit
};

struct owner {
  // Terms; fixed when the handle is made.
  std::int64_t lease_ms = 30'000;
  std::int64_t max_hold_ms = 3'600'000;  // -1: no limit
  std::int64_t drift_ppm = default_drift_ppm;
  bool renews = true;
  bool is_strict = false;                      // competes by itself, also within its client
  bool unlocks_by_sending = false;             // and does not wait for the answer
  std::int64_t retain_ms = 0;                  // how long an unlock keeps the claim; 0: not
  std::array<bool, 2> is_reentrant{};          // by mode
  std::int64_t limit = 1;                      // how much there is of the lock; a mutex is one
  std::array<std::int64_t, 2> lifetimes_ms{};  // of what other programs write, by mode
  polling poll;
  std::string label;
  const char* lock_name = "";  // for whoever looks on (base/probe.hpp)
  // Where it is counted what becomes of this handle, by mode.
  std::array<statistics::lock_statistics*, 2> counts{&statistics::uncounted(),
                                                     &statistics::uncounted()};

  // Kept by the gate.
  owner_state state = owner_state::idle;
  claim_queue* in = nullptr;  // where it waits or holds
  joint_hold joint;
  std::array<std::int64_t, 2> hold_counts{};  // by mode
  std::int64_t token = 0;                     // of the present or the last hold
  std::int64_t hold_number = 0;               // the same; each grant raises it
  acquire_operation* pending = nullptr;       // the acquire that waits
  reason loss = reason::none;                 // of the last hold that was lost
  bool is_interrupted = false;                // lets no acquire begin
  time_ns held_since = 0;                     // of the present hold, in its present mode
  statistics::lock_statistics* counts_of_hold = &statistics::uncounted();  // where that is counted

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
  // The hold that is counted begins, in this mode, or ends. A hold that changes its mode is another
  // one for those who look at numbers.
  void count_hold(hold_mode mode, time_ns now) noexcept {
    counts_of_hold = &counts_of(mode);
    held_since = now;
    counts_of_hold->hold_began();
  }
  void count_hold_end(time_ns now) noexcept { counts_of_hold->hold_ended(now - held_since); }
  // It holds this once from now on, and nothing else.
  void hold_once(hold_mode mode) noexcept {
    hold_counts = {};
    hold_count(mode) = 1;
  }
  // ok when it holds and no acquire or unlock is at work on it; what to say while one is.
  [[nodiscard]] outcome check_held() const;
  // ok when that is the number of its present or last hold, or 0, which is any.
  [[nodiscard]] outcome check_number(std::int64_t number) const;
  [[nodiscard]] outcome busy() const;
  // Of one that holds: whether it may acquire again, and whether it holds this once and nothing
  // else.
  [[nodiscard]] outcome check_again(hold_mode mode) const;
  [[nodiscard]] outcome check_single(hold_mode mode) const;
  // The end of a hold that was lost, which has to be unlocked as often as it was acquired.
  outcome unlock_lost(hold_mode mode) noexcept;
};

}  // namespace mortise::lock
