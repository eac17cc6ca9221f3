// What a client tells whoever asked for its log: lines with a level and a subject, as events of a
// queue. Nobody ever waits for the reader, so lines are left out where they come too fast, and
// counted; losses themselves are events of their own, of which none is left out.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "base/log.hpp"
#include "base/status.hpp"
#include "base/time.hpp"
#include "client/event_queue.hpp"

namespace mortise::client {

// So many at once, and then one in a while: a virtual scheduling queue (GCRA, ITU-T I.371).
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
  // Tells what is as bad as this level or worse from now on, in place of an earlier watch; without
  // a queue it tells nobody any more.
  outcome watch(std::shared_ptr<event_queue> queue, std::int64_t tag, log_level level);
  void end() noexcept;
  // Any thread, with any mutex but a queue's. A loss names its lock.
  void note(log_subject what, const outcome& how, const std::string& lock_name = {}) noexcept;

 private:
  std::unique_ptr<event_node> line(log_subject what, const outcome& how,
                                   const std::string& lock_name) const;

  std::mutex mutex_;
  std::shared_ptr<event_queue> queue_;
  bool is_ended_ = false;
  std::int64_t tag_ = 0;
  log_level level_ = log_level::none;
  std::array<allowance, log_subject_count> allowances_;
  std::int64_t dropped_records_ = 0;  // since the last line that was told
};

}  // namespace mortise::client
