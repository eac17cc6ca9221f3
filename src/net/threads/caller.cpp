#include "net/threads/caller.hpp"

#include <unistd.h>

#include <cerrno>

#include "net/threads/futex.hpp"
#include "net/threads/wake_scope.hpp"

namespace mortise::net {

namespace {

// A caller with a nearer deadline does not nap, so it meets its deadline.
constexpr time_ns nap_room_ns = 50 * ns_per_ms;

// Safe in a signal handler.
void kick(int descriptor) noexcept {
  const int saved = errno;
  const std::uint64_t one = 1;
  while (::write(descriptor, &one, sizeof one) < 0 && errno == EINTR) {
  }
  errno = saved;
}

}  // namespace

void caller::finish() noexcept { end_wait(finisher::ordinary); }

void caller::finish_from_signal() noexcept { end_wait(finisher::maybe_signal_handler); }

void caller::end_wait(finisher origin) noexcept {
  const std::atomic<std::uint32_t>* const address = &state_;
  // A signal handler may have interrupted the waiting thread just before its sleep, and must not
  // touch thread-local memory.
  const bool is_handler = origin == finisher::maybe_signal_handler;
  auto seen = state_.load(std::memory_order_acquire);
  bool is_remote = false;
  bool is_later = false;
  do {
    if (seen == state_done || seen == state_finishing) return;
    is_remote = seen == state_leading && (is_handler || !is_own());
    is_later = seen == state_sleeping && !is_handler && wake_scope::is_open();
  } while (!state_.compare_exchange_weak(seen, is_remote || is_later ? state_finishing : state_done,
                                         std::memory_order_acq_rel, std::memory_order_acquire));
  if (is_later) return wake_scope::add(*this);
  if (is_remote) {
    kick(kick_descriptor_.load(std::memory_order_relaxed));
    state_.store(state_done, std::memory_order_release);
  }
  if (is_remote || seen == state_sleeping) net::futex_wake_one(address);
}

bool caller::wait(time_ns deadline) noexcept {
  if (begin_sleep()) sleep(deadline);
  return settle();
}

time_ns caller::request_time(bool is_early) const noexcept {
  if (wish_ != wish::answer) return 0;
  return is_early && begun_ns_ != 0 ? begun_ns_ : boot_now();
}

bool caller::may_nap(time_ns request_ns, time_ns deadline) noexcept {
  return request_ns > 0 && deadline - request_ns > nap_room_ns;
}

bool caller::settle() noexcept {
  auto seen = state_.load(std::memory_order_acquire);
  while (seen == state_finishing) {
    net::futex_wait(state_, state_finishing, time_never);
    seen = state_.load(std::memory_order_acquire);
  }
  return seen == state_done;
}

bool caller::begin_leading(int kick_descriptor) noexcept {
  kick_descriptor_.store(kick_descriptor, std::memory_order_relaxed);
  thread_.store(::pthread_self(), std::memory_order_relaxed);
  auto expected = state_running;
  return state_.compare_exchange_strong(expected, state_leading, std::memory_order_acq_rel);
}

void caller::end_leading() noexcept {
  auto expected = state_leading;
  state_.compare_exchange_strong(expected, state_running, std::memory_order_acq_rel);
}

bool caller::begin_sleep() noexcept {
  auto expected = state_running;
  return state_.compare_exchange_strong(expected, state_sleeping, std::memory_order_acq_rel);
}

void caller::sleep(time_ns deadline) noexcept {
  while (state_.load(std::memory_order_acquire) == state_sleeping) {
    net::futex_wait(state_, state_sleeping, deadline);
    if (boot_now() < deadline) continue;
    auto expected = state_sleeping;
    state_.compare_exchange_strong(expected, state_running, std::memory_order_acq_rel);
    return;
  }
}

bool caller::rouse() noexcept {
  auto expected = state_sleeping;
  return state_.compare_exchange_strong(expected, state_running, std::memory_order_acq_rel);
}

}  // namespace mortise::net
