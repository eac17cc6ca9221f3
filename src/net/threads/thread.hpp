// The library's threads: small, and with every signal blocked, so the program's handlers never run
// on them (hazard 22).
#pragma once

#include <pthread.h>

#include <cstddef>

namespace mortise::net {

using thread_body = void* (*)(void* argument);

// Returns 0, or the errno of the failure.
int start_thread(pthread_t& thread, std::size_t stack_bytes, thread_body body,
                 void* argument) noexcept;
// The same for a thread that no thread joins.
int start_detached_thread(std::size_t stack_bytes, thread_body body, void* argument) noexcept;

// How many cores the calling thread may use now. A system call.
int usable_cores() noexcept;

}  // namespace mortise::net
