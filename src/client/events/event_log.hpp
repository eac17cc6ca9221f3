// A client's log: records with a level and a subject, as events of a queue. The client never waits
// for the reader. Records above the rate limit are dropped and counted. Losses also have events of
// their own, which are never dropped.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "base/log.hpp"
#include "base/status.hpp"
#include "base/time.hpp"
#include "client/events/event_queue.hpp"

namespace mortise::client {

// A burst of `at_once`, then one per `one_in_ns`: virtual scheduling (GCRA, ITU-T I.371).
class allowance {
 public:
  static constexpr time_ns one_in_ns = 10 * ns_per_s;
  static constexpr int at_once = 10;

  bool take(time_ns now) noexcept {
    const auto from = next_ < now ? now : next_;
    if (from - now > (at_once - 1) * one_in_ns) return false;
    next_ = from + one_in_ns;
    return true;
  }

 private:
  time_ns next_ = 0;
};

class event_log {
 public:
  // Reports records of this severity or worse to the queue, in place of an earlier watch. Without a
  // queue the watch ends.
  outcome watch(std::shared_ptr<event_queue> queue, std::int64_t tag, log_level level);
  void end() noexcept;
  // Any thread, under any mutex except a queue's. A loss names its lock.
  void note(log_subject what, const outcome& result, const std::string& lock_name = {}) noexcept;

 private:
  std::unique_ptr<event_node> line(log_subject what, const outcome& result,
                                   const std::string& lock_name) const;

  std::mutex mutex_;
  std::shared_ptr<event_queue> queue_;
  bool is_ended_ = false;
  std::int64_t tag_ = 0;
  log_level level_ = log_level::none;
  std::array<allowance, log_subject_count> allowances_;
  std::int64_t dropped_records_ = 0;  // since the last reported record
};

}  // namespace mortise::client
