/** The functions that all kinds of handles have. */
#ifndef MORTISE_HANDLE_HPP
#define MORTISE_HANDLE_HPP

#include <chrono>
#include <thread>
#include <utility>

#include "hold.hpp"
#include "info.hpp"

namespace mortise {
inline namespace MORTISE_CXX_NAMESPACE {

/**
 * The base of `mutex`, `rw`, `semaphore`, `election` and `multi`: one owner. Two handles of one
 * name exclude each other, also in one process. Move-only. Any thread may use it. If one thread
 * acquires or unlocks, another thread that does the same gets status::busy. So give each concurrent
 * user its own handle. The destructor releases the hold without waiting for the answer, unless a
 * `hold` of it still exists.
 *
 * A function with std::nothrow returns its error. The form without it throws the error as an
 * exception. A function that ends in `_async` ends in one event on the queue, with the tag. If it
 * fails, there is no event.
 */
class handle {
 public:
  handle(const handle &) = delete;
  handle &operator=(const handle &) = delete;
  handle(handle &&) noexcept = default;
  handle &operator=(handle &&) noexcept = default;
  ~handle() = default;

  /** How long the hold is still valid by the local clock, or 0 without a hold. */
  std::chrono::milliseconds valid() const noexcept {
    return std::chrono::milliseconds(calls().valid_ms(raw()));
  }
  /** The moment when the hold ends unless it is renewed, or the epoch without a hold. */
  boot_clock::time_point deadline() const noexcept {
    return boot_clock::time_point(std::chrono::nanoseconds(calls().deadline_ns(raw())));
  }
  /**
   * Extends the hold so that it lasts at least this long from now. The errors are those of
   * `hold::extend`.
   */
  template <class Count, class Period>
  result<void> extend(std::chrono::duration<Count, Period> lease, std::nothrow_t) {
    mortise_error *filled = detail::error_of_thread();
    return detail::done(calls().extend(raw(), detail::to_lease_ms(lease), filled), filled);
  }
#if MORTISE_HAS_EXCEPTIONS
  /** The throwing form: it throws every error as an exception. */
  template <class Count, class Period>
  void extend(std::chrono::duration<Count, Period> lease) {
    detail::checked(extend(lease, std::nothrow));
  }
#endif
  /** Reports that the work under the hold goes on. The errors are those of `hold::progress`. */
  result<void> progress(std::nothrow_t) {
    mortise_error *filled = detail::error_of_thread();
    return detail::done(calls().progress(raw(), filled), filled);
  }
#if MORTISE_HAS_EXCEPTIONS
  /** The throwing form: it throws every error as an exception. */
  void progress() { detail::checked(progress(std::nothrow)); }
#endif
  /** Exports the hold of this handle. The errors are those of `hold::export_id`. */
  template <class Count, class Period>
  result<std::string> export_id(std::chrono::duration<Count, Period> lease, std::nothrow_t) {
    return detail::export_by(*owner_, detail::to_lease_ms(lease));
  }
#if MORTISE_HAS_EXCEPTIONS
  /** The throwing form: it throws every error as an exception. */
  template <class Count, class Period>
  [[nodiscard]] std::string export_id(std::chrono::duration<Count, Period> lease) {
    return detail::checked(export_id(lease, std::nothrow));
  }
#endif
  /** Starts `extend`, which ends in one event_kind::extended. */
  template <class Count, class Period>
  result<void> extend_async(queue &on, std::int64_t tag,
                            std::chrono::duration<Count, Period> lease) {
    mortise_error *filled = detail::error_of_thread();
    return detail::done(
        calls().extend_async(raw(), on.raw(), tag, detail::to_lease_ms(lease), filled), filled);
  }
  /**
   * Ends a waiting acquire of this handle, of any thread or queue, with status::cancelled.
   * @return
   * - status::ok: a wait was cancelled.
   * - status::not_waiting: nothing was waiting.
   * - status::closed: the handle or its client was freed.
   * - status::forked: called in a forked child.
   */
  status cancel() noexcept { return detail::to_status(calls().cancel(raw(), nullptr)); }
  /**
   * Cancels a wait as `cancel` does, and blocks every later acquire until a call with false.
   * @return
   * - status::ok: done, whether or not an acquire waited.
   * - status::closed: the handle or its client was freed.
   * - status::forked: called in a forked child.
   */
  status interrupt(bool is_on) noexcept { return detail::to_status(owner_->interrupt(is_on)); }
  /**
   * Names the task that later acquires of this handle belong to, for the option `deadlock`: a
   * number that is unique in this process, or 0 for none. See `mortise_lock_set_task`.
   * @return done, or an error:
   * - status::closed: the handle or its client was freed.
   * - status::forked: called in a forked child.
   * - status::invalid_argument: the number is negative.
   */
  result<void> set_task(std::int64_t task, std::nothrow_t) {
    mortise_error *filled = detail::error_of_thread();
    return detail::done(calls().set_task(raw(), task, filled), filled);
  }
#if MORTISE_HAS_EXCEPTIONS
  /** The throwing form: it throws every error as an exception. */
  void set_task(std::int64_t task) { detail::checked(set_task(task, std::nothrow)); }
#endif
  /**
   * Reports losses and risks as events on this queue, each with this tag, and with the option
   * `contended` that others wait. See `mortise_lock_watch` and `mortise_multi_watch`.
   * @return done, or an error:
   * - status::limit: the queue is full.
   * - status::shut_down: the queue was shut down.
   * - status::closed: the handle or its client was freed.
   * - status::forked: called in a forked child.
   * - status::invalid_argument: a multi without members.
   */
  result<void> watch(queue &on, std::int64_t tag) {
    mortise_error *filled = detail::error_of_thread();
    return detail::done(calls().watch(raw(), on.raw(), tag, filled), filled);
  }
  /** Ends the watch. */
  result<void> unwatch() {
    mortise_error *filled = detail::error_of_thread();
    return detail::done(calls().watch(raw(), nullptr, 0, filled), filled);
  }

  /** The owner, for the other headers. */
  const std::shared_ptr<detail::owner> &owner() const noexcept { return owner_; }

 protected:
  handle(const detail::kind &calls, void *raw)
      : owner_(std::make_shared<detail::owner>(calls, raw)) {}

  void *raw() const noexcept { return owner_->raw; }
  const detail::kind &calls() const noexcept { return owner_->calls; }

  /** Acquires by `call(filled)`, a function of C that waits for this time. */
  template <class Call>
  result<hold> acquire_by(const detail::mode &how, const timeout &wait, const Call &call) {
    mortise_error *filled = detail::error_of_thread();
    // This handle may be destroyed during the wait.
    const std::weak_ptr<detail::owner> observed = owner_;
    const auto code = detail::call_until(observed, wait, [&call, filled] { return call(filled); });
    if (code != MORTISE_OK) return unexpected(detail::error_from(code, filled));
    auto present = observed.lock();
    if (!present) return unexpected(error(status::closed, "the handle was freed meanwhile"));
    return hold(std::move(present), how);
  }
  result<hold> acquire_as(const detail::mode &how, const timeout &wait) {
    return acquire_by(how, wait,
                      [&](mortise_error *filled) { return how.acquire(raw(), wait.ms(), filled); });
  }
  result<hold> try_as(const detail::mode &how) {
    return acquire_by(how, {}, [&](mortise_error *filled) { return how.attempt(raw(), filled); });
  }
  /** Starts a call that ends in an event. */
  template <class Raw, class Call, class... Arguments>
  static result<void> begin(Call call, Raw *raw, queue &on, std::int64_t tag,
                            Arguments... arguments) {
    mortise_error *filled = detail::error_of_thread();
    return detail::done(call(raw, on.raw(), tag, arguments..., filled), filled);
  }
  result<void> unlock_as(const detail::mode &how) {
    mortise_error *filled = detail::error_of_thread();
    return detail::done(how.unlock(raw(), filled), filled);
  }
#if MORTISE_HAS_EXCEPTIONS
  /** The hold, or none if the lock was not granted. Other errors are thrown. */
  static hold held_or_none(result<hold> given) {
    if (!given && detail::is_denial(given.error().code())) return {};
    return detail::checked(std::move(given));
  }
  /** Acquires for a caller that unlocks by the handle, or throws. */
  void lock_as(const detail::mode &how) {
    mortise_error *filled = detail::error_of_thread();
    detail::checked(detail::done(wait_by({}, filled,
                                         [&](mortise_error *details) {
                                           return how.acquire(raw(), MORTISE_FOREVER, details);
                                         }),
                                 filled));
  }
  /** The same with a timeout. Returns whether it was acquired in time. */
  bool lock_as(const detail::mode &how, const timeout &wait) {
    mortise_error *filled = detail::error_of_thread();
    return is_acquired(
        wait_by(wait, filled,
                [&](mortise_error *details) { return how.acquire(raw(), wait.ms(), details); }),
        filled);
  }
  /** The same until this moment by its own clock, which may be slow or set back. */
  template <class Clock, class Duration>
  bool lock_as_until(const detail::mode &how, std::chrono::time_point<Clock, Duration> moment) {
    mortise_error *filled = detail::error_of_thread();
    // The rest is slept: a call with less time may end before the server's answer.
    constexpr std::chrono::seconds little{1};
    do {
      const timeout wait(moment);
      const auto code = wait_by(wait, filled, [&](mortise_error *details) {
        return how.acquire(raw(), wait.ms(), details);
      });
      if (code != MORTISE_TIMED_OUT) return is_acquired(code, filled);
    } while (moment - Clock::now() > little);
    for (auto now = Clock::now(); now < moment; now = Clock::now()) {
      std::this_thread::sleep_for(moment - now);
    }
    return false;
  }
  /** The same without waiting. */
  bool try_lock_as(const detail::mode &how) {
    mortise_error *filled = detail::error_of_thread();
    return is_acquired(
        wait_by({}, filled, [&](mortise_error *details) { return how.attempt(raw(), details); }),
        filled);
  }
#endif

 private:
  /** The status of an acquire in C. */
  template <class Call>
  mortise_status wait_by(const timeout &wait, mortise_error *filled, const Call &call) {
    return detail::call_until(owner_, wait, [&call, filled] { return call(filled); });
  }
#if MORTISE_HAS_EXCEPTIONS
  static bool is_acquired(mortise_status code, const mortise_error *filled) {
    if (code == MORTISE_OK) return true;
    if (detail::is_denial(detail::to_status(code))) return false;
    throw exception(detail::error_from(code, filled));
  }
#endif

  std::shared_ptr<detail::owner> owner_;
};

/** A handle of one name: every kind except a multi. */
class named_handle : public handle {
 public:
  /** The name that it was made with: any bytes, followed by a NUL. */
  std::string_view name() const noexcept {
    std::size_t size = 0;
    const char *name = calls().name(raw(), &size);
    return {name, size};
  }
  /** The fencing token of the last hold, also after its end. 0 before the first. */
  std::int64_t token() const noexcept { return calls().token(raw()); }
  /**
   * Asks the server for the holder and the waiters. To decide whether to act, use `is_held`.
   * @return the answer, or an error:
   * - status::unreachable: no connection in time.
   * - status::unknown: sent, but not answered in time.
   * - status::refused: the server refused the request.
   * - status::limit: too many requests are open.
   * - status::closed: the handle or its client was freed.
   * - status::forked: called in a forked child.
   * - status::no_memory: memory ran out.
   */
  result<info> query(std::nothrow_t) {
    info answer(mortise_info_new());
    mortise_error *filled = detail::error_of_thread();
    if (answer.raw() == nullptr) return unexpected(error(status::no_memory));
    const mortise_status code = calls().query(raw(), answer.raw(), filled);
    if (code != MORTISE_OK) return unexpected(detail::error_from(code, filled));
    return answer;
  }
  /**
   * Sets the value of the hold, or removes it with "". The errors are those of `hold::set_value`.
   */
  result<void> set_value(std::string_view value, std::nothrow_t) {
    mortise_error *filled = detail::error_of_thread();
    return detail::done(calls().set_value(raw(), value.data(), value.size(), filled), filled);
  }
  /** Starts `set_value`, which ends in one event_kind::value_set. */
  result<void> set_value_async(queue &on, std::int64_t tag, std::string_view value) {
    mortise_error *filled = detail::error_of_thread();
    return detail::done(
        calls().set_value_async(raw(), on.raw(), tag, value.data(), value.size(), filled), filled);
  }
  /**
   * Ends the hold of another owner at once. That hold is then lost, for reason::forced. See
   * `mortise_lock_force_release`.
   * @param owner the holder, from `info_entry::owner`.
   * @return done, or an error of `query`, and:
   * - status::not_owner: the owner did not hold it. Nothing changed.
   * - status::invalid_argument: an argument is out of range.
   */
  result<void> force_release(std::string_view owner, std::nothrow_t) {
    mortise_error *filled = detail::error_of_thread();
    return detail::done(calls().force_release(raw(), owner.data(), owner.size(), filled), filled);
  }
#if MORTISE_HAS_EXCEPTIONS
  /** The throwing form: it throws every error as an exception. */
  void set_value(std::string_view value) { detail::checked(set_value(value, std::nothrow)); }
  /** The throwing form: it throws every error as an exception. */
  void force_release(std::string_view owner) {
    detail::checked(force_release(owner, std::nothrow));
  }
  /** The throwing form: it throws every error as an exception. */
  info query() { return detail::checked(query(std::nothrow)); }
#endif

 protected:
  /** Continues an exported hold. `mode_of()` is the mode of the hold, once it is held. */
  template <class Mode>
  result<hold> adopt_by(std::string_view id, const Mode &mode_of) {
    mortise_error *filled = detail::error_of_thread();
    const mortise_status code = calls().adopt(raw(), id.data(), id.size(), filled);
    if (code != MORTISE_OK) return unexpected(detail::error_from(code, filled));
    return hold(owner(), mode_of());
  }
  using handle::handle;
};

namespace detail {

/** Makes a handle in C by `make(options, filled)`, with these options over the client's. */
template <class Raw, class Make>
result<Raw *> make_raw(client &of, const options &with, const Make &make) {
  mortise_error *filled = error_of_thread();
  raw_options whole;
  if (!with.is_empty()) {
    auto laid = with.over(mortise_options_new_from(of.raw(), filled), filled);
    if (!laid) return unexpected(laid.error());
    whole = *std::move(laid);
  }
  Raw *raw = make(whole.get(), filled);
  if (raw == nullptr) return unexpected(error_from_null(filled));
  return raw;
}

}  // namespace detail

}  // namespace MORTISE_CXX_NAMESPACE
}  // namespace mortise

#endif  // MORTISE_HANDLE_HPP
