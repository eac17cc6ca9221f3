// The state of a gate for observers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/system/thread_identity.hpp"
#include "base/time.hpp"
#include "lock/amount.hpp"
#include "statistics/counter.hpp"

namespace mortise::lock {

// Counts of acquires since the gate was created.
struct gate_traffic {
  std::int64_t grants = 0;
  std::int64_t contended = 0;  // found the lock taken
  time_ns waited_ns = 0;       // by granted acquires
  // A histogram of the waits: a few bytes for each lock, and enough for a percentile.
  std::array<std::uint32_t, statistics::bucket_bounds_ns.size() + 1> waits{};

  void granted(time_ns waited) noexcept {
    ++grants;
    waited_ns += waited;
    ++waits[statistics::bucket_of(waited)];
  }
};

// A hold that a thread has acquired by a blocking call, or the wait of such a call.
struct thread_report {
  thread_identity thread;
  bool is_hold = false;
  hold_mode mode = hold_mode::exclusive;
  std::int64_t permits = 1;  // of a mutex or a writer too
  time_ns lasts_ns = 0;
  bool fails_in_deadlock = false;  // a wait, which gate::end_in_deadlock() may end
  time_ns began = 0;               // of a wait
};

struct gate_report {
  std::size_t holds = 0;
  std::size_t retained = 0;
  std::vector<std::string> retained_claims;  // their owner tokens
  std::string label;                         // of a holder, or of the first waiter
  std::string value;                         // of that holder
  hold_mode mode = hold_mode::exclusive;     // likewise
  std::int64_t token = 0;
  std::int64_t permits = 0;
  time_ns held_ns = 0;
  time_ns left_ns = 0;
  std::size_t waiters = 0;
  time_ns waited_ns = 0;  // by the first waiter
  gate_traffic traffic;
  std::vector<thread_report> threads;
};

}  // namespace mortise::lock
