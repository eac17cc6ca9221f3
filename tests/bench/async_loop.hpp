// Asynchronous locks in flight: one thread that acquires and releases many locks through one queue.
#pragma once

#include <string>
#include <vector>

#include "subject.hpp"

namespace mortise::bench {

class async_loop {
 public:
  // With so many calls in flight, each on a lock of its own.
  async_loop(const std::string& url, int depth);
  // Acquires and releases for so long, and returns how many pairs were done.
  double run(double seconds);

 private:
  client_ptr client_;
  queue_ptr queue_;
  std::vector<lock_ptr> locks_;
  std::vector<std::int64_t> records_;
};

}  // namespace mortise::bench
