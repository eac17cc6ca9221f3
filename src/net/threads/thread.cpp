#include "net/threads/thread.hpp"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>

namespace mortise::net {

namespace {

// The sanitizers keep their own records on each stack.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr std::size_t sanitizer_bytes = 1U << 20U;
#else
constexpr std::size_t sanitizer_bytes = 0;
#endif

int create(pthread_t& thread, std::size_t stack_bytes, int detach_state, thread_body body,
           void* argument) noexcept {
  pthread_attr_t attributes;
  if (const int error = ::pthread_attr_init(&attributes)) return error;
  ::pthread_attr_setdetachstate(&attributes, detach_state);
  const auto smallest = static_cast<std::size_t>(PTHREAD_STACK_MIN);
  ::pthread_attr_setstacksize(&attributes, std::max(stack_bytes, smallest) + sanitizer_bytes);
  int error = ::pthread_create(&thread, &attributes, body, argument);
  if (error == EINVAL) {
    // The thread-local data of the whole program is also on the stack, and is too large for the
    // small stack here. Take the usual size.
    ::pthread_attr_destroy(&attributes);
    ::pthread_attr_init(&attributes);
    ::pthread_attr_setdetachstate(&attributes, detach_state);
    error = ::pthread_create(&thread, &attributes, body, argument);
  }
  ::pthread_attr_destroy(&attributes);
  return error;
}

int create_deaf(pthread_t& thread, std::size_t stack_bytes, int detach_state, thread_body body,
                void* argument) noexcept {
  // The new thread inherits the mask.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = create(thread, stack_bytes, detach_state, body, argument);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return error;
}

}  // namespace

int start_thread(pthread_t& thread, std::size_t stack_bytes, thread_body body,
                 void* argument) noexcept {
  return create_deaf(thread, stack_bytes, PTHREAD_CREATE_JOINABLE, body, argument);
}

int start_detached_thread(std::size_t stack_bytes, thread_body body, void* argument) noexcept {
  pthread_t unused{};
  return create_deaf(unused, stack_bytes, PTHREAD_CREATE_DETACHED, body, argument);
}

int usable_cores() noexcept {
  cpu_set_t cores;
  // Fails if the machine has more cores than the set can hold.
  return ::sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : CPU_SETSIZE;
}

}  // namespace mortise::net
