// Statistics of locks of one kind. The lock logic writes them, and any thread reads them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/status.hpp"
#include "statistics/counter.hpp"
#include "statistics/snapshot.hpp"

namespace mortise::statistics {

// What happened to the lock when a hold was unlocked.
enum class release : std::uint8_t {
  released,     // there was no waiter
  handed_over,  // the server granted it to a waiter
  passed,       // a waiter of this client has it
  retained,     // this client has kept it for its next acquire
  lost,         // the server no longer had the hold
  failed,       // the server rejected it, or did not reply
};

class lock_statistics {
 public:
  // Of an accepted acquire or try. Each ends once.
  void acquire_began() noexcept { waiters_.raise(); }
  void acquire_ended(status result, time_ns took) noexcept;
  // Of an acquire that ended without waiting.
  void acquire_answered(status result) noexcept { acquires_[place_of(result)].note(0); }
  void found_taken() noexcept { contended_.add(); }
  void handed_off(bool is_local) noexcept { (is_local ? local_ : by_server_).add(); }

  void hold_began() noexcept { holds_.raise(); }
  void hold_ended(time_ns held) noexcept {
    holds_.lower();
    held_.note(held);
  }
  void hold_lost(reason why) noexcept;
  void renewed(bool is_ok) noexcept { (is_ok ? renewed_ : not_renewed_).add(); }
  void released(release result) noexcept { releases_[static_cast<std::size_t>(result)].add(); }

  // Adds samples with these labels before their own. Adds nothing for an unused kind.
  void add_to(snapshot& target, const labels& base) const;

 private:
  static constexpr std::size_t end_count = 10;
  static constexpr std::size_t reason_count = 7;
  static constexpr std::size_t release_count = 6;
  static std::size_t place_of(status result) noexcept;

  gauge waiters_;
  gauge holds_;
  counter contended_;
  counter local_;
  counter by_server_;
  counter renewed_;
  counter not_renewed_;
  std::array<counter, reason_count> losses_;     // by reason
  std::array<counter, release_count> releases_;  // by `release`
  histogram held_;
  std::array<histogram, end_count> acquires_;  // by how they ended
};

// For handles without statistics.
lock_statistics& uncounted() noexcept;

}  // namespace mortise::statistics
