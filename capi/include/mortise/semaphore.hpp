/** A named semaphore. */
#ifndef MORTISE_SEMAPHORE_HPP
#define MORTISE_SEMAPHORE_HPP

#include "handle.hpp"

namespace mortise {
inline namespace MORTISE_CXX_NAMESPACE {

namespace detail {

inline constexpr kind semaphore_kind = {
    erased<mortise_semaphore_free>::call,         erased<mortise_semaphore_extend>::call,
    erased<mortise_semaphore_extend_async>::call, erased<mortise_semaphore_cancel>::call,
    erased<mortise_semaphore_interrupt>::call,    erased<mortise_semaphore_watch>::call,
    erased<mortise_semaphore_valid_ms>::call,     erased<mortise_semaphore_deadline_ns>::call,
    erased<mortise_semaphore_hold_number>::call,  erased<mortise_semaphore_name>::call,
    erased<mortise_semaphore_token>::call,        erased<mortise_semaphore_query>::call,
    erased<mortise_semaphore_force_release>::call};

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
 * One owner of permits of one named semaphore; see `handle` for what all handles have. One handle
 * holds permits once at a time. It is no Lockable: what it lets in is not alone.
 * @since 1.2
 */
class semaphore : public named_handle {
 public:
#if MORTISE_HAS_EXCEPTIONS
  /** As `make`, throwing exception. @since 1.2 */
  semaphore(client &of, std::string_view name, std::int64_t permits, const options &with = {})
      : semaphore(detail::checked(make(of, name, permits, with))) {}
#endif
  /**
   * Makes a new owner of permits of the semaphore of this name. Nothing is sent.
   * @param permits how many there are, 1 to MORTISE_MAX_PERMITS: the first to use the name sets it.
   * @return as `mutex::make`.
   * @since 1.2
   */
  static result<semaphore> make(client &of, std::string_view name, std::int64_t permits,
                                const options &with = {}) {
    const auto raw = detail::make_raw<mortise_semaphore>(
        of, with, [&](const mortise_options *whole, mortise_error *filled) {
          return mortise_semaphore_new(of.raw(), name.data(), name.size(), permits, whole, filled);
        });
    if (!raw) return unexpected(raw.error());
    return semaphore(*raw);
  }

  /**
   * Acquires so many permits at once, waiting for its turn.
   * @param wait how long, and until which stop.
   * @param weight how many: 1 to the number of permits.
   * @return as `mutex::acquire`; status::refused also when there are fewer permits.
   * @since 1.2
   */
  result<hold> acquire(const timeout &wait, std::int64_t weight, std::nothrow_t) {
    return acquire_by(detail::semaphore_mode, wait, [&](mortise_error *filled) {
      return mortise_semaphore_acquire(semaphore_raw(), weight, wait.ms(), filled);
    });
  }
  /** The same with one permit. @since 1.2 */
  result<hold> acquire(const timeout &wait, std::nothrow_t) {
    return acquire(wait, 1, std::nothrow);
  }
  /** Acquires them if they are free and nobody waits, within command_timeout. @since 1.2 */
  result<hold> try_acquire(std::int64_t weight, std::nothrow_t) {
    return acquire_by(detail::semaphore_mode, {}, [&](mortise_error *filled) {
      return mortise_semaphore_try(semaphore_raw(), weight, filled);
    });
  }
  /** The same with one permit. @since 1.2 */
  result<hold> try_acquire(std::nothrow_t) { return try_acquire(1, std::nothrow); }
  /**
   * Changes how many permits there are, for all users of the name; holds in force stay.
   * @param permits 1 to MORTISE_MAX_PERMITS.
   * @return as `query`; status::refused when the name is another kind of lock.
   * @since 1.2
   */
  result<void> resize(std::int64_t permits, std::nothrow_t) {
    mortise_error *filled = detail::error_of_thread();
    return detail::done(mortise_semaphore_resize(semaphore_raw(), permits, filled), filled);
  }
#if MORTISE_HAS_EXCEPTIONS
  /** As above, for ever unless told otherwise: no hold as of `mutex::acquire`. @since 1.2 */
  [[nodiscard]] hold acquire(const timeout &wait = {}, std::int64_t weight = 1) {
    return held_or_none(acquire(wait, weight, std::nothrow));
  }
  /** As above. @since 1.2 */
  [[nodiscard]] hold try_acquire(std::int64_t weight = 1) {
    return held_or_none(try_acquire(weight, std::nothrow));
  }
  /** As above, throwing exception. @since 1.2 */
  void resize(std::int64_t permits) { detail::checked(resize(permits, std::nothrow)); }
#endif
  /** Gives back all permits of this handle: as `hold::unlock`. @since 1.2 */
  result<void> release(std::nothrow_t) { return unlock_as(detail::semaphore_mode); }
#if MORTISE_HAS_EXCEPTIONS
  /** As above, throwing exception. @since 1.2 */
  void release() { detail::checked(release(std::nothrow)); }
#endif
  /** Whether this handle holds permits by the local clock. @since 1.2 */
  bool is_held() const noexcept { return mortise_semaphore_is_held(semaphore_raw()) != 0; }
  /** Takes charge of what this handle holds, as after event_kind::acquired. @since 1.2 */
  [[nodiscard]] hold adopt() { return {owner(), detail::semaphore_mode}; }

  /** As `acquire`, ending in one event_kind::acquired. @since 1.2 */
  result<void> acquire_async(queue &on, std::int64_t tag, const timeout &wait = {},
                             std::int64_t weight = 1) {
    return begin(mortise_semaphore_acquire_async, semaphore_raw(), on, tag, weight, wait.ms());
  }
  /** As `try_acquire`, ending in one event_kind::acquired. @since 1.2 */
  result<void> try_acquire_async(queue &on, std::int64_t tag, std::int64_t weight = 1) {
    return begin(mortise_semaphore_try_async, semaphore_raw(), on, tag, weight);
  }
  /** As `release`, ending in one event_kind::unlocked. The hold ends now. @since 1.2 */
  result<void> release_async(queue &on, std::int64_t tag) {
    return begin(mortise_semaphore_release_async, semaphore_raw(), on, tag);
  }

  /** For the C functions. @since 1.2 */
  mortise_semaphore *semaphore_raw() const noexcept {
    return static_cast<mortise_semaphore *>(raw());
  }

 private:
  explicit semaphore(mortise_semaphore *raw) : named_handle(detail::semaphore_kind, raw) {}
};

}  // namespace MORTISE_CXX_NAMESPACE
}  // namespace mortise

#endif  // MORTISE_SEMAPHORE_HPP
