/** What all kinds of handles can do. */
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
 * The base of `mutex`, `rw`, `semaphore` and `multi`: one owner. Two handles of one name exclude
 * each other, in one process, too. Move-only. Any thread may use it; who acquires or unlocks while
 * another thread does gets status::busy, so give each concurrent user a handle of its own. Its end
 * gives back what it holds without waiting for the answer, unless a `hold` of it lives on.
 *
 * Where a function has a form with std::nothrow, that gives the error as a value, and the other
 * throws it as an exception. Forms that end in `_async` end in one event on the queue, with the
 * tag, if they succeed.
 * @since 1.2
 */
class handle {
 public:
  handle(const handle &) = delete;
  handle &operator=(const handle &) = delete;
  handle(handle &&) noexcept = default;
  handle &operator=(handle &&) noexcept = default;
  ~handle() = default;

  /** How long what is held is still valid by the local clock; 0 when nothing is. @since 1.2 */
  std::chrono::milliseconds valid() const noexcept {
    return std::chrono::milliseconds(calls().valid_ms(raw()));
  }
  /** When it ends unless it is renewed before; the epoch when nothing is held. @since 1.2 */
  boot_clock::time_point deadline() const noexcept {
    return boot_clock::time_point(std::chrono::nanoseconds(calls().deadline_ns(raw())));
  }
  /** Makes what is held last at least this long from now; as `hold::extend`. @since 1.2 */
  template <class Count, class Period>
  result<void> extend(std::chrono::duration<Count, Period> lease, std::nothrow_t) {
    mortise_error *filled = detail::error_of_thread();
    return detail::done(calls().extend(raw(), detail::to_lease_ms(lease), filled), filled);
  }
#if MORTISE_HAS_EXCEPTIONS
  /** As above, throwing exception. @since 1.2 */
  template <class Count, class Period>
  void extend(std::chrono::duration<Count, Period> lease) {
    detail::checked(extend(lease, std::nothrow));
  }
#endif
  /** As `extend`, ending in one event_kind::extended. @since 1.2 */
  template <class Count, class Period>
  result<void> extend_async(queue &on, std::int64_t tag,
                            std::chrono::duration<Count, Period> lease) {
    mortise_error *filled = detail::error_of_thread();
    return detail::done(
        calls().extend_async(raw(), on.raw(), tag, detail::to_lease_ms(lease), filled), filled);
  }
  /**
   * Ends a waiting acquire of this handle, of any thread or queue, with status::cancelled.
   * @return status::ok; status::not_owner when nothing was waiting; status::closed, status::forked.
   * @since 1.2
   */
  status cancel() noexcept { return detail::to_status(calls().cancel(raw(), nullptr)); }
  /**
   * Ends a wait as `cancel`, and keeps every acquire from beginning until it is called with false.
   * @return status::ok, whether or not something waited; status::closed, status::forked.
   * @since 1.2
   */
  status interrupt(bool is_on) noexcept {
    owner_->is_interrupted = is_on;
    return detail::to_status(calls().interrupt(raw(), is_on ? 1 : 0, nullptr));
  }
  /**
   * From now on losses and risks are events on this queue, each with this tag; see
   * `mortise_lock_watch`, and `mortise_multi_watch`.
   * @return done; or status::limit, status::shut_down, status::closed, status::forked,
   *   status::invalid_argument.
   * @since 1.2
   */
  result<void> watch(queue &on, std::int64_t tag) {
    mortise_error *filled = detail::error_of_thread();
    return detail::done(calls().watch(raw(), on.raw(), tag, filled), filled);
  }
  /** Ends the watch. @since 1.2 */
  result<void> unwatch() {
    mortise_error *filled = detail::error_of_thread();
    return detail::done(calls().watch(raw(), nullptr, 0, filled), filled);
  }

  /** For the other headers. */
  const std::shared_ptr<detail::owner> &owner() const noexcept { return owner_; }

 protected:
  handle(const detail::kind &calls, void *raw)
      : owner_(std::make_shared<detail::owner>(calls, raw)) {}

  void *raw() const noexcept { return owner_->raw; }
  const detail::kind &calls() const noexcept { return owner_->calls; }

  /** An acquire: `call(filled)` is C's, which waits for so long. */
  template <class Call>
  result<hold> acquire_by(const detail::mode &how, const timeout &wait, const Call &call) {
    mortise_error *filled = detail::error_of_thread();
    const mortise_status code = wait_by(wait, filled, call);
    if (code != MORTISE_OK) return unexpected(detail::error_from(code, filled));
    return hold(owner_, how);
  }
  result<hold> acquire_as(const detail::mode &how, const timeout &wait) {
    return acquire_by(how, wait,
                      [&](mortise_error *filled) { return how.acquire(raw(), wait.ms(), filled); });
  }
  result<hold> try_as(const detail::mode &how) {
    return acquire_by(how, {}, [&](mortise_error *filled) { return how.attempt(raw(), filled); });
  }
  /** A call that ends in an event. */
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
  /** The hold, none if the lock was not to be had; other errors are thrown. */
  static hold held_or_none(result<hold> given) {
    if (!given && detail::is_denial(given.error().code())) return {};
    return detail::checked(std::move(given));
  }
  /** For who unlocks by the handle: it is acquired, or an exception is thrown. */
  void lock_as(const detail::mode &how) {
    mortise_error *filled = detail::error_of_thread();
    detail::checked(detail::done(wait_by({}, filled,
                                         [&](mortise_error *details) {
                                           return how.acquire(raw(), MORTISE_FOREVER, details);
                                         }),
                                 filled));
  }
  /** The same: whether it was acquired within this time. */
  bool lock_as(const detail::mode &how, const timeout &wait) {
    mortise_error *filled = detail::error_of_thread();
    return is_acquired(
        wait_by(wait, filled,
                [&](mortise_error *details) { return how.acquire(raw(), wait.ms(), details); }),
        filled);
  }
  /** The same, until this moment by its own clock, which may be slow or be set back. */
  template <class Clock, class Duration>
  bool lock_as_until(const detail::mode &how, std::chrono::time_point<Clock, Duration> moment) {
    mortise_error *filled = detail::error_of_thread();
    // So little is waited out: a call that ends sooner may not have the server's answer.
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
  /** The same, without waiting. */
  bool try_lock_as(const detail::mode &how) {
    mortise_error *filled = detail::error_of_thread();
    return is_acquired(
        wait_by({}, filled, [&](mortise_error *details) { return how.attempt(raw(), details); }),
        filled);
  }
#endif

 private:
  /** What an acquire came to in C. */
  template <class Call>
  mortise_status wait_by(const timeout &wait, mortise_error *filled, const Call &call) {
    return detail::call_until(*owner_, wait, [&call, filled] { return call(filled); });
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

/** A handle of one name: all but a multi. @since 1.2 */
class named_handle : public handle {
 public:
  /** The name that it was made with: any bytes, with a NUL behind them. @since 1.2 */
  std::string_view name() const noexcept {
    std::size_t size = 0;
    const char *name = calls().name(raw(), &size);
    return {name, size};
  }
  /** The fencing token of the last hold, also after its end; 0 before the first. @since 1.2 */
  std::int64_t token() const noexcept { return calls().token(raw()); }
  /**
   * Asks the server who holds the lock and who waits. To decide whether to act, ask `is_held`.
   * @return the answer; or status::unreachable, status::unknown, status::refused, status::limit,
   *   status::closed, status::forked, status::no_memory.
   * @since 1.2
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
   * Ends somebody else's hold at once, which is lost then, for reason::forced; see
   * `mortise_lock_force_release`.
   * @param owner as `info::entry::owner` says.
   * @return status::not_owner: it does not hold it, or not any more. Else as `query`.
   * @since 1.2
   */
  result<void> force_release(std::string_view owner, std::nothrow_t) {
    mortise_error *filled = detail::error_of_thread();
    return detail::done(calls().force_release(raw(), owner.data(), owner.size(), filled), filled);
  }
#if MORTISE_HAS_EXCEPTIONS
  /** As above, throwing exception. @since 1.2 */
  void force_release(std::string_view owner) {
    detail::checked(force_release(owner, std::nothrow));
  }
  /** As above, throwing exception. @since 1.2 */
  info query() { return detail::checked(query(std::nothrow)); }
#endif

 protected:
  using handle::handle;
};

namespace detail {

/** Makes a handle in C, with the options laid over the client's: `make(options, filled)`. */
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
