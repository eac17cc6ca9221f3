// The shared memory of the two processes of `mortise exec`.
#pragma once

#include <atomic>
#include <cstdint>

namespace mortise::cli::exec {

struct shared_deadline {
  // When the launcher kills the processes that the lock holder did not; 0 while no command runs.
  std::atomic<int64_t> launcher_at_ns{0};
};
static_assert(std::atomic<int64_t>::is_always_lock_free);

}  // namespace mortise::cli::exec
