/** Where results of calls that do not wait, and notices, arrive. */
#ifndef MORTISE_QUEUE_HPP
#define MORTISE_QUEUE_HPP

#include <memory>

#include "client.hpp"

namespace mortise {
inline namespace MORTISE_CXX_NAMESPACE {

/** What `queue::next` fills. Move-only; one thread at a time. @since 1.2 */
class event {
 public:
  /** Empty; when memory runs out, nothing can be filled into it. @since 1.2 */
  event() noexcept : raw_(mortise_event_new()) {}

  /** What it tells. @since 1.2 */
  event_kind kind() const noexcept {
    return static_cast<event_kind>(mortise_event_get_kind(raw()));
  }
  /** The tag given to the call or the watch. @since 1.2 */
  std::int64_t tag() const noexcept { return mortise_event_tag(raw()); }
  /** How the call ended; status::lost for a loss, status::ok for a risk. @since 1.2 */
  mortise::status status() const noexcept { return detail::to_status(mortise_event_status(raw())); }
  /** The fencing token of the hold that it is about; 0 when there is none. @since 1.2 */
  std::int64_t token() const noexcept { return mortise_event_token(raw()); }
  /**
   * The number of the hold that it is about among the holds of its handle; 0 when there is none.
   * @since 1.2
   */
  std::int64_t hold_number() const noexcept { return mortise_event_hold_number(raw()); }
  /** What was wrong, or is; "" when nothing. @since 1.2 */
  std::string_view message() const noexcept { return mortise_event_message(raw()); }
  /** Why the hold was lost, or is at risk. @since 1.2 */
  mortise::reason reason() const noexcept {
    return static_cast<mortise::reason>(mortise_event_reason(raw()));
  }
  /** The name of the lock that it is about, any bytes. @since 1.2 */
  std::string_view lock_name() const noexcept {
    std::size_t size = 0;
    const char *name = mortise_event_lock_name(raw(), &size);
    return {name, size};
  }
  /** How bad it is what a line of the log tells; else log_level::none. @since 1.2 */
  mortise::log_level level() const noexcept {
    return static_cast<mortise::log_level>(mortise_event_log_level(raw()));
  }
  /** What a line of the log is about; else log_subject::none. @since 1.2 */
  log_subject subject() const noexcept {
    return static_cast<log_subject>(mortise_event_log_subject(raw()));
  }
  /** How many lines of the log were left out just before this one. @since 1.2 */
  std::int64_t left_out() const noexcept { return mortise_event_left_out(raw()); }
  /** How the call ended, with the details of a failure. @since 1.2 */
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

  /** For the C functions. @since 1.2 */
  mortise_event *raw() const noexcept { return raw_.get(); }

 private:
  struct deleter {
    void operator()(mortise_event *raw) const noexcept { mortise_event_free(raw); }
  };
  std::unique_ptr<mortise_event, deleter> raw_;
};

/**
 * A queue of events, as `mortise_queue`. Move-only. Any thread. Its end shuts it down, and what was
 * not read is dropped.
 * @since 1.2
 */
class queue {
 public:
#if MORTISE_HAS_EXCEPTIONS
  /** As `make`, throwing exception. @since 1.2 */
  explicit queue(client &of, std::int64_t capacity = 0)
      : queue(detail::checked(make(of, capacity))) {}
#endif
  /**
   * A new queue.
   * @param capacity how many calls and watches may be open or unread at once: 1 to
   *   MORTISE_MAX_QUEUE_CAPACITY, or 0 for 65536.
   * @return the queue; or status::invalid_argument, status::closed, status::forked,
   *   status::no_memory, status::limit (no file descriptor).
   * @since 1.2
   */
  static result<queue> make(client &of, std::int64_t capacity = 0) {
    mortise_error *filled = detail::error_of_thread();
    mortise_queue *raw = mortise_queue_new(of.raw(), capacity, filled);
    if (raw == nullptr) return unexpected(detail::error_from_null(filled));
    return queue(take_over{}, raw);
  }
  /**
   * Takes the oldest event, waiting for one if need be. A stop_token is not heeded: use `wake`.
   * @param into filled on status::ok.
   * @return status::ok; status::timed_out, also when woken; status::shut_down once drained after
   *   shutdown; status::forked; status::invalid_argument.
   * @since 1.2
   */
  status next(event &into, const timeout &wait = {}) noexcept {
    return detail::to_status(mortise_queue_next(raw(), wait.ms(), into.raw(), nullptr));
  }
  /** The same for many at once, as numbers: see `mortise_queue_next_batch`. @since 1.2 */
  status next_batch(std::int64_t *records, std::int64_t capacity, std::int64_t &count,
                    const timeout &wait = {}) noexcept {
    return detail::to_status(
        mortise_queue_next_batch(raw(), wait.ms(), records, capacity, &count, nullptr));
  }
  /** Readable while there are events or it is shut down. Only poll it. @since 1.2 */
  int fd() const noexcept { return mortise_queue_fd(raw()); }
  /** Makes one `next` return status::timed_out now. Async-signal-safe. @since 1.2 */
  void wake() noexcept { mortise_queue_wake(raw()); }
  /** No new calls are accepted, and waits that end here are cancelled. @since 1.2 */
  void shutdown() noexcept { mortise_queue_shutdown(raw()); }

  /** For the C functions. @since 1.2 */
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

}  // namespace MORTISE_CXX_NAMESPACE
}  // namespace mortise

#endif  // MORTISE_QUEUE_HPP
