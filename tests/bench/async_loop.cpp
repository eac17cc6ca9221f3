#include "async_loop.hpp"

#include "harness.hpp"

namespace mortise::bench {

namespace {

constexpr std::int64_t batch = 1024;
constexpr std::int64_t patience_ms = 10'000;

}  // namespace

async_loop::async_loop(const std::string& url, int depth)
    : client_(open_client(url)),
      queue_(make_queue(client_.get(), depth)),
      locks_(make_locks(client_.get(), "async", depth)),
      records_(batch * MORTISE_RECORD_FIELDS) {}

double async_loop::run(double seconds) {
  const auto end =
      now_ns() + static_cast<std::int64_t>(seconds * static_cast<double>(ns_per_second));
  const auto start_one = [&](std::size_t index) {
    check(mortise_lock_try_async(locks_[index].get(), queue_.get(),
                                 static_cast<std::int64_t>(index), nullptr),
          "mortise_lock_try_async");
  };
  for (std::size_t i = 0; i < locks_.size(); ++i) start_one(i);
  std::int64_t pairs = 0;
  for (auto in_flight = locks_.size(); in_flight > 0;) {
    std::int64_t count = 0;
    check(mortise_queue_next_batch(queue_.get(), patience_ms, records_.data(), batch, &count,
                                   nullptr),
          "mortise_queue_next_batch");
    const bool is_over = now_ns() >= end;
    for (std::int64_t i = 0; i < count; ++i) {
      const auto* record = &records_[static_cast<std::size_t>(i * MORTISE_RECORD_FIELDS)];
      const auto index = static_cast<std::size_t>(record[1]);
      check(static_cast<mortise_status>(record[2]), "an asynchronous call");
      if (record[0] == MORTISE_EVENT_ACQUIRED) {
        check(mortise_lock_unlock_async(locks_[index].get(), queue_.get(), record[1], nullptr),
              "mortise_lock_unlock_async");
        continue;
      }
      ++pairs;
      if (is_over) {
        --in_flight;
      } else {
        start_one(index);
      }
    }
  }
  return static_cast<double>(pairs);
}

}  // namespace mortise::bench
