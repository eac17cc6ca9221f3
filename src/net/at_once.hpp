// Calls that block, made at the same time.
#pragma once

#include <cstddef>
#include <functional>

namespace mortise::net {

// work(0), …, work(count - 1), each on a thread of its own, the last on this one; returns when all
// have. Where no thread is to be had they come one after the other.
void at_once(std::size_t count, const std::function<void(std::size_t)>& work) noexcept;

}  // namespace mortise::net
