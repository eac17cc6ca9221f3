/** A named mutex. */
#ifndef MORTISE_LOCK_HPP
#define MORTISE_LOCK_HPP

#include "handle.hpp"

namespace mortise {
inline namespace MORTISE_CXX_NAMESPACE {

namespace detail {

inline constexpr kind lock_kind = {
    erased<mortise_lock_free>::call,         erased<mortise_lock_extend>::call,
    erased<mortise_lock_extend_async>::call, erased<mortise_lock_cancel>::call,
    erased<mortise_lock_interrupt>::call,    erased<mortise_lock_watch>::call,
    erased<mortise_lock_valid_ms>::call,     erased<mortise_lock_deadline_ns>::call,
    erased<mortise_lock_hold_number>::call,  erased<mortise_lock_name>::call,
    erased<mortise_lock_token>::call,        erased<mortise_lock_query>::call,
    erased<mortise_lock_force_release>::call};

inline constexpr mode lock_mode = {erased<mortise_lock_try>::call,
                                   erased<mortise_lock_acquire>::call,
                                   erased<mortise_lock_unlock>::call,
                                   erased<mortise_lock_unlock_hold>::call,
                                   erased<mortise_lock_unlock_hold_async>::call,
                                   erased<mortise_lock_is_held>::call,
                                   nullptr,
                                   nullptr,
                                   nullptr};

}  // namespace detail

/**
 * One owner of one named mutex; see `handle` for what all handles have. `mortise::lock` is its
 * other name, as a class cannot have a function of its own name.
 *
 * It is TimedLockable, for std::unique_lock and std::scoped_lock, as far as that can be honest: a
 * lock of the process cannot be lost, and has no fencing token, which are what `acquire` is for.
 * Lockable's `unlock` tells nobody that the hold had been lost. So ask `is_held` before what
 * counts, or unlock by `unlock(std::nothrow)`. It belongs to no thread.
 * @since 1.2
 */
class mutex : public named_handle {
 public:
#if MORTISE_HAS_EXCEPTIONS
  /** As `make`, throwing exception. @since 1.2 */
  mutex(client &of, std::string_view name, const options &with = {})
      : mutex(detail::checked(make(of, name, with))) {}
#endif
  /**
   * Makes a new owner of the mutex of this name. Nothing is sent.
   * @param name any bytes, 1 to MORTISE_MAX_NAME_LEN of them.
   * @param with laid over the client's.
   * @return the handle; or status::invalid_argument, status::closed, status::forked,
   *   status::unsupported, status::no_memory.
   * @since 1.2
   */
  static result<mutex> make(client &of, std::string_view name, const options &with = {}) {
    const auto raw = detail::make_raw<mortise_lock>(
        of, with, [&](const mortise_options *whole, mortise_error *filled) {
          return mortise_lock_new(of.raw(), name.data(), name.size(), whole, filled);
        });
    if (!raw) return unexpected(raw.error());
    return mutex(*raw);
  }

  /**
   * Acquires it, waiting for its turn in the order of arrival.
   * @param wait how long, and until which stop.
   * @return the hold; or status::timed_out, status::cancelled, status::not_acquired (with 0),
   *   status::already_held, status::busy, status::lost (a reentrant handle's hold was lost; unlock
   *   it first), status::unreachable, status::unknown (it is being given back), status::refused,
   *   status::closed, status::forked, status::limit.
   * @since 1.2
   */
  result<hold> acquire(const timeout &wait, std::nothrow_t) {
    return acquire_as(detail::lock_mode, wait);
  }
  /** Acquires it if it is free, within command_timeout; else as `acquire`. @since 1.2 */
  result<hold> try_acquire(std::nothrow_t) { return try_as(detail::lock_mode); }
#if MORTISE_HAS_EXCEPTIONS
  /**
   * As above: no hold on status::not_acquired, status::timed_out and status::cancelled; all other
   * errors are thrown. Without a timeout it waits for ever.
   * @since 1.2
   */
  [[nodiscard]] hold acquire(const timeout &wait = {}) {
    return held_or_none(acquire(wait, std::nothrow));
  }
  /** As above. @since 1.2 */
  [[nodiscard]] hold try_acquire() { return held_or_none(try_acquire(std::nothrow)); }

  /** As `acquire`, for who unlocks by this handle; all errors are thrown. @since 1.2 */
  void lock() { lock_as(detail::lock_mode); }
  /** Whether it was free, and is held now; other errors are thrown. @since 1.2 */
  [[nodiscard]] bool try_lock() { return try_lock_as(detail::lock_mode); }
  /** As `acquire`: false at the end of the time. @since 1.2 */
  template <class Count, class Period>
  [[nodiscard]] bool try_lock_for(std::chrono::duration<Count, Period> given) {
    return lock_as(detail::lock_mode, given);
  }
  /** The same: false when its clock has reached this moment. @since 1.2 */
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(std::chrono::time_point<Clock, Duration> moment) {
    return lock_as_until(detail::lock_mode, moment);
  }
#endif
  /** Unlocks what this handle holds, whatever became of it. @since 1.2 */
  void unlock() noexcept { mortise_lock_unlock(lock_raw(), nullptr); }
  /** The same, telling what became of it: as `hold::unlock`. @since 1.2 */
  result<void> unlock(std::nothrow_t) { return unlock_as(detail::lock_mode); }
  /** Whether this handle holds it by the local clock. It costs no network. @since 1.2 */
  bool is_held() const noexcept { return mortise_lock_is_held(lock_raw()) != 0; }
  /** Takes charge of what this handle holds, as after event_kind::acquired. @since 1.2 */
  [[nodiscard]] hold adopt() { return {owner(), detail::lock_mode}; }

  /** As `acquire`, ending in one event_kind::acquired. @since 1.2 */
  result<void> acquire_async(queue &on, std::int64_t tag, const timeout &wait = {}) {
    return begin(mortise_lock_acquire_async, lock_raw(), on, tag, wait.ms());
  }
  /** As `try_acquire`, ending in one event_kind::acquired. @since 1.2 */
  result<void> try_acquire_async(queue &on, std::int64_t tag) {
    return begin(mortise_lock_try_async, lock_raw(), on, tag);
  }
  /** As `unlock`, ending in one event_kind::unlocked. The hold ends now. @since 1.2 */
  result<void> unlock_async(queue &on, std::int64_t tag) {
    return begin(mortise_lock_unlock_async, lock_raw(), on, tag);
  }

  /** For the C functions. @since 1.2 */
  mortise_lock *lock_raw() const noexcept { return static_cast<mortise_lock *>(raw()); }

 private:
  explicit mutex(mortise_lock *raw) : named_handle(detail::lock_kind, raw) {}
};

/** The name that it has in C and in the other languages. @since 1.2 */
using lock = mutex;

}  // namespace MORTISE_CXX_NAMESPACE
}  // namespace mortise

#endif  // MORTISE_LOCK_HPP
