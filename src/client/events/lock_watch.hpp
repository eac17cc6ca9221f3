// Reports the begin and the end of a client's waits and holds, as events of a queue. The client
// never waits for the reader: while too many are unread, the watch drops events and counts them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "base/status.hpp"
#include "client/events/event_queue.hpp"
#include "lock/lock_event.hpp"
#include "lock/protocol_facts.hpp"

namespace mortise::client {

// A lock that an event is about.
struct watched_lock {
  lock::lock_kind kind;
  const std::string& name;
};

class lock_watch {
 public:
  // Starts a watch in place of an earlier one. Without a queue the watch ends.
  outcome watch(std::shared_ptr<event_queue> queue, std::int64_t tag);
  void end() noexcept;
  // All that a client without a watch pays for each event.
  [[nodiscard]] bool is_on() const noexcept { return is_on_.load(std::memory_order_relaxed); }
  // Under the mutex of a gate. A wait begins before its other events, also of a free lock.
  void note_wait(const lock::lock_event& wait, const watched_lock& lock) noexcept;
  void note(const lock::lock_event& change, const watched_lock& lock) noexcept;

 private:
  void report(event_kind kind, const lock::lock_event& change, const watched_lock& lock) noexcept;
  [[nodiscard]] std::unique_ptr<event_node> node_of(event_kind kind, const lock::lock_event& change,
                                                    const watched_lock& lock) const;

  std::atomic<bool> is_on_{false};
  std::mutex mutex_;
  std::shared_ptr<event_queue> queue_;
  bool is_ended_ = false;
  std::int64_t tag_ = 0;
  std::int64_t dropped_ = 0;  // since the last reported event
};

}  // namespace mortise::client
