// A completion queue: results of asynchronous calls and notices of watched handles, until they are
// read. The place of each event is reserved before its call is accepted.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "base/fifo.hpp"
#include "base/log.hpp"
#include "base/status.hpp"
#include "base/time.hpp"

namespace mortise::protocol {
struct lock_info;
}

namespace mortise::client {

class client;

// A handle whose waiting acquire ends when its queue is shut down.
class cancellable {
 public:
  virtual ~cancellable() = default;
  // ok, or not_waiting.
  virtual outcome cancel() = 0;
  // The name of the lock. Empty for a multi.
  [[nodiscard]] virtual const std::string& name() const noexcept = 0;
};

// The values of the C ABI.
enum class event_kind : std::int32_t {
  none = 0,
  acquired = 1,
  unlocked = 2,
  extended = 3,
  lost = 4,
  at_risk = 5,
  upgraded = 6,
  downgraded = 7,
  log = 8,
  stats = 9,
  contended = 10,
  value_set = 11,
  leader = 12,
  no_leader = 13,
  wait_began = 14,
  wait_failed = 15,
  hold_began = 16,
  hold_changed = 17,
  hold_ended = 18,
};

// Whether a watched handle or an observed election reports it. Every other kind ends a call or
// comes from the client.
constexpr bool is_notice(event_kind kind) noexcept {
  return kind == event_kind::lost || kind == event_kind::at_risk || kind == event_kind::contended ||
         kind == event_kind::leader || kind == event_kind::no_leader;
}

// Whether it is the begin or the end of a wait or a hold, which a client reports.
constexpr bool is_of_lock(event_kind kind) noexcept {
  return kind >= event_kind::wait_began && kind <= event_kind::hold_ended;
}

struct event {
  event_kind kind = event_kind::none;
  std::int64_t tag = 0;
  std::int64_t token = 0;
  std::int64_t hold_number = 0;
  outcome error;
  // Of a log record.
  log_level level = log_level::none;
  log_subject subject = log_subject::none;
  // Of a log record, or of a wait or a hold: how many of these were dropped before it.
  std::int64_t dropped_records = 0;
  // Of a wait or a hold: a static text, the number of its handle in its client, when this happened
  // by the wall clock, and how long the wait or the hold took.
  const char* lock_kind = "";
  std::int64_t handle_number = 0;
  std::int64_t time_us = 0;
  std::int64_t lasted_us = 0;
  // Of an observed election: the answer of the query.
  std::shared_ptr<const protocol::lock_info> leader;
  // Completes the message on the reader's thread. A notice has a message although nothing failed.
  void complete_message(const std::string& name) noexcept {
    if ((is_notice(kind) || is_of_lock(kind)) && error.ok())
      error.message = joined({error.cause != nullptr ? error.cause : ""});
    if (!error.words().empty()) error.name(name);
  }
};

// An event with its place in a queue. Allocated before its call is accepted, so delivery cannot
// fail.
class event_node : public fifo_link<event_node> {
 public:
  // Takes the chain of finished nodes apart one by one: the I/O thread has a small stack.
  virtual ~event_node() {
    while (next_finished) next_finished = std::move(next_finished->next_finished);
  }
  event content;
  // Whether it counts against the queue's capacity.
  bool uses_capacity = true;
  // Whether the queue's descriptor was in use at admit().
  bool is_watched_for = false;
  // The handle lives at least until its event has been read.
  std::shared_ptr<cancellable> handle;
  // The lock name of a notice or log record, which keeps no handle.
  std::string lock;
  // The next node in a chain of finished nodes.
  std::unique_ptr<event_node> next_finished;

 private:
  friend class event_queue;
  bool is_waiting_acquire_ = false;
  bool is_cancelled_ = false;  // by a shutdown
  std::list<event_node*>::iterator waiting_position_;
};

class event_queue {
 public:
  // The maximum of unread log records, and of unread begins and ends of waits and holds.
  static constexpr int longest_reports = 64;
  static constexpr int longest_lock_reports = 4096;

  // With a client, a thread that waits for events also reads that client's replies.
  explicit event_queue(std::int64_t capacity, std::shared_ptr<client> client = nullptr);
  ~event_queue();
  event_queue(const event_queue&) = delete;
  event_queue& operator=(const event_queue&) = delete;

  outcome open();
  // reserve() reserves a place for a notice: ok, limit or shut_down. unreserve() returns the place.
  outcome reserve();
  void unreserve() noexcept;
  // admit() reserves a place for the event of a call. A shutdown cancels the call if it is an
  // acquire. dismiss() returns the place if the call was not accepted.
  outcome admit(event_node& call);
  void dismiss(event_node& call) noexcept;
  [[nodiscard]] bool is_shut_down();
  // Adds the event of an ended call, or a notice. Returns the node if the queue was freed.
  std::unique_ptr<event_node> deliver(std::unique_ptr<event_node> ended) noexcept;
  // Whether fewer risks are unread than the capacity. A risk takes no reserved place.
  [[nodiscard]] bool has_room_for_risk();
  // Adds a log record, a statistics event, or the begin or the end of a wait or a hold. It takes no
  // reserved place. It is read after all other events, so it never delays a loss. False if it is
  // dropped: too many of its kind are unread, or the queue was shut down.
  bool report(std::unique_ptr<event_node> node) noexcept;

  // The oldest event: ok, timed_out, shut_down.
  status next(time_ns deadline, event& result);
  // Passes up to `capacity` events to `take(const event&)`.
  template <class Take>
  status next_batch(time_ns deadline, std::int64_t capacity, Take&& take) {
    event first;
    if (const auto error = next(deadline, first); error != status::ok) return error;
    take(first);
    for (auto rest = take_ready(capacity - 1); rest; rest = std::move(rest->next_finished)) {
      take(rest->content);
    }
    return status::ok;
  }
  [[nodiscard]] int descriptor();
  // Async-signal-safe.
  void wake() noexcept;
  void shut_down() noexcept;
  // Shuts down, drops unread events, and accepts no more events.
  void close() noexcept;

 private:
  // A thread that waits in next().
  struct consumer;

  outcome reserve_locked();
  // Whether another report of this kind may be unread.
  bool take_report_place_locked(event_kind kind) noexcept;
  // Takes up to `count` available events, the oldest first.
  std::unique_ptr<event_node> take_ready(std::int64_t count) noexcept;
  // The handle of a waiting acquire that was not cancelled yet, or nullptr.
  std::shared_ptr<cancellable> next_to_cancel() noexcept;
  bool take_wake_up_locked() noexcept;
  void after_take_locked() noexcept;
  void wait_for_event(std::unique_lock<std::mutex>& guard, time_ns deadline);
  void leave_locked(const consumer& self) noexcept;
  void await_wakers() noexcept;
  void call_one_locked() noexcept;
  void signal_locked() noexcept;
  void wake_all_locked() noexcept;
  // Whether no event will ever come again.
  [[nodiscard]] bool is_drained_locked() const noexcept {
    return is_shut_down_ && open_calls_ == 0 && is_empty_locked();
  }
  [[nodiscard]] bool is_empty_locked() const noexcept {
    return ended_.is_empty() && reports_.is_empty();
  }
  void unsignal_locked() noexcept;
  event_node* pop_locked() noexcept;

  const std::int64_t capacity_;
  const std::shared_ptr<client> client_;
  int event_fd_ = -1;
  std::mutex mutex_;
  std::int64_t reserved_ = 0;  // open calls, watches and unread events
  std::int64_t open_calls_ = 0;
  fifo<event_node> ended_;    // of calls and watches
  fifo<event_node> reports_;  // read after `ended_`
  std::int64_t unread_risks_ = 0;
  int unread_lines_ = 0;
  int unread_lock_reports_ = 0;
  bool is_stats_unread_ = false;
  std::list<event_node*> waiting_;
  bool is_shut_down_ = false;
  bool is_freed_ = false;
  bool is_polled_ = false;  // descriptor() was called
  bool is_signalled_ = false;
  // Consumers that were not woken yet. Changed under the mutex. wake() reads the first without it.
  std::atomic<consumer*> first_consumer_{nullptr};
  std::atomic<std::uint32_t> wake_ups_{0};  // that ended no wait yet
  std::atomic<std::uint32_t> wakers_{0};  // threads inside wake(), which keep every consumer alive
};

}  // namespace mortise::client
