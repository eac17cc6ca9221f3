// The thread or the task that waits or holds, for reports about deadlocks.
#pragma once

#include <cstdint>

namespace mortise {

struct thread_identity {
  std::uint64_t id = 0;     // random, so unique among all processes; 0: no thread
  std::int64_t number = 0;  // of the kernel, or of the task
  bool is_task = false;
};

// Cheap after the first call of a thread. A forked child has another id.
thread_identity this_thread() noexcept;
// The same number is another task in another process.
thread_identity task_identity(std::int64_t number) noexcept;
// The task of a call, or without one, 0, the thread that it blocks.
thread_identity caller_identity(std::int64_t task, bool is_blocking) noexcept;

}  // namespace mortise
