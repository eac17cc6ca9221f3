/** A named read-write lock. */
#ifndef MORTISE_RW_HPP
#define MORTISE_RW_HPP

#include "handle.hpp"

namespace mortise {
inline namespace MORTISE_CXX_NAMESPACE {

namespace detail {

inline constexpr kind rw_kind = {
    erased<mortise_rw_free>::call,         erased<mortise_rw_extend>::call,
    erased<mortise_rw_extend_async>::call, erased<mortise_rw_cancel>::call,
    erased<mortise_rw_interrupt>::call,    erased<mortise_rw_watch>::call,
    erased<mortise_rw_valid_ms>::call,     erased<mortise_rw_deadline_ns>::call,
    erased<mortise_rw_hold_number>::call,  erased<mortise_rw_name>::call,
    erased<mortise_rw_token>::call,        erased<mortise_rw_query>::call,
    erased<mortise_rw_force_release>::call};

/** Reading and writing, which change into each other. */
struct rw_modes {
  static const mode reading, writing;
};
inline constexpr mode rw_modes::reading = {erased<mortise_rw_read_try>::call,
                                           erased<mortise_rw_read_acquire>::call,
                                           erased<mortise_rw_read_unlock>::call,
                                           erased<mortise_rw_read_unlock_hold>::call,
                                           erased<mortise_rw_read_unlock_hold_async>::call,
                                           erased<mortise_rw_is_reading>::call,
                                           erased<mortise_rw_upgrade_try>::call,
                                           erased<mortise_rw_downgrade>::call,
                                           &rw_modes::writing};
inline constexpr mode rw_modes::writing = {erased<mortise_rw_write_try>::call,
                                           erased<mortise_rw_write_acquire>::call,
                                           erased<mortise_rw_write_unlock>::call,
                                           erased<mortise_rw_write_unlock_hold>::call,
                                           erased<mortise_rw_write_unlock_hold_async>::call,
                                           erased<mortise_rw_is_writing>::call,
                                           erased<mortise_rw_upgrade_try>::call,
                                           erased<mortise_rw_downgrade>::call,
                                           &rw_modes::reading};

}  // namespace detail

/**
 * One owner of one named read-write lock, which reads or writes; see `handle` for what all handles
 * have. Many may read at once, one may write, and who comes first is served first.
 *
 * It is SharedTimedLockable, for std::shared_lock to read and std::unique_lock to write, as far as
 * that can be honest: see `mutex`.
 * @since 1.2
 */
class rw : public named_handle {
 public:
#if MORTISE_HAS_EXCEPTIONS
  /** As `make`, throwing exception. @since 1.2 */
  rw(client &of, std::string_view name, const options &with = {})
      : rw(detail::checked(make(of, name, with))) {}
#endif
  /** Makes a new owner of the read-write lock of this name, as `mutex::make`. @since 1.2 */
  static result<rw> make(client &of, std::string_view name, const options &with = {}) {
    const auto raw = detail::make_raw<mortise_rw>(
        of, with, [&](const mortise_options *whole, mortise_error *filled) {
          return mortise_rw_new(of.raw(), name.data(), name.size(), whole, filled);
        });
    if (!raw) return unexpected(raw.error());
    return rw(*raw);
  }

  /** Acquires it to read, waiting for its turn: as `mutex::acquire`. @since 1.2 */
  result<hold> read(const timeout &wait, std::nothrow_t) {
    return acquire_as(detail::rw_modes::reading, wait);
  }
  /** Acquires it to read if nobody writes or waits to, within command_timeout. @since 1.2 */
  result<hold> try_read(std::nothrow_t) { return try_as(detail::rw_modes::reading); }
  /** Acquires it to write, waiting for its turn: as `mutex::acquire`. @since 1.2 */
  result<hold> write(const timeout &wait, std::nothrow_t) {
    return acquire_as(detail::rw_modes::writing, wait);
  }
  /** Acquires it to write if nobody holds it or waits, within command_timeout. @since 1.2 */
  result<hold> try_write(std::nothrow_t) { return try_as(detail::rw_modes::writing); }
#if MORTISE_HAS_EXCEPTIONS
  /** As above, for ever unless told otherwise: no hold as of `mutex::acquire`. @since 1.2 */
  [[nodiscard]] hold read(const timeout &wait = {}) {
    return held_or_none(read(wait, std::nothrow));
  }
  /** As above. @since 1.2 */
  [[nodiscard]] hold try_read() { return held_or_none(try_read(std::nothrow)); }
  /** As above. @since 1.2 */
  [[nodiscard]] hold write(const timeout &wait = {}) {
    return held_or_none(write(wait, std::nothrow));
  }
  /** As above. @since 1.2 */
  [[nodiscard]] hold try_write() { return held_or_none(try_write(std::nothrow)); }

  /** To write, for who unlocks by this handle; all errors are thrown. @since 1.2 */
  void lock() { lock_as(detail::rw_modes::writing); }
  /** Whether it was free, and is held to write now; other errors are thrown. @since 1.2 */
  [[nodiscard]] bool try_lock() { return try_lock_as(detail::rw_modes::writing); }
  /** To write: false at the end of the time. @since 1.2 */
  template <class Count, class Period>
  [[nodiscard]] bool try_lock_for(std::chrono::duration<Count, Period> given) {
    return lock_as(detail::rw_modes::writing, given);
  }
  /** The same: false when its clock has reached this moment. @since 1.2 */
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(std::chrono::time_point<Clock, Duration> moment) {
    return lock_as_until(detail::rw_modes::writing, moment);
  }
  /** To read, for who unlocks by this handle; all errors are thrown. @since 1.2 */
  void lock_shared() { lock_as(detail::rw_modes::reading); }
  /** Whether it was to be had, and is held to read now; other errors are thrown. @since 1.2 */
  [[nodiscard]] bool try_lock_shared() { return try_lock_as(detail::rw_modes::reading); }
  /** To read: false at the end of the time. @since 1.2 */
  template <class Count, class Period>
  [[nodiscard]] bool try_lock_shared_for(std::chrono::duration<Count, Period> given) {
    return lock_as(detail::rw_modes::reading, given);
  }
  /** The same: false when its clock has reached this moment. @since 1.2 */
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_shared_until(std::chrono::time_point<Clock, Duration> moment) {
    return lock_as_until(detail::rw_modes::reading, moment);
  }
#endif
  /** Ends writing, whatever became of it. @since 1.2 */
  void unlock() noexcept { mortise_rw_write_unlock(rw_raw(), nullptr); }
  /** The same, telling what became of it: as `hold::unlock`. @since 1.2 */
  result<void> unlock(std::nothrow_t) { return unlock_as(detail::rw_modes::writing); }
  /** Ends reading, whatever became of it. @since 1.2 */
  void unlock_shared() noexcept { mortise_rw_read_unlock(rw_raw(), nullptr); }
  /** The same, telling what became of it: as `hold::unlock`. @since 1.2 */
  result<void> unlock_shared(std::nothrow_t) { return unlock_as(detail::rw_modes::reading); }
  /** Whether this handle reads by the local clock. It costs no network. @since 1.2 */
  bool is_reading() const noexcept { return mortise_rw_is_reading(rw_raw()) != 0; }
  /** Whether this handle writes by the local clock. It costs no network. @since 1.2 */
  bool is_writing() const noexcept { return mortise_rw_is_writing(rw_raw()) != 0; }
  /** Takes charge of what this handle holds to read. @since 1.2 */
  [[nodiscard]] hold adopt_read() { return {owner(), detail::rw_modes::reading}; }
  /** Takes charge of what this handle holds to write. @since 1.2 */
  [[nodiscard]] hold adopt_write() { return {owner(), detail::rw_modes::writing}; }

  /** As `read`, ending in one event_kind::acquired. @since 1.2 */
  result<void> read_async(queue &on, std::int64_t tag, const timeout &wait = {}) {
    return begin(mortise_rw_read_acquire_async, rw_raw(), on, tag, wait.ms());
  }
  /** As `try_read`, ending in one event_kind::acquired. @since 1.2 */
  result<void> try_read_async(queue &on, std::int64_t tag) {
    return begin(mortise_rw_read_try_async, rw_raw(), on, tag);
  }
  /** As `write`, ending in one event_kind::acquired. @since 1.2 */
  result<void> write_async(queue &on, std::int64_t tag, const timeout &wait = {}) {
    return begin(mortise_rw_write_acquire_async, rw_raw(), on, tag, wait.ms());
  }
  /** As `try_write`, ending in one event_kind::acquired. @since 1.2 */
  result<void> try_write_async(queue &on, std::int64_t tag) {
    return begin(mortise_rw_write_try_async, rw_raw(), on, tag);
  }
  /** As `unlock_shared`, ending in one event_kind::unlocked. The hold ends now. @since 1.2 */
  result<void> unlock_shared_async(queue &on, std::int64_t tag) {
    return begin(mortise_rw_read_unlock_async, rw_raw(), on, tag);
  }
  /** As `unlock`, ending in one event_kind::unlocked. The hold ends now. @since 1.2 */
  result<void> unlock_async(queue &on, std::int64_t tag) {
    return begin(mortise_rw_write_unlock_async, rw_raw(), on, tag);
  }
  /** As `hold::try_upgrade`, ending in one event_kind::upgraded. @since 1.2 */
  result<void> try_upgrade_async(queue &on, std::int64_t tag) {
    return begin(mortise_rw_upgrade_try_async, rw_raw(), on, tag);
  }
  /** As `hold::downgrade`, ending in one event_kind::downgraded. @since 1.2 */
  result<void> downgrade_async(queue &on, std::int64_t tag) {
    return begin(mortise_rw_downgrade_async, rw_raw(), on, tag);
  }

  /** For the C functions. @since 1.2 */
  mortise_rw *rw_raw() const noexcept { return static_cast<mortise_rw *>(raw()); }

 private:
  explicit rw(mortise_rw *raw) : named_handle(detail::rw_kind, raw) {}
};

}  // namespace MORTISE_CXX_NAMESPACE
}  // namespace mortise

#endif  // MORTISE_RW_HPP
