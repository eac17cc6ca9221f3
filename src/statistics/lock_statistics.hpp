// What became of locks of one kind: written by the lock logic, read by whoever wants to know.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/status.hpp"
#include "statistics/counter.hpp"
#include "statistics/snapshot.hpp"

namespace mortise::statistics {

// What became of the lock when a hold was unlocked.
enum class release : std::uint8_t {
  released,     // nobody waited
  handed_over,  // the server gave it to a waiter
  passed,       // a waiter of this client has it
  retained,     // this client has kept it for its next acquire
  lost,         // the server had it no more
  failed,       // the server refused, or did not answer
};

class lock_statistics {
 public:
  // Of an acquire or try that was accepted; each ends once.
  void acquire_began() noexcept { waiters_.raise(); }
  void acquire_ended(status how, time_ns took) noexcept;
  // Of one that was answered without waiting for anybody.
  void acquire_answered(status how) noexcept { acquires_[place_of(how)].note(0); }
  void found_taken() noexcept { contended_.add(); }
  void handed_off(bool is_local) noexcept { (is_local ? local_ : by_server_).add(); }

  void hold_began() noexcept { holds_.raise(); }
  void hold_ended(time_ns held) noexcept {
    holds_.lower();
    held_.note(held);
  }
  void hold_lost(reason why) noexcept;
  void renewed(bool is_ok) noexcept { (is_ok ? renewed_ : not_renewed_).add(); }
  void released(release how) noexcept { releases_[static_cast<std::size_t>(how)].add(); }

  // With these labels before its own; nothing of a kind that was not used.
  void add_to(snapshot& into, const labels& of) const;

 private:
  static constexpr std::size_t end_count = 9;
  static constexpr std::size_t reason_count = 6;
  static constexpr std::size_t release_count = 6;
  static std::size_t place_of(status how) noexcept;

  gauge waiters_;
  gauge holds_;
  counter contended_;
  counter local_;
  counter by_server_;
  counter renewed_;
  counter not_renewed_;
  std::array<counter, reason_count> losses_;     // by reason
  std::array<counter, release_count> releases_;  // by what became of the lock
  histogram held_;
  std::array<histogram, end_count> acquires_;  // by how they ended
};

// Of handles that nobody asks about.
lock_statistics& uncounted() noexcept;

}  // namespace mortise::statistics
