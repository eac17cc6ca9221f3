// How much of a lock is acquired or held.
#pragma once

#include <cstdint>

namespace mortise::lock {

// Exclusive as a writer or a mutex, or shared with others as readers and holders of permits.
enum class hold_mode : std::uint8_t { exclusive, shared };

// The permits of a writer, and the capacity of a read-write lock. The scripts call it WHOLE. A
// reader has 1 permit.
constexpr std::int64_t exclusive_permits = std::int64_t{1} << 30;

// A mutex is {exclusive, 1}, a reader {shared, 1}, a writer {exclusive, exclusive_permits}, and
// permits are {shared, number}.
struct amount {
  hold_mode mode = hold_mode::exclusive;
  std::int64_t permits = 1;
  std::int64_t capacity = 1;  // of the lock; the gate reads it from the handle
};

}  // namespace mortise::lock
