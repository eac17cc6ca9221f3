// How often many threads do something together.
#pragma once

#include <atomic>
#include <cstdio>
#include <exception>
#include <thread>
#include <vector>

#include "harness.hpp"

namespace mortise::bench {

struct throughput {
  double pairs_per_second;
  double cpu_us;
};

// Runs `pair(index)` over and over in each of `count` threads for so long.
template <typename Pair>
throughput measure_threads(int count, double seconds, Pair&& pair) {
  std::atomic<int> ready{0};
  std::atomic<bool> may_start{false};
  std::atomic<bool> is_over{false};
  std::atomic<std::int64_t> pairs{0};
  std::atomic<bool> has_failed{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      std::int64_t own = 0;
      try {
        pair(i);
        ready.fetch_add(1);
        may_start.wait(false);
        for (; !is_over.load(std::memory_order_relaxed); ++own) pair(i);
      } catch (const std::exception& problem) {
        std::fprintf(stderr, "bench: a thread: %s\n", problem.what());
        has_failed = true;
        ready.fetch_add(1);
      }
      pairs.fetch_add(own);
    });
  }
  while (ready.load() < count) sleep_ns(200'000);
  const double cpu = process_cpu_us();
  const auto start = now_ns();
  may_start = true;
  may_start.notify_all();
  sleep_ns(static_cast<std::int64_t>(seconds * static_cast<double>(ns_per_second)));
  is_over = true;
  for (auto& thread : threads) thread.join();
  require(!has_failed, "a thread has failed");
  const auto total = static_cast<double>(pairs.load());
  return {total * static_cast<double>(ns_per_second) / static_cast<double>(now_ns() - start),
          (process_cpu_us() - cpu) / total};
}

}  // namespace mortise::bench
