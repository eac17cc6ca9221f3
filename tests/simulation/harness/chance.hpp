// The dice of a run: everything random comes from one seed, the same on every platform.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace mortise::simulation {

class chance {
 public:
  explicit chance(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() noexcept {  // splitmix64
    state_ += 0x9E3779B97F4A7C15U;
    auto mixed = state_;
    mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBU;
    return mixed ^ (mixed >> 31U);
  }
  // In [0, bound); 0 for a bound below 1.
  std::int64_t below(std::int64_t bound) noexcept {
    return bound < 1 ? 0 : static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(bound));
  }
  // In [least, most].
  std::int64_t between(std::int64_t least, std::int64_t most) noexcept {
    return least + below(most - least + 1);
  }
  // Between 0 and `most`, small values as likely as large ones on a logarithmic scale.
  std::int64_t spread(std::int64_t most) noexcept {
    auto bound = most;
    for (auto halvings = below(12); halvings > 0; --halvings) bound /= 2;
    return below(bound + 1);
  }
  bool happens(int per_mille) noexcept { return below(1000) < per_mille; }
  template <typename T>
  T one_of(std::initializer_list<T> choices) noexcept {
    return choices.begin()[below(static_cast<std::int64_t>(choices.size()))];
  }

 private:
  std::uint64_t state_;
};

}  // namespace mortise::simulation
