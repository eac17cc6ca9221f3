// The timer for periodic statistics: one event of a queue per interval, at most one of them unread.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "base/status.hpp"
#include "base/time.hpp"
#include "client/events/event_queue.hpp"
#include "net/reactor.hpp"

namespace mortise::client {

class stats_watch final : private net::timer {
 public:
  explicit stats_watch(net::reactor& loop) : loop_(loop) {}
  ~stats_watch() override { end(); }
  stats_watch(const stats_watch&) = delete;
  stats_watch& operator=(const stats_watch&) = delete;

  // Starts a watch in place of an earlier one. Without a queue the watch ends.
  outcome watch(std::shared_ptr<event_queue> queue, std::int64_t tag, std::int64_t interval_ms);
  // Nothing is reported afterwards. Never called under a mutex that a reader of events may hold.
  void end() noexcept;

 private:
  void on_timer(time_ns now) noexcept override;

  net::reactor& loop_;
  std::mutex mutex_;
  std::shared_ptr<event_queue> queue_;
  bool is_ended_ = false;
  std::int64_t tag_ = 0;
  time_ns interval_ns_ = 0;
};

}  // namespace mortise::client
