/** A named read-write lock. */
#ifndef MORTISE_RW_HPP
#define MORTISE_RW_HPP

#include "handle.hpp"

namespace mortise {
inline namespace MORTISE_CXX_NAMESPACE {

namespace detail {

inline constexpr kind rw_kind = {erased<mortise_rw_free>::call,
                                 erased<mortise_rw_extend>::call,
                                 erased<mortise_rw_extend_async>::call,
                                 erased<mortise_rw_progress>::call,
                                 erased<mortise_rw_cancel>::call,
                                 erased<mortise_rw_interrupt>::call,
                                 erased<mortise_rw_set_task>::call,
                                 erased<mortise_rw_watch>::call,
                                 erased<mortise_rw_valid_ms>::call,
                                 erased<mortise_rw_deadline_ns>::call,
                                 erased<mortise_rw_hold_number>::call,
                                 erased<mortise_rw_name>::call,
                                 erased<mortise_rw_token>::call,
                                 erased<mortise_rw_query>::call,
                                 erased<mortise_rw_force_release>::call,
                                 erased<mortise_rw_set_value>::call,
                                 erased<mortise_rw_set_value_async>::call,
                                 erased<mortise_rw_export>::call,
                                 erased<mortise_rw_adopt>::call};

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
                                           erased<mortise_rw_upgrade>::call,
                                           erased<mortise_rw_downgrade>::call,
                                           &rw_modes::writing};
inline constexpr mode rw_modes::writing = {erased<mortise_rw_write_try>::call,
                                           erased<mortise_rw_write_acquire>::call,
                                           erased<mortise_rw_write_unlock>::call,
                                           erased<mortise_rw_write_unlock_hold>::call,
                                           erased<mortise_rw_write_unlock_hold_async>::call,
                                           erased<mortise_rw_is_writing>::call,
                                           erased<mortise_rw_upgrade>::call,
                                           erased<mortise_rw_downgrade>::call,
                                           &rw_modes::reading};

}  // namespace detail

/**
 * One owner of one named read-write lock, which reads or writes. `handle` describes what all
 * handles have. Many owners may read at once, and one may write. Requests are served in order of
 * arrival.
 *
 * It is SharedTimedLockable, for std::shared_lock to read and std::unique_lock to write, with the
 * limits that `mutex` describes.
 */
class rw : public named_handle {
 public:
#if MORTISE_HAS_EXCEPTIONS
  /** Makes a new owner of the read-write lock of this name. It throws every error of `make`. */
  rw(client &of, std::string_view name, const options &with = {})
      : rw(detail::checked(make(of, name, with))) {}
#endif
  /**
   * Makes a new owner of the read-write lock of this name. Parameters and errors of `mutex::make`.
   */
  static result<rw> make(client &of, std::string_view name, const options &with = {}) {
    const auto raw = detail::make_raw<mortise_rw>(
        of, with, [&](const mortise_options *whole, mortise_error *filled) {
          return mortise_rw_new(of.raw(), name.data(), name.size(), whole, filled);
        });
    if (!raw) return unexpected(raw.error());
    return rw(*raw);
  }

  /**
   * Acquires the lock to read and waits for its turn. Parameters and errors of `mutex::acquire`.
   */
  result<hold> read(const timeout &wait, std::nothrow_t) {
    return acquire_as(detail::rw_modes::reading, wait);
  }
  /** Acquires the lock to read if nobody writes or waits to write, within command_timeout. */
  result<hold> try_read(std::nothrow_t) { return try_as(detail::rw_modes::reading); }
  /**
   * Acquires the lock to write and waits for its turn. Parameters and errors of `mutex::acquire`.
   */
  result<hold> write(const timeout &wait, std::nothrow_t) {
    return acquire_as(detail::rw_modes::writing, wait);
  }
  /** Acquires the lock to write if nobody holds it or waits, within command_timeout. */
  result<hold> try_write(std::nothrow_t) { return try_as(detail::rw_modes::writing); }
#if MORTISE_HAS_EXCEPTIONS
  /**
   * The throwing form: no hold on the same statuses as `mutex::acquire`. Waits without end by
   * default.
   */
  [[nodiscard]] hold read(const timeout &wait = {}) {
    return held_or_none(read(wait, std::nothrow));
  }
  /** The throwing form: no hold if the lock cannot be read now. It throws other errors. */
  [[nodiscard]] hold try_read() { return held_or_none(try_read(std::nothrow)); }
  /**
   * The throwing form: no hold on the same statuses as `mutex::acquire`. Waits without end by
   * default.
   */
  [[nodiscard]] hold write(const timeout &wait = {}) {
    return held_or_none(write(wait, std::nothrow));
  }
  /** The throwing form: no hold if the lock is not free. It throws other errors. */
  [[nodiscard]] hold try_write() { return held_or_none(try_write(std::nothrow)); }

  /** Acquires to write for a caller that unlocks by this handle. It throws every error. */
  void lock() { lock_as(detail::rw_modes::writing); }
  /** Whether the lock was free and is now held to write. It throws other errors. */
  [[nodiscard]] bool try_lock() { return try_lock_as(detail::rw_modes::writing); }
  /** Acquires to write within this time. False if the time passed. It throws other errors. */
  template <class Count, class Period>
  [[nodiscard]] bool try_lock_for(std::chrono::duration<Count, Period> given) {
    return lock_as(detail::rw_modes::writing, given);
  }
  /**
   * Acquires to write until the clock reaches this moment. False if it did. It throws other errors.
   */
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(std::chrono::time_point<Clock, Duration> moment) {
    return lock_as_until(detail::rw_modes::writing, moment);
  }
  /** Acquires to read for a caller that unlocks by this handle. It throws every error. */
  void lock_shared() { lock_as(detail::rw_modes::reading); }
  /** Whether the lock is now held to read. It does not wait, and throws other errors. */
  [[nodiscard]] bool try_lock_shared() { return try_lock_as(detail::rw_modes::reading); }
  /** Acquires to read within this time. False if the time passed. It throws other errors. */
  template <class Count, class Period>
  [[nodiscard]] bool try_lock_shared_for(std::chrono::duration<Count, Period> given) {
    return lock_as(detail::rw_modes::reading, given);
  }
  /**
   * Acquires to read until the clock reaches this moment. False if it did. It throws other errors.
   */
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_shared_until(std::chrono::time_point<Clock, Duration> moment) {
    return lock_as_until(detail::rw_modes::reading, moment);
  }
#endif
  /** Ends the hold of a writer, and ignores the result. */
  void unlock() noexcept { mortise_rw_write_unlock(rw_raw(), nullptr); }
  /** Ends the hold of a writer. The errors are those of `hold::unlock`. */
  result<void> unlock(std::nothrow_t) { return unlock_as(detail::rw_modes::writing); }
  /** Ends the hold of a reader, and ignores the result. */
  void unlock_shared() noexcept { mortise_rw_read_unlock(rw_raw(), nullptr); }
  /** Ends the hold of a reader. The errors are those of `hold::unlock`. */
  result<void> unlock_shared(std::nothrow_t) { return unlock_as(detail::rw_modes::reading); }
  /** Whether this handle reads by the local clock. It sends nothing. */
  bool is_reading() const noexcept { return mortise_rw_is_reading(rw_raw()) != 0; }
  /** Whether this handle writes by the local clock. It sends nothing. */
  bool is_writing() const noexcept { return mortise_rw_is_writing(rw_raw()) != 0; }
  /**
   * Continues an exported hold with this handle. See `mortise_lock_adopt`.
   * @param id the text of `hold::export_id`, of a lock of this name and kind.
   * @return the hold, or an error of `mutex::acquire`, and:
   * - status::not_owner: the exported hold has ended, or another handle has adopted it.
   * - status::unsupported: the option `protocol`, or `redlock:`, has no holds by id.
   * - status::invalid_argument: the id was changed, or is of another lock, kind or namespace.
   */
  result<hold> adopt_id(std::string_view id, std::nothrow_t) {
    return adopt_by(id, [&]() -> const detail::mode & {
      return is_writing() ? detail::rw_modes::writing : detail::rw_modes::reading;
    });
  }
#if MORTISE_HAS_EXCEPTIONS
  /** The throwing form: it throws every error as an exception. */
  [[nodiscard]] hold adopt_id(std::string_view id) {
    return detail::checked(adopt_id(id, std::nothrow));
  }
#endif
  /** The present hold of this handle to read, as an object. */
  [[nodiscard]] hold adopt_read() { return {owner(), detail::rw_modes::reading}; }
  /** The present hold of this handle to write, as an object. */
  [[nodiscard]] hold adopt_write() { return {owner(), detail::rw_modes::writing}; }

  /** Starts `read`, which ends in one event_kind::acquired. */
  result<void> read_async(queue &on, std::int64_t tag, const timeout &wait = {}) {
    return begin(mortise_rw_read_acquire_async, rw_raw(), on, tag, wait.ms());
  }
  /** Starts `try_read`, which ends in one event_kind::acquired. */
  result<void> try_read_async(queue &on, std::int64_t tag) {
    return begin(mortise_rw_read_try_async, rw_raw(), on, tag);
  }
  /** Starts `write`, which ends in one event_kind::acquired. */
  result<void> write_async(queue &on, std::int64_t tag, const timeout &wait = {}) {
    return begin(mortise_rw_write_acquire_async, rw_raw(), on, tag, wait.ms());
  }
  /** Starts `try_write`, which ends in one event_kind::acquired. */
  result<void> try_write_async(queue &on, std::int64_t tag) {
    return begin(mortise_rw_write_try_async, rw_raw(), on, tag);
  }
  /** Starts `unlock_shared`, which ends in one event_kind::unlocked. The hold ends now. */
  result<void> unlock_shared_async(queue &on, std::int64_t tag) {
    return begin(mortise_rw_read_unlock_async, rw_raw(), on, tag);
  }
  /** Starts `unlock`, which ends in one event_kind::unlocked. The hold ends now. */
  result<void> unlock_async(queue &on, std::int64_t tag) {
    return begin(mortise_rw_write_unlock_async, rw_raw(), on, tag);
  }
  /** Starts `hold::try_upgrade`, which ends in one event_kind::upgraded. */
  result<void> try_upgrade_async(queue &on, std::int64_t tag) {
    return begin(mortise_rw_upgrade_async, rw_raw(), on, tag);
  }
  /** Starts `hold::downgrade`, which ends in one event_kind::downgraded. */
  result<void> downgrade_async(queue &on, std::int64_t tag) {
    return begin(mortise_rw_downgrade_async, rw_raw(), on, tag);
  }

  /** The handle for C functions. */
  mortise_rw *rw_raw() const noexcept { return static_cast<mortise_rw *>(raw()); }

 private:
  explicit rw(mortise_rw *raw) : named_handle(detail::rw_kind, raw) {}
};

}  // namespace MORTISE_CXX_NAMESPACE
}  // namespace mortise

#endif  // MORTISE_RW_HPP
