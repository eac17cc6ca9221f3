// Random numbers from the kernel. Without state that fork() could copy (hazard 21).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace mortise {

std::uint64_t random_number() noexcept;
// At most 256 characters of A-Z a-z 0-9 - _, six random bits each.
void fill_with_random_text(std::span<char> text) noexcept;
std::string random_text(std::size_t length);

// A generator that only spreads times, without a system call: xorshift64 (Marsaglia, 2003).
class small_random {
 public:
  explicit small_random(std::uint64_t seed) noexcept : state_(seed | 1U) {}

  std::uint64_t next() noexcept {
    state_ ^= state_ << 13U;
    state_ ^= state_ >> 7U;
    state_ ^= state_ << 17U;
    return state_;
  }
  // 0 to bound - 1; 0 for a bound below 1.
  std::int64_t below(std::int64_t bound) noexcept {
    const auto number = next();
    return bound <= 0 ? 0 : static_cast<std::int64_t>(number % static_cast<std::uint64_t>(bound));
  }

 private:
  std::uint64_t state_;
};

}  // namespace mortise
