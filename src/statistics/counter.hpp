// Counters that any thread changes and any other reads: relaxed atomics, because a count orders
// nothing.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/time.hpp"

namespace mortise::statistics {

class counter {
 public:
  void add() noexcept { value_.fetch_add(1, std::memory_order_relaxed); }
  void reset() noexcept { value_.store(0, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t read() const noexcept {
    return value_.load(std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint64_t> value_{0};
};

// Upper bounds of a histogram's buckets. The last bucket has none. All histograms share them, so
// waits, holds and round trips are comparable. They begin at half of a round trip by loopback, and
// end above any usual wait.
constexpr std::array<time_ns, 18> bucket_bounds_ns{
    50 * ns_per_us,    100 * ns_per_us, 250 * ns_per_us, 500 * ns_per_us, ns_per_ms,
    5 * ns_per_ms / 2, 5 * ns_per_ms,   10 * ns_per_ms,  25 * ns_per_ms,  50 * ns_per_ms,
    100 * ns_per_ms,   250 * ns_per_ms, 500 * ns_per_ms, ns_per_s,        5 * ns_per_s / 2,
    5 * ns_per_s,      10 * ns_per_s,   60 * ns_per_s};

inline std::size_t bucket_of(time_ns took) noexcept {
  const auto* const bound =
      std::lower_bound(bucket_bounds_ns.begin(), bucket_bounds_ns.end(), took);
  return static_cast<std::size_t>(bound - bucket_bounds_ns.begin());
}

// A distribution of durations.
class histogram {
 public:
  struct reading {
    std::array<std::uint64_t, bucket_bounds_ns.size() + 1> buckets{};  // not cumulative
    std::uint64_t sum_ns = 0;

    [[nodiscard]] std::uint64_t count() const noexcept {
      std::uint64_t all = 0;
      for (const auto one : buckets) all += one;
      return all;
    }
  };

  void note(time_ns took) noexcept {
    took = std::max<time_ns>(took, 0);
    buckets_[bucket_of(took)].add();
    sum_ns_.fetch_add(static_cast<std::uint64_t>(took), std::memory_order_relaxed);
  }
  void reset() noexcept {
    for (auto& one : buckets_) one.reset();
    sum_ns_.store(0, std::memory_order_relaxed);
  }
  [[nodiscard]] reading read() const noexcept {
    reading all;
    for (std::size_t i = 0; i < buckets_.size(); ++i) all.buckets[i] = buckets_[i].read();
    all.sum_ns = sum_ns_.load(std::memory_order_relaxed);
    return all;
  }

 private:
  std::array<counter, bucket_bounds_ns.size() + 1> buckets_;
  std::atomic<std::uint64_t> sum_ns_{0};
};

// The number of operations that have begun and have not ended.
class gauge {
 public:
  void raise() noexcept { value_.fetch_add(1, std::memory_order_relaxed); }
  void lower() noexcept { value_.fetch_sub(1, std::memory_order_relaxed); }
  [[nodiscard]] std::int64_t read() const noexcept {
    return value_.load(std::memory_order_relaxed);
  }

 private:
  std::atomic<std::int64_t> value_{0};
};

}  // namespace mortise::statistics
