// The memory that both processes of `mortise exec` see.
#pragma once

#include <atomic>
#include <cstdint>

namespace mortise::cli::exec {

struct shared_deadline {
  // When the process that has no lock kills what the other has not; 0 while no command runs.
  std::atomic<int64_t> launcher_at_ns{0};
};
static_assert(std::atomic<int64_t>::is_always_lock_free);

}  // namespace mortise::cli::exec
