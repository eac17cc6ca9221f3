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
                                    erased<mortise_multi_cancel>::call,
                                    erased<mortise_multi_interrupt>::call,
                                    erased<mortise_multi_watch>::call,
                                    erased<mortise_multi_valid_ms>::call,
                                    erased<mortise_multi_deadline_ns>::call,
                                    erased<mortise_multi_hold_number>::call,
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
 * Several locks of one client that are acquired all or none, whatever their kinds, each name once;
 * see `handle` for what all handles have. Two multis with common names cannot deadlock. Members
 * stay usable by themselves, and are kept alive by it. It is TimedLockable as `mutex` is.
 * @since 1.2
 */
class multi : public handle {
 public:
#if MORTISE_HAS_EXCEPTIONS
  /** As `make`, throwing exception. @since 1.2 */
  explicit multi(client &of) : multi(detail::checked(make(of))) {}
#endif
  /**
   * Makes one without members.
   * @return the multi; or status::closed, status::forked, status::no_memory,
   *   status::invalid_argument.
   * @since 1.2
   */
  static result<multi> make(client &of) {
    mortise_error *filled = detail::error_of_thread();
    mortise_multi *raw = mortise_multi_new(of.raw(), filled);
    if (raw == nullptr) return unexpected(detail::error_from_null(filled));
    return multi(raw);
  }

  /**
   * Adds a mutex.
   * @return done; status::invalid_argument for a handle of another client or a name that is a
   *   member already; status::busy while the multi is held or at work; status::limit beyond
   *   MORTISE_MAX_MEMBERS; status::forked.
   * @since 1.2
   */
  result<void> add(const mutex &member, std::nothrow_t) {
    return add_as(member, mortise_multi_add_lock, member.lock_raw());
  }
  /** Adds a read-write lock that is acquired to read. @since 1.2 */
  result<void> add_reader(const rw &member, std::nothrow_t) {
    return add_as(member, mortise_multi_add_reader, member.rw_raw());
  }
  /** Adds a read-write lock that is acquired to write. @since 1.2 */
  result<void> add_writer(const rw &member, std::nothrow_t) {
    return add_as(member, mortise_multi_add_writer, member.rw_raw());
  }
  /** Adds so many permits of a semaphore. @since 1.2 */
  result<void> add(const semaphore &member, std::int64_t weight, std::nothrow_t) {
    return add_as(member, mortise_multi_add_semaphore, member.semaphore_raw(), weight);
  }
  /**
   * Acquires all members, waiting for each one's turn; the timeout is for all together.
   * @return as `mutex::acquire`, with a message that names the member; status::lost: a member's
   *   lease ended while the others were acquired; status::invalid_argument without members. Without
   *   a hold none is held.
   * @since 1.2
   */
  result<hold> acquire(const timeout &wait, std::nothrow_t) {
    return acquire_as(detail::multi_mode, wait);
  }
  /** Acquires all members if all are free, within command_timeout. @since 1.2 */
  result<hold> try_acquire(std::nothrow_t) { return try_as(detail::multi_mode); }
#if MORTISE_HAS_EXCEPTIONS
  /** As above, throwing exception. @since 1.2 */
  void add(const mutex &member) { detail::checked(add(member, std::nothrow)); }
  /** As above, throwing exception. @since 1.2 */
  void add_reader(const rw &member) { detail::checked(add_reader(member, std::nothrow)); }
  /** As above, throwing exception. @since 1.2 */
  void add_writer(const rw &member) { detail::checked(add_writer(member, std::nothrow)); }
  /** As above, throwing exception. @since 1.2 */
  void add(const semaphore &member, std::int64_t weight = 1) {
    detail::checked(add(member, weight, std::nothrow));
  }
  /** As above, for ever unless told otherwise: no hold as of `mutex::acquire`. @since 1.2 */
  [[nodiscard]] hold acquire(const timeout &wait = {}) {
    return held_or_none(acquire(wait, std::nothrow));
  }
  /** As above. @since 1.2 */
  [[nodiscard]] hold try_acquire() { return held_or_none(try_acquire(std::nothrow)); }

  /** As `acquire`, for who unlocks by this; all errors are thrown. @since 1.2 */
  void lock() { lock_as(detail::multi_mode); }
  /** Whether all were free, and are held now; other errors are thrown. @since 1.2 */
  [[nodiscard]] bool try_lock() { return try_lock_as(detail::multi_mode); }
  /** As `acquire`: false at the end of the time. @since 1.2 */
  template <class Count, class Period>
  [[nodiscard]] bool try_lock_for(std::chrono::duration<Count, Period> given) {
    return lock_as(detail::multi_mode, given);
  }
  /** The same: false when its clock has reached this moment. @since 1.2 */
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(std::chrono::time_point<Clock, Duration> moment) {
    return lock_as_until(detail::multi_mode, moment);
  }
#endif
  /** Unlocks all members, whatever became of them. @since 1.2 */
  void unlock() noexcept { mortise_multi_unlock(multi_raw(), nullptr); }
  /** The same: status::lost if one had been lost, otherwise the first failure. @since 1.2 */
  result<void> unlock(std::nothrow_t) { return unlock_as(detail::multi_mode); }
  /** Whether all members are held by the local clock. @since 1.2 */
  bool is_held() const noexcept { return mortise_multi_is_held(multi_raw()) != 0; }
  /** How many members it has. @since 1.2 */
  std::int64_t member_count() const noexcept { return mortise_multi_member_count(multi_raw()); }
  /** Takes charge of what this holds, as after event_kind::acquired. @since 1.2 */
  [[nodiscard]] hold adopt() { return {owner(), detail::multi_mode}; }

  /** As `acquire`, ending in one event_kind::acquired, without a token. @since 1.2 */
  result<void> acquire_async(queue &on, std::int64_t tag, const timeout &wait = {}) {
    return begin(mortise_multi_acquire_async, multi_raw(), on, tag, wait.ms());
  }
  /** As `try_acquire`, ending in one event_kind::acquired. @since 1.2 */
  result<void> try_acquire_async(queue &on, std::int64_t tag) {
    return begin(mortise_multi_try_async, multi_raw(), on, tag);
  }
  /** As `unlock`, ending in one event_kind::unlocked. @since 1.2 */
  result<void> unlock_async(queue &on, std::int64_t tag) {
    return begin(mortise_multi_unlock_async, multi_raw(), on, tag);
  }

  /** For the C functions. @since 1.2 */
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
