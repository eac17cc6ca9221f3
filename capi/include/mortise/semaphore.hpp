/** A named semaphore. */
#ifndef MORTISE_SEMAPHORE_HPP
#define MORTISE_SEMAPHORE_HPP

#include "handle.hpp"

namespace mortise {
inline namespace MORTISE_CXX_NAMESPACE {

namespace detail {

inline constexpr kind semaphore_kind = {erased<mortise_semaphore_free>::call,
                                        erased<mortise_semaphore_extend>::call,
                                        erased<mortise_semaphore_extend_async>::call,
                                        erased<mortise_semaphore_progress>::call,
                                        erased<mortise_semaphore_cancel>::call,
                                        erased<mortise_semaphore_interrupt>::call,
                                        erased<mortise_semaphore_set_task>::call,
                                        erased<mortise_semaphore_watch>::call,
                                        erased<mortise_semaphore_valid_ms>::call,
                                        erased<mortise_semaphore_deadline_ns>::call,
                                        erased<mortise_semaphore_hold_number>::call,
                                        erased<mortise_semaphore_name>::call,
                                        erased<mortise_semaphore_token>::call,
                                        erased<mortise_semaphore_query>::call,
                                        erased<mortise_semaphore_force_release>::call,
                                        erased<mortise_semaphore_set_value>::call,
                                        erased<mortise_semaphore_set_value_async>::call,
                                        erased<mortise_semaphore_export>::call,
                                        erased<mortise_semaphore_adopt>::call};

inline constexpr mode semaphore_mode = {nullptr,
                                        nullptr,
                                        erased<mortise_semaphore_release>::call,
                                        erased<mortise_semaphore_release_hold>::call,
                                        erased<mortise_semaphore_release_hold_async>::call,
                                        erased<mortise_semaphore_is_held>::call,
                                        nullptr,
                                        nullptr,
                                        nullptr};

}  // namespace detail

/**
 * One owner of permits of one named semaphore. `handle` describes what all handles have. One handle
 * holds permits once at a time. It is not Lockable, because a holder of permits is not alone.
 */
class semaphore : public named_handle {
 public:
#if MORTISE_HAS_EXCEPTIONS
  /**
   * Makes a new owner of permits of the semaphore of this name. It throws every error of `make`.
   */
  semaphore(client &of, std::string_view name, std::int64_t capacity, const options &with = {})
      : semaphore(detail::checked(make(of, name, capacity, with))) {}
#endif
  /**
   * Makes a new owner of permits of the semaphore of this name. It sends nothing.
   * @param capacity 1 to MORTISE_MAX_PERMITS. The first user of the name sets the number for all.
   * @return the handle, or an error of `mutex::make`.
   */
  static result<semaphore> make(client &of, std::string_view name, std::int64_t capacity,
                                const options &with = {}) {
    const auto raw = detail::make_raw<mortise_semaphore>(
        of, with, [&](const mortise_options *whole, mortise_error *filled) {
          return mortise_semaphore_new(of.raw(), name.data(), name.size(), capacity, whole, filled);
        });
    if (!raw) return unexpected(raw.error());
    return semaphore(*raw);
  }

  /**
   * Acquires `permits` at once and waits for its turn.
   * @param wait how long to wait, and the stop that ends the wait.
   * @param permits 1 to the number of permits.
   * @return the hold, or an error of `mutex::acquire`, and:
   * - status::refused: also if the semaphore has fewer permits.
   */
  result<hold> acquire(const timeout &wait, std::int64_t permits, std::nothrow_t) {
    return acquire_by(detail::semaphore_mode, wait, [&](mortise_error *filled) {
      return mortise_semaphore_acquire(semaphore_raw(), permits, wait.ms(), filled);
    });
  }
  /** Acquires one permit and waits for its turn. */
  result<hold> acquire(const timeout &wait, std::nothrow_t) {
    return acquire(wait, 1, std::nothrow);
  }
  /** Acquires `permits` if they are free and nobody waits, within command_timeout. */
  result<hold> try_acquire(std::int64_t permits, std::nothrow_t) {
    return acquire_by(detail::semaphore_mode, {}, [&](mortise_error *filled) {
      return mortise_semaphore_try(semaphore_raw(), permits, filled);
    });
  }
  /** Acquires one permit if it is free and nobody waits, within command_timeout. */
  result<hold> try_acquire(std::nothrow_t) { return try_acquire(1, std::nothrow); }
  /**
   * Changes the number of permits, for all users of the name. Existing holds stay.
   * @param capacity 1 to MORTISE_MAX_PERMITS.
   * @return done, or an error of `query`, and:
   * - status::refused: also if the name is another kind of lock.
   */
  result<void> resize(std::int64_t capacity, std::nothrow_t) {
    mortise_error *filled = detail::error_of_thread();
    return detail::done(mortise_semaphore_resize(semaphore_raw(), capacity, filled), filled);
  }
#if MORTISE_HAS_EXCEPTIONS
  /**
   * The throwing form: no hold on the same statuses as `mutex::acquire`. Waits without end by
   * default.
   */
  [[nodiscard]] hold acquire(const timeout &wait = {}, std::int64_t permits = 1) {
    return held_or_none(acquire(wait, permits, std::nothrow));
  }
  /** The throwing form: no hold if the permits are not free. It throws other errors. */
  [[nodiscard]] hold try_acquire(std::int64_t permits = 1) {
    return held_or_none(try_acquire(permits, std::nothrow));
  }
  /** The throwing form: it throws every error as an exception. */
  void resize(std::int64_t capacity) { detail::checked(resize(capacity, std::nothrow)); }
#endif
  /** Releases all permits of this handle. The errors are those of `hold::unlock`. */
  result<void> release(std::nothrow_t) { return unlock_as(detail::semaphore_mode); }
#if MORTISE_HAS_EXCEPTIONS
  /** The throwing form: it throws every error as an exception. */
  void release() { detail::checked(release(std::nothrow)); }
#endif
  /** Whether this handle holds permits by the local clock. It sends nothing. */
  bool is_held() const noexcept { return mortise_semaphore_is_held(semaphore_raw()) != 0; }
  /**
   * Continues an exported hold with this handle. See `mortise_lock_adopt`.
   * @param id the text of `hold::export_id`, of a lock of this name and kind.
   * @return the hold, or an error of `mutex::acquire`, and:
   * - status::not_owner: the exported hold has ended, or another handle has adopted it.
   * - status::unsupported: the option `protocol`, or `redlock:`, has no holds by id.
   * - status::invalid_argument: the id was changed, or is of another lock, kind or namespace.
   */
  result<hold> adopt_id(std::string_view id, std::nothrow_t) {
    return adopt_by(id, [&]() -> const detail::mode & { return detail::semaphore_mode; });
  }
#if MORTISE_HAS_EXCEPTIONS
  /** The throwing form: it throws every error as an exception. */
  [[nodiscard]] hold adopt_id(std::string_view id) {
    return detail::checked(adopt_id(id, std::nothrow));
  }
#endif
  /** The present hold of this handle as an object, for use after event_kind::acquired. */
  [[nodiscard]] hold adopt() { return {owner(), detail::semaphore_mode}; }

  /** Starts `acquire`, which ends in one event_kind::acquired. */
  result<void> acquire_async(queue &on, std::int64_t tag, const timeout &wait = {},
                             std::int64_t permits = 1) {
    return begin(mortise_semaphore_acquire_async, semaphore_raw(), on, tag, permits, wait.ms());
  }
  /** Starts `try_acquire`, which ends in one event_kind::acquired. */
  result<void> try_acquire_async(queue &on, std::int64_t tag, std::int64_t permits = 1) {
    return begin(mortise_semaphore_try_async, semaphore_raw(), on, tag, permits);
  }
  /** Starts `release`, which ends in one event_kind::unlocked. The hold ends now. */
  result<void> release_async(queue &on, std::int64_t tag) {
    return begin(mortise_semaphore_release_async, semaphore_raw(), on, tag);
  }

  /** The handle for C functions. */
  mortise_semaphore *semaphore_raw() const noexcept {
    return static_cast<mortise_semaphore *>(raw());
  }

 private:
  explicit semaphore(mortise_semaphore *raw) : named_handle(detail::semaphore_kind, raw) {}
};

}  // namespace MORTISE_CXX_NAMESPACE
}  // namespace mortise

#endif  // MORTISE_SEMAPHORE_HPP
