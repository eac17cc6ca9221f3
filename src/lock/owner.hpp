// One handle as the lock logic sees it: who may hold, on which terms, and what it has.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/options.hpp"
#include "base/status.hpp"

namespace mortise::lock {

class acquire_operation;

enum class owner_state : std::uint8_t {
  idle,
  acquiring,
  held,
  unlocking,  // the hold is over, the server has not answered yet
  lost,       // the hold was lost and has not been unlocked
};

// Whether the whole lock is held, as a writer does, or a part of it that leaves room for others.
enum class hold_mode : std::uint8_t { whole, part };

// How much a writer holds, and there is of a read-write lock; the scripts' WHOLE. A reader holds 1.
constexpr std::int64_t whole_weight = std::int64_t{1} << 30;

// What an acquire is after: a mutex {whole, 1}, a reader {part, 1}, a writer {whole, whole_weight},
// permits {part, how many}.
struct portion {
  hold_mode mode = hold_mode::whole;
  std::int64_t weight = 1;
};

struct owner {
  // Terms; fixed when the handle is made.
  std::int64_t lease_ms = 30'000;
  std::int64_t max_hold_ms = 3'600'000;  // -1: no limit
  std::int64_t drift_ppm = default_drift_ppm;
  bool renews = true;
  std::array<bool, 2> is_reentrant{};          // by mode
  std::int64_t limit = 1;                      // how much there is of the lock; a mutex is one
  std::array<std::int64_t, 2> lifetimes_ms{};  // of what other programs write, by mode
  std::int64_t poll_interval_ms = 100;
  std::int64_t poll_attempts = -1;  // -1: no limit
  std::string label;

  // Kept by the gate.
  owner_state state = owner_state::idle;
  std::array<std::int64_t, 2> hold_counts{};  // by mode
  std::int64_t token = 0;                     // of the present or the last hold
  acquire_operation* pending = nullptr;       // the acquire that waits
  reason loss = reason::none;                 // of the last hold that was lost
  bool is_interrupted = false;                // lets no acquire begin

  [[nodiscard]] bool may_reenter(hold_mode mode) const noexcept {
    return is_reentrant[static_cast<std::size_t>(mode)];
  }
  std::int64_t& hold_count(hold_mode mode) noexcept {
    return hold_counts[static_cast<std::size_t>(mode)];
  }
  [[nodiscard]] bool has_hold(hold_mode mode) const noexcept {
    return hold_counts[static_cast<std::size_t>(mode)] > 0;
  }
  [[nodiscard]] bool has_hold_count() const noexcept { return hold_counts[0] + hold_counts[1] > 0; }
};

}  // namespace mortise::lock
