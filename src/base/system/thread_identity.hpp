// The thread that waits or holds, for reports about deadlocks.
#pragma once

#include <cstdint>

namespace mortise {

struct thread_identity {
  std::uint64_t id = 0;     // random, so unique among all processes; 0: no thread
  std::int64_t number = 0;  // of the kernel
};

// Cheap after the first call of a thread. A forked child has another id.
thread_identity this_thread() noexcept;

}  // namespace mortise
