// Threads of the library's own: small, and with every signal blocked, so that the program's
// handlers never run on them (hazard 22).
#pragma once

#include <pthread.h>

#include <cstddef>

namespace mortise::net {

using thread_body = void* (*)(void* argument);

// Returns 0, or the errno when the system refuses.
int start_thread(pthread_t& thread, std::size_t stack_bytes, thread_body body,
                 void* argument) noexcept;
// As above for a thread that nobody waits for.
int start_detached_thread(std::size_t stack_bytes, thread_body body, void* argument) noexcept;

// On how many cores the calling thread may run at the moment. A system call.
int usable_cores() noexcept;

}  // namespace mortise::net
