// Sleeps on an atomic word. Waits may end early without a reason: callers look again.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/time.hpp"

namespace mortise::net {

// The longest sleep at a stretch. The kernel's relative timeouts stop while the machine is
// suspended, but deadlines do not (hazard 2). Reading the clock again bounds the difference.
constexpr time_ns longest_sleep_ns = 5 * ns_per_s;

// Sleeps while `word` equals `expected`, until a wake-up or the deadline.
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                time_ns deadline) noexcept;

// Wakes one or all sleepers. The kernel uses the address only as a name and never touches it, so
// the object may be destroyed already.
void futex_wake_one(const std::atomic<std::uint32_t>* word) noexcept;
void futex_wake_all(const std::atomic<std::uint32_t>* word) noexcept;

}  // namespace mortise::net
