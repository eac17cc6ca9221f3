/** A named mutex. */
#ifndef MORTISE_LOCK_HPP
#define MORTISE_LOCK_HPP

#include "handle.hpp"

namespace mortise {
inline namespace MORTISE_CXX_NAMESPACE {

namespace detail {

inline constexpr kind lock_kind = {erased<mortise_lock_free>::call,
                                   erased<mortise_lock_extend>::call,
                                   erased<mortise_lock_extend_async>::call,
                                   erased<mortise_lock_progress>::call,
                                   erased<mortise_lock_cancel>::call,
                                   erased<mortise_lock_interrupt>::call,
                                   erased<mortise_lock_set_task>::call,
                                   erased<mortise_lock_watch>::call,
                                   erased<mortise_lock_valid_ms>::call,
                                   erased<mortise_lock_deadline_ns>::call,
                                   erased<mortise_lock_hold_number>::call,
                                   erased<mortise_lock_name>::call,
                                   erased<mortise_lock_token>::call,
                                   erased<mortise_lock_query>::call,
                                   erased<mortise_lock_force_release>::call,
                                   erased<mortise_lock_set_value>::call,
                                   erased<mortise_lock_set_value_async>::call,
                                   erased<mortise_lock_export>::call,
                                   erased<mortise_lock_adopt>::call};

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
 * One owner of one named mutex. `handle` describes what all handles have. `mortise::lock` is
 * another name of this class, because a class cannot have a function of its own name.
 *
 * It is TimedLockable, for std::unique_lock and std::scoped_lock. Unlike a lock of the process,
 * this one can be lost and has a fencing token. `acquire` reports both, but `lock` and `unlock` of
 * Lockable cannot. So check `is_held` before critical work, or unlock by `unlock(std::nothrow)`.
 * The mutex belongs to no thread.
 */
class mutex : public named_handle {
 public:
#if MORTISE_HAS_EXCEPTIONS
  /** Makes a new owner of the mutex of this name. It throws every error of `make`. */
  mutex(client &of, std::string_view name, const options &with = {})
      : mutex(detail::checked(make(of, name, with))) {}
#endif
  /**
   * Makes a new owner of the mutex of this name. It sends nothing.
   * @param name any bytes, 1 to MORTISE_MAX_NAME_LEN of them.
   * @param with settings that override the client's.
   * @return the handle, or an error:
   * - status::invalid_argument: an argument or an option is wrong.
   * - status::unsupported: this kind of lock lacks the option's protocol.
   * - status::closed: the handle or its client was freed.
   * - status::forked: called in a forked child.
   * - status::no_memory: memory ran out.
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
   * Acquires the lock and waits for its turn, in the order of arrival.
   * @param wait how long to wait, and the stop that ends the wait.
   * @return the hold, or an error:
   * - status::not_acquired: another owner holds it, and `wait` is 0.
   * - status::timed_out: the timeout passed.
   * - status::deadlock: the wait was in a deadlock, and the handle has the option `deadlock`.
   * - status::cancelled: cancelled, interrupted or stopped.
   * - status::already_held: this handle holds it and is not reentrant.
   * - status::busy: another call on this handle is acquiring or unlocking.
   * - status::lost: a reentrant handle lost its hold. Unlock it first.
   * - status::unreachable: no connection in time.
   * - status::unknown: sent, but not answered in time. The client releases a possible hold.
   * - status::refused: the server refused the request.
   * - status::limit: too many requests are open.
   * - status::closed: the handle or its client was freed.
   * - status::forked: called in a forked child.
   */
  result<hold> acquire(const timeout &wait, std::nothrow_t) {
    return acquire_as(detail::lock_mode, wait);
  }
  /** Acquires the lock if it is free, within command_timeout. The errors are those of `acquire`. */
  result<hold> try_acquire(std::nothrow_t) { return try_as(detail::lock_mode); }
#if MORTISE_HAS_EXCEPTIONS
  /**
   * The throwing form: no hold on status::not_acquired, status::timed_out and status::cancelled. It
   * throws other errors. Without a timeout it waits without end.
   */
  [[nodiscard]] hold acquire(const timeout &wait = {}) {
    return held_or_none(acquire(wait, std::nothrow));
  }
  /** The throwing form: no hold if the lock is not free. It throws other errors. */
  [[nodiscard]] hold try_acquire() { return held_or_none(try_acquire(std::nothrow)); }

  /** Acquires for a caller that unlocks by this handle. It throws every error. */
  void lock() { lock_as(detail::lock_mode); }
  /** Whether the lock was free and is now held. It throws other errors. */
  [[nodiscard]] bool try_lock() { return try_lock_as(detail::lock_mode); }
  /** Acquires within this time. False if the time passed. It throws other errors. */
  template <class Count, class Period>
  [[nodiscard]] bool try_lock_for(std::chrono::duration<Count, Period> given) {
    return lock_as(detail::lock_mode, given);
  }
  /** Acquires until the clock reaches this moment. False if it did. It throws other errors. */
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(std::chrono::time_point<Clock, Duration> moment) {
    return lock_as_until(detail::lock_mode, moment);
  }
#endif
  /** Unlocks, and ignores the result. */
  void unlock() noexcept { mortise_lock_unlock(lock_raw(), nullptr); }
  /** Unlocks. The errors are those of `hold::unlock`. */
  result<void> unlock(std::nothrow_t) { return unlock_as(detail::lock_mode); }
  /** Whether this handle holds the lock by the local clock. It sends nothing. */
  bool is_held() const noexcept { return mortise_lock_is_held(lock_raw()) != 0; }
  /**
   * Continues an exported hold with this handle. See `mortise_lock_adopt`.
   * @param id the text of `hold::export_id`, of a lock of this name and kind.
   * @return the hold, or an error of `mutex::acquire`, and:
   * - status::not_owner: the exported hold has ended, or another handle has adopted it.
   * - status::unsupported: the option `protocol`, or `redlock:`, has no holds by id.
   * - status::invalid_argument: the id was changed, or is of another lock, kind or namespace.
   */
  result<hold> adopt_id(std::string_view id, std::nothrow_t) {
    return adopt_by(id, [&]() -> const detail::mode & { return detail::lock_mode; });
  }
#if MORTISE_HAS_EXCEPTIONS
  /** The throwing form: it throws every error as an exception. */
  [[nodiscard]] hold adopt_id(std::string_view id) {
    return detail::checked(adopt_id(id, std::nothrow));
  }
#endif
  /** The present hold of this handle as an object, for use after event_kind::acquired. */
  [[nodiscard]] hold adopt() { return {owner(), detail::lock_mode}; }

  /** Starts `acquire`, which ends in one event_kind::acquired. */
  result<void> acquire_async(queue &on, std::int64_t tag, const timeout &wait = {}) {
    return begin(mortise_lock_acquire_async, lock_raw(), on, tag, wait.ms());
  }
  /** Starts `try_acquire`, which ends in one event_kind::acquired. */
  result<void> try_acquire_async(queue &on, std::int64_t tag) {
    return begin(mortise_lock_try_async, lock_raw(), on, tag);
  }
  /** Starts `unlock`, which ends in one event_kind::unlocked. The hold ends now. */
  result<void> unlock_async(queue &on, std::int64_t tag) {
    return begin(mortise_lock_unlock_async, lock_raw(), on, tag);
  }

  /** The handle for C functions. */
  mortise_lock *lock_raw() const noexcept { return static_cast<mortise_lock *>(raw()); }

 private:
  explicit mutex(mortise_lock *raw) : named_handle(detail::lock_kind, raw) {}
};

/** The name of this class in C and in the other languages. */
using lock = mutex;

}  // namespace MORTISE_CXX_NAMESPACE
}  // namespace mortise

#endif  // MORTISE_LOCK_HPP
