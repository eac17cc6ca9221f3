/** A queue of asynchronous results and notices. */
#ifndef MORTISE_QUEUE_HPP
#define MORTISE_QUEUE_HPP

#include <chrono>
#include <memory>

#include "client.hpp"
#include "info.hpp"

namespace mortise {
inline namespace MORTISE_CXX_NAMESPACE {

/**
 * One event, filled by `queue::next`. Move-only. One thread at a time. Its strings are valid until
 * it is filled again.
 */
class event {
 public:
  /** An empty event. If memory runs out, it cannot be filled. */
  event() noexcept : raw_(mortise_event_new()) {}

  /** The kind of the event. */
  event_kind kind() const noexcept { return static_cast<event_kind>(mortise_event_kind(raw())); }
  /** The tag of the call or the watch. */
  std::int64_t tag() const noexcept { return mortise_event_tag(raw()); }
  /** The result of the call. status::lost for a loss, status::ok for a risk and for waiters. */
  mortise::status status() const noexcept { return detail::to_status(mortise_event_status(raw())); }
  /** The fencing token of the event's hold, or 0 without a hold. */
  std::int64_t token() const noexcept { return mortise_event_token(raw()); }
  /** The number of the event's hold among the holds of its handle, or 0 without a hold. */
  std::int64_t hold_number() const noexcept { return mortise_event_hold_number(raw()); }
  /** The cause and the remedy of a failure, a notice, or the log record. "" if there is none. */
  std::string_view message() const noexcept { return mortise_event_message(raw()); }
  /** The reason of a loss or a risk. */
  mortise::reason reason() const noexcept {
    return static_cast<mortise::reason>(mortise_event_reason(raw()));
  }
  /** The name of the event's lock, any bytes. */
  std::string_view lock_name() const noexcept {
    std::size_t size = 0;
    const char *name = mortise_event_lock_name(raw(), &size);
    return {name, size};
  }
  /** The severity of a log record, otherwise log_level::none. */
  mortise::log_level level() const noexcept {
    return static_cast<mortise::log_level>(mortise_event_log_level(raw()));
  }
  /** The subject of a log record, otherwise log_subject::none. */
  log_subject subject() const noexcept {
    return static_cast<log_subject>(mortise_event_log_subject(raw()));
  }
  /**
   * The number of log records that were dropped just before this one. For a wait or a hold: of
   * events of waits and holds.
   */
  std::int64_t dropped_records() const noexcept { return mortise_event_dropped_records(raw()); }
  /** Of a wait or a hold: "mutex", "read", "write" or "semaphore". Otherwise "". */
  std::string_view lock_kind() const noexcept { return mortise_event_lock_kind(raw()); }
  /** Of a wait or a hold: the number of its handle in the client. Otherwise 0. */
  std::int64_t handle_number() const noexcept { return mortise_event_handle_number(raw()); }
  /** When a wait or a hold began, ended or changed, by the clock of this machine. Otherwise 1970.
   */
  std::chrono::system_clock::time_point time() const noexcept {
    return std::chrono::system_clock::time_point(
        std::chrono::microseconds(mortise_event_time_us(raw())));
  }
  /** How long the wait, or the hold in its mode, took when it ended. Otherwise 0. */
  std::chrono::microseconds lasted() const noexcept {
    return std::chrono::microseconds(mortise_event_lasted_us(raw()));
  }
  /**
   * The leader that an event of an observed election reports, as the answer to a query.
   * @return the answer, or an error:
   * - status::invalid_argument: the event is of another kind.
   * - status::no_memory: memory ran out.
   */
  result<info> leader() const {
    info answer(mortise_info_new());
    mortise_error *filled = detail::error_of_thread();
    if (answer.raw() == nullptr) return unexpected(error(mortise::status::no_memory));
    const mortise_status code = mortise_event_leader(raw(), answer.raw(), filled);
    if (code != MORTISE_OK) return unexpected(detail::error_from(code, filled));
    return answer;
  }
  /** The result of the call, with the details of a failure. */
  result<void> outcome() const {
    if (status() == mortise::status::ok) return {};
    auto details = std::make_shared<detail::failure>();
    details->message = message();
    details->server_text = mortise_event_server_text(raw());
    details->lock_name = lock_name();
    details->reason = reason();
    details->is_retryable = mortise_event_is_retryable(raw()) != 0;
    details->is_ambiguous = mortise_event_is_ambiguous(raw()) != 0;
    return unexpected(error(status(), std::move(details)));
  }

  /** The event for C functions. */
  mortise_event *raw() const noexcept { return raw_.get(); }

 private:
  struct deleter {
    void operator()(mortise_event *raw) const noexcept { mortise_event_free(raw); }
  };
  std::unique_ptr<mortise_event, deleter> raw_;
};

/**
 * A queue of events, as `mortise_queue`. Move-only. Any thread. Its destructor shuts it down and
 * drops unread events.
 */
class queue {
 public:
#if MORTISE_HAS_EXCEPTIONS
  /** Makes a queue. It throws every error of `make`. */
  explicit queue(client &of, std::int64_t capacity = 0)
      : queue(detail::checked(make(of, capacity))) {}
#endif
  /**
   * Makes a queue.
   * @param capacity the number of calls and watches that may be open or unread at once: 1 to
   *   MORTISE_MAX_QUEUE_CAPACITY, or 0 for 65536.
   * @return the queue, or an error:
   * - status::invalid_argument: an argument is out of range.
   * - status::limit: no file descriptor is available.
   * - status::closed: the handle or its client was freed.
   * - status::forked: called in a forked child.
   * - status::no_memory: memory ran out.
   */
  static result<queue> make(client &of, std::int64_t capacity = 0) {
    mortise_error *filled = detail::error_of_thread();
    mortise_queue *raw = mortise_queue_new(of.raw(), capacity, filled);
    if (raw == nullptr) return unexpected(detail::error_from_null(filled));
    return queue(take_over{}, raw);
  }
  /**
   * Takes the oldest event. If there is none, it waits. A stop_token has no effect: use `wake`.
   * @param into is filled on status::ok.
   * @return
   * - status::ok: `into` is filled.
   * - status::timed_out: no event in time, or `wake` ended the wait.
   * - status::shut_down: the queue was shut down and is drained.
   * - status::forked: called in a forked child.
   * - status::invalid_argument: an argument is out of range.
   */
  status next(event &into, const timeout &wait = {}) noexcept {
    return detail::to_status(mortise_queue_next(raw(), wait.ms(), into.raw(), nullptr));
  }
  /** Takes many events at once, as numbers. See `mortise_queue_next_batch`. */
  status next_batch(std::int64_t *records, std::int64_t capacity, std::int64_t &count,
                    const timeout &wait = {}) noexcept {
    return detail::to_status(
        mortise_queue_next_batch(raw(), wait.ms(), records, capacity, &count, nullptr));
  }
  /**
   * A descriptor that is readable while there are events, or the queue is shut down. Only poll it.
   */
  int fd() const noexcept { return mortise_queue_fd(raw()); }
  /** Makes one `next` return status::timed_out now. Async-signal-safe. */
  void wake() noexcept { mortise_queue_wake(raw()); }
  /** Shuts the queue down. It accepts no new calls, and its waiting acquires are cancelled. */
  void shutdown() noexcept { mortise_queue_shutdown(raw()); }

  /** The queue for C functions. */
  mortise_queue *raw() const noexcept { return raw_.get(); }

 private:
  struct deleter {
    void operator()(mortise_queue *raw) const noexcept { mortise_queue_free(raw); }
  };
  struct take_over {};

  queue(take_over, mortise_queue *raw) noexcept : raw_(raw) {}

  std::unique_ptr<mortise_queue, deleter> raw_;
};

inline result<void> client::watch_log(queue &on, std::int64_t tag, log_level level) {
  mortise_error *filled = detail::error_of_thread();
  const auto least = static_cast<mortise_log_level>(level);
  return detail::done(mortise_client_watch_log(raw(), on.raw(), tag, least, filled), filled);
}

inline result<void> client::watch_stats(queue &on, std::int64_t tag,
                                        std::chrono::milliseconds interval) {
  mortise_error *filled = detail::error_of_thread();
  return detail::done(mortise_client_watch_stats(raw(), on.raw(), tag, interval.count(), filled),
                      filled);
}

inline result<void> client::watch_locks(queue &on, std::int64_t tag) {
  mortise_error *filled = detail::error_of_thread();
  return detail::done(mortise_client_watch_locks(raw(), on.raw(), tag, filled), filled);
}

}  // namespace MORTISE_CXX_NAMESPACE
}  // namespace mortise

#endif  // MORTISE_QUEUE_HPP
