// Sleeping on an atomic word. Waits may end early for no reason: callers look again.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/time.hpp"

namespace mortise::net {

// How long to sleep at a stretch. The kernel's relative timeouts stand still while the machine is
// suspended, deadlines do not (hazard 2): looking at the clock again bounds the difference.
constexpr time_ns longest_sleep_ns = 5 * ns_per_s;

// Sleeps while `word` is `expected`, until a wake or the deadline.
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                time_ns deadline) noexcept;

// Wakes one or all sleepers. The address is only a name to the kernel: nothing is read or written
// there, so it may belong to an object that is already gone.
void futex_wake_one(const std::atomic<std::uint32_t>* word) noexcept;
void futex_wake_all(const std::atomic<std::uint32_t>* word) noexcept;

}  // namespace mortise::net
