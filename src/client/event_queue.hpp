// A completion queue: where the results of asynchronous calls and the notices of watched handles
// wait to be read. Every event has its place reserved before its call is accepted.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "base/log.hpp"
#include "base/status.hpp"
#include "base/time.hpp"

namespace mortise::client {

class client;

// Something whose waiting acquire a shutdown ends: a handle.
class cancellable {
 public:
  virtual ~cancellable() = default;
  // ok, or not_waiting.
  virtual outcome cancel() = 0;
  // The lock's; empty for several.
  [[nodiscard]] virtual const std::string& name() const noexcept = 0;
};

// The numbers of the C ABI.
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
};

struct event {
  event_kind kind = event_kind::none;
  std::int64_t tag = 0;
  std::int64_t token = 0;
  std::int64_t hold_number = 0;
  outcome how;
  // Of a line of the log: and how many lines were left out before it.
  log_level level = log_level::none;
  log_subject subject = log_subject::none;
  std::int64_t dropped_records = 0;
  // Completes what is said, on the thread that reads it. A risk is told although nothing failed.
  void tell(const std::string& name) noexcept {
    if (kind == event_kind::at_risk) how.message = joined({how.cause != nullptr ? how.cause : ""});
    if (!how.words().empty()) how.name(name);
  }
};

// An event with its place in a queue; allocated before its call is accepted, so that delivering it
// can never fail.
class event_node {
 public:
  virtual ~event_node() = default;
  event told;
  // Whether it counts against the queue's capacity.
  bool takes_place = true;
  // Whether the queue's descriptor is watched, since admit().
  bool is_watched_for = false;
  // The handle lives at least until its event has been read.
  std::shared_ptr<cancellable> handle;
  // The name of the lock that a notice is about, which keeps no handle.
  std::string lock;
  // For whoever keeps finished nodes in a chain, which is taken apart one by one.
  std::unique_ptr<event_node> behind;

 private:
  friend class event_queue;
  friend struct event_chain;
  event_node* next_ = nullptr;
  bool is_waiting_acquire_ = false;
  bool is_told_to_end_ = false;  // by a shutdown
  std::list<event_node*>::iterator waiting_place_;
};

// Nodes in their order, which somebody else frees.
struct event_chain {
  event_node* first = nullptr;
  event_node* last = nullptr;

  [[nodiscard]] bool is_empty() const noexcept { return first == nullptr; }
  void push(event_node& node) noexcept;
  event_node& pop() noexcept;
};

class event_queue {
 public:
  // So many reports are kept until they are read.
  static constexpr int longest_reports = 64;

  // A thread that waits for events reads the answers of this client itself, if one is given.
  explicit event_queue(std::int64_t capacity, std::shared_ptr<client> client = nullptr);
  ~event_queue();
  event_queue(const event_queue&) = delete;
  event_queue& operator=(const event_queue&) = delete;

  outcome open();
  // Reserves a place for a notice: ok, limit or shut_down; gives it back.
  outcome reserve();
  void unreserve() noexcept;
  // Reserves a place for the end of a call, which a shutdown is to cancel if it is an acquire; and
  // takes that back when the call was not accepted after all.
  outcome admit(event_node& call);
  void dismiss(event_node& call) noexcept;
  [[nodiscard]] bool is_shut_down();
  // The call came to an end. Comes back when the queue was freed and nobody will read it.
  std::unique_ptr<event_node> deliver(std::unique_ptr<event_node> ended) noexcept;
  // What is told beside all calls and watches, a line of the log or that statistics are due: it
  // takes no place of theirs, and is read when none of theirs is there, so that it never stands
  // before a loss. False where it is dropped: too many of its kind are unread, or the queue was
  // shut down.
  bool report(std::unique_ptr<event_node> told) noexcept;

  // The oldest event: ok, timed_out, shut_down.
  status next(time_ns deadline, event& into);
  // Up to `capacity` events, each handed to `take(const event&)`.
  template <class Take>
  status next_batch(time_ns deadline, std::int64_t capacity, Take&& take) {
    event first;
    if (const auto how = next(deadline, first); how != status::ok) return how;
    take(first);
    for (auto rest = take_ready(capacity - 1); rest; rest = std::move(rest->behind)) {
      take(rest->told);
    }
    return status::ok;
  }
  [[nodiscard]] int descriptor();
  // Async-signal-safe.
  void wake() noexcept;
  void shut_down() noexcept;
  // Shuts down, drops what is unread, and keeps nothing from then on.
  void close() noexcept;

 private:
  // A thread in next() that has found nothing.
  struct consumer;

  outcome reserve_locked();
  // Up to so many events that are there already, the oldest first.
  std::unique_ptr<event_node> take_ready(std::int64_t count) noexcept;
  // The handle of a waiting acquire that has not been told to end; nullptr when there is none.
  std::shared_ptr<cancellable> next_to_cancel() noexcept;
  void after_take_locked() noexcept;
  void wait_for_event(std::unique_lock<std::mutex>& guard, time_ns deadline);
  void leave_locked(const consumer& self) noexcept;
  void outlast_wakers() noexcept;
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
  event_chain ended_;    // of calls and watches
  event_chain reports_;  // which come behind them
  int unread_lines_ = 0;
  bool is_stats_unread_ = false;
  std::list<event_node*> waiting_;
  bool is_shut_down_ = false;
  bool is_freed_ = false;
  bool is_polled_ = false;  // somebody has asked for the descriptor
  bool is_signalled_ = false;
  // Those that were not called yet. Changed under the mutex; wake() looks at the first without it.
  std::atomic<consumer*> first_consumer_{nullptr};
  std::atomic<bool> is_woken_{false};
  std::atomic<std::uint32_t> wakers_{0};  // threads inside wake(), which keep every consumer alive
};

}  // namespace mortise::client
