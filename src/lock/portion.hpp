// How much of a lock is wanted or held.
#pragma once

#include <cstdint>

namespace mortise::lock {

// Whether the whole lock is held, as a writer does, or a part of it that leaves room for others.
enum class hold_mode : std::uint8_t { whole, part };

// How much a writer holds, and there is of a read-write lock; the scripts' WHOLE. A reader holds 1.
constexpr std::int64_t whole_weight = std::int64_t{1} << 30;

// A mutex is {whole, 1}, a reader {part, 1}, a writer {whole, whole_weight}, permits {part, how
// many}.
struct portion {
  hold_mode mode = hold_mode::whole;
  std::int64_t weight = 1;
  std::int64_t limit = 1;  // of how much there is; the gate knows it from the handle
};

}  // namespace mortise::lock
