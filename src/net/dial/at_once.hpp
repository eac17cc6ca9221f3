// Runs blocking calls at the same time.
#pragma once

#include <cstddef>
#include <functional>

namespace mortise::net {

// Runs work(0), …, work(count - 1), each on its own thread, the last on the calling thread. Returns
// when all have returned. Calls without a thread run one after the other.
void at_once(std::size_t count, const std::function<void(std::size_t)>& work) noexcept;

}  // namespace mortise::net
