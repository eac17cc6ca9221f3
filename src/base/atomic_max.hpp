// An atomic number that only rises.
#pragma once

#include <atomic>

namespace mortise {

template <class Number>
void raise_to(std::atomic<Number>& highest, Number value) noexcept {
  auto before = highest.load(std::memory_order_relaxed);
  while (before < value &&
         !highest.compare_exchange_weak(before, value, std::memory_order_relaxed)) {
  }
}

}  // namespace mortise
