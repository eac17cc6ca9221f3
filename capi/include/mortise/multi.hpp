/** Several locks that are acquired all or none. */
#ifndef MORTISE_MULTI_HPP
#define MORTISE_MULTI_HPP

#include "lock.hpp"
#include "rw.hpp"
#include "semaphore.hpp"

namespace mortise {
inline namespace MORTISE_CXX_NAMESPACE {

namespace detail {

inline constexpr kind multi_kind = {erased<mortise_multi_free>::call,
                                    erased<mortise_multi_extend>::call,
                                    erased<mortise_multi_extend_async>::call,
                                    erased<mortise_multi_progress>::call,
                                    erased<mortise_multi_cancel>::call,
                                    erased<mortise_multi_interrupt>::call,
                                    erased<mortise_multi_set_task>::call,
                                    erased<mortise_multi_watch>::call,
                                    erased<mortise_multi_valid_ms>::call,
                                    erased<mortise_multi_deadline_ns>::call,
                                    erased<mortise_multi_hold_number>::call,
                                    nullptr,
                                    nullptr,
                                    nullptr,
                                    nullptr,
                                    nullptr,
                                    nullptr,
                                    nullptr,
                                    nullptr};

inline constexpr mode multi_mode = {erased<mortise_multi_try>::call,
                                    erased<mortise_multi_acquire>::call,
                                    erased<mortise_multi_unlock>::call,
                                    erased<mortise_multi_unlock_hold>::call,
                                    erased<mortise_multi_unlock_hold_async>::call,
                                    erased<mortise_multi_is_held>::call,
                                    nullptr,
                                    nullptr,
                                    nullptr};

}  // namespace detail

/**
 * Several locks of one client that are acquired all or none. They may be of any kind, each name
 * once. `handle` describes what all handles have. Two multis with common names cannot deadlock.
 * Members stay usable by themselves, and the multi keeps them alive. It is TimedLockable as `mutex`
 * is.
 */
class multi : public handle {
 public:
#if MORTISE_HAS_EXCEPTIONS
  /** Makes a multi without members. It throws every error of `make`. */
  explicit multi(client &of) : multi(detail::checked(make(of))) {}
#endif
  /**
   * Makes a multi without members.
   * @return the multi, or an error:
   * - status::closed: the handle or its client was freed.
   * - status::forked: called in a forked child.
   * - status::no_memory: memory ran out.
   * - status::invalid_argument: the client was moved from.
   */
  static result<multi> make(client &of) {
    mortise_error *filled = detail::error_of_thread();
    mortise_multi *raw = mortise_multi_new(of.raw(), filled);
    if (raw == nullptr) return unexpected(detail::error_from_null(filled));
    return multi(raw);
  }

  /**
   * Adds a mutex.
   * @return done, or an error:
   * - status::invalid_argument: the handle is of another client, or its name is a member already.
   * - status::busy: the multi is held, or a call on it is running.
   * - status::limit: the multi has MORTISE_MAX_MEMBERS members.
   * - status::forked: called in a forked child.
   */
  result<void> add(const mutex &member, std::nothrow_t) {
    return add_as(member, mortise_multi_add_lock, member.lock_raw());
  }
  /** Adds a read-write lock that the multi acquires to read. */
  result<void> add_reader(const rw &member, std::nothrow_t) {
    return add_as(member, mortise_multi_add_reader, member.rw_raw());
  }
  /** Adds a read-write lock that the multi acquires to write. */
  result<void> add_writer(const rw &member, std::nothrow_t) {
    return add_as(member, mortise_multi_add_writer, member.rw_raw());
  }
  /** Adds a semaphore, of which the multi acquires `permits`. */
  result<void> add(const semaphore &member, std::int64_t permits, std::nothrow_t) {
    return add_as(member, mortise_multi_add_semaphore, member.semaphore_raw(), permits);
  }
  /**
   * Acquires all members and waits for the turn of each. The timeout is for all together. Unless it
   * succeeds, none is held.
   * @return the hold, or an error of `mutex::acquire` with a message that names the member, and:
   * - status::lost: a member's lease ended while the others were acquired.
   * - status::invalid_argument: the multi has no members.
   */
  result<hold> acquire(const timeout &wait, std::nothrow_t) {
    return acquire_as(detail::multi_mode, wait);
  }
  /** Acquires all members if all are free, within command_timeout. */
  result<hold> try_acquire(std::nothrow_t) { return try_as(detail::multi_mode); }
#if MORTISE_HAS_EXCEPTIONS
  /** The throwing form: it throws every error as an exception. */
  void add(const mutex &member) { detail::checked(add(member, std::nothrow)); }
  /** The throwing form: it throws every error as an exception. */
  void add_reader(const rw &member) { detail::checked(add_reader(member, std::nothrow)); }
  /** The throwing form: it throws every error as an exception. */
  void add_writer(const rw &member) { detail::checked(add_writer(member, std::nothrow)); }
  /** The throwing form: it throws every error as an exception. */
  void add(const semaphore &member, std::int64_t permits = 1) {
    detail::checked(add(member, permits, std::nothrow));
  }
  /**
   * The throwing form: no hold on the same statuses as `mutex::acquire`. Waits without end by
   * default.
   */
  [[nodiscard]] hold acquire(const timeout &wait = {}) {
    return held_or_none(acquire(wait, std::nothrow));
  }
  /** The throwing form: no hold if a member is not free. It throws other errors. */
  [[nodiscard]] hold try_acquire() { return held_or_none(try_acquire(std::nothrow)); }

  /** Acquires all members for a caller that unlocks by this handle. It throws every error. */
  void lock() { lock_as(detail::multi_mode); }
  /** Whether all members were free and are now held. It throws other errors. */
  [[nodiscard]] bool try_lock() { return try_lock_as(detail::multi_mode); }
  /** Acquires within this time. False if the time passed. It throws other errors. */
  template <class Count, class Period>
  [[nodiscard]] bool try_lock_for(std::chrono::duration<Count, Period> given) {
    return lock_as(detail::multi_mode, given);
  }
  /** Acquires until the clock reaches this moment. False if it did. It throws other errors. */
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(std::chrono::time_point<Clock, Duration> moment) {
    return lock_as_until(detail::multi_mode, moment);
  }
#endif
  /** Unlocks all members, and ignores the result. */
  void unlock() noexcept { mortise_multi_unlock(multi_raw(), nullptr); }
  /** Unlocks all members. status::lost if one was lost before, otherwise the first failure. */
  result<void> unlock(std::nothrow_t) { return unlock_as(detail::multi_mode); }
  /** Whether all members are held by the local clock. */
  bool is_held() const noexcept { return mortise_multi_is_held(multi_raw()) != 0; }
  /** The number of members. */
  std::int64_t member_count() const noexcept { return mortise_multi_member_count(multi_raw()); }
  /** The present hold of this multi as an object, for use after event_kind::acquired. */
  [[nodiscard]] hold adopt() { return {owner(), detail::multi_mode}; }

  /** Starts `acquire`, which ends in one event_kind::acquired without a token. */
  result<void> acquire_async(queue &on, std::int64_t tag, const timeout &wait = {}) {
    return begin(mortise_multi_acquire_async, multi_raw(), on, tag, wait.ms());
  }
  /** Starts `try_acquire`, which ends in one event_kind::acquired without a token. */
  result<void> try_acquire_async(queue &on, std::int64_t tag) {
    return begin(mortise_multi_try_async, multi_raw(), on, tag);
  }
  /** Starts `unlock`, which ends in one event_kind::unlocked. */
  result<void> unlock_async(queue &on, std::int64_t tag) {
    return begin(mortise_multi_unlock_async, multi_raw(), on, tag);
  }

  /** The multi for C functions. */
  mortise_multi *multi_raw() const noexcept { return static_cast<mortise_multi *>(raw()); }

 private:
  explicit multi(mortise_multi *raw) : handle(detail::multi_kind, raw) {}

  template <class Member, class Add, class... Arguments>
  result<void> add_as(const Member &member, Add call, Arguments... arguments) {
    mortise_error *filled = detail::error_of_thread();
    auto kept = member.owner();
    const mortise_status code = call(multi_raw(), arguments..., filled);
    if (code == MORTISE_OK) owner()->members.push_back(std::move(kept));
    return detail::done(code, filled);
  }
};

}  // namespace MORTISE_CXX_NAMESPACE
}  // namespace mortise

#endif  // MORTISE_MULTI_HPP
