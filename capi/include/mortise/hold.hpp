/** One successful acquire. */
#ifndef MORTISE_HOLD_HPP
#define MORTISE_HOLD_HPP

#include <utility>

#include "owner.hpp"

namespace mortise {
inline namespace MORTISE_CXX_NAMESPACE {

/**
 * One successful acquire: it lasts until it is unlocked, or until it is lost for ever. Its end
 * unlocks what is still held, and waits for the answer for the client's command_timeout at most;
 * what became of it nobody hears then, so that who has to know calls `unlock`. Move-only. Any
 * thread may use it, one at a time. It may outlive the handle that it came from.
 *
 * A lease cannot stop a paused process: give `token` to whatever the lock protects.
 * @since 1.2
 */
class hold {
 public:
  /** None. @since 1.2 */
  hold() noexcept = default;
  hold(hold &&other) noexcept
      : owner_(std::move(other.owner_)),
        mode_(std::exchange(other.mode_, nullptr)),
        token_(other.token_),
        number_(other.number_) {}
  hold &operator=(hold &&other) noexcept {
    if (this == &other) return *this;
    end();
    owner_ = std::move(other.owner_);
    mode_ = std::exchange(other.mode_, nullptr);
    token_ = other.token_;
    number_ = other.number_;
    return *this;
  }
  ~hold() { end(); }

  /**
   * Whether it lasts by the local clock. It costs no network, and is right also in a process that
   * was stopped for long.
   * @since 1.2
   */
  bool is_held() const noexcept {
    // In this order: what is held after the number was read may be another hold already.
    return mode_ != nullptr && mode_->is_held(owner_->raw) != 0 && is_current();
  }
  /** `is_held`, so that `if (auto hold = lock.acquire(5s))` has it in its body. @since 1.2 */
  explicit operator bool() const noexcept { return is_held(); }
  /**
   * The fencing token: it rises with every grant of a mutex or to a writer. Among readers tokens do
   * not rise: a fence compares a reader's token with the highest token of a writer, and stores only
   * writers' tokens. It stays readable after the end. 0 of none, and of a multi, whose members have
   * one each.
   * @since 1.2
   */
  std::int64_t token() const noexcept { return token_; }
  /** How long it is still valid by the local clock, in whole milliseconds; 0 after its end. */
  std::chrono::milliseconds valid() const noexcept {
    return std::chrono::milliseconds(is_held() ? owner_->calls.valid_ms(owner_->raw) : 0);
  }
  /** When it ends unless it is renewed before; the epoch when it is over. @since 1.2 */
  boot_clock::time_point deadline() const noexcept {
    const bool is_mine = mode_ != nullptr && is_current();
    return boot_clock::time_point(
        std::chrono::nanoseconds(is_mine ? owner_->calls.deadline_ns(owner_->raw) : 0));
  }

  /**
   * Gives the lock back, and never ends a later hold of the same handle. After it returns nothing
   * is held by this, whatever it returns, but for status::busy: another thread unlocks this hold.
   * @return done; status::lost: it had been lost before; status::not_owner: there is none, or it
   *   was unlocked before; status::unknown, status::unreachable, status::refused: its lease ends it
   *   at the latest; status::busy, status::closed, status::forked.
   * @since 1.2
   */
  result<void> unlock(std::nothrow_t) {
    if (mode_ == nullptr) return none();
    mortise_error *filled = detail::error_of_thread();
    const mortise_status code = mode_->unlock_hold(owner_->raw, number_, filled);
    // What was not accepted is held on.
    if (code != MORTISE_BUSY) mode_ = nullptr;
    return detail::done(code, filled);
  }
  /**
   * Makes it last at least this long from now; never shortens it. Of a multi all members.
   * @param lease 0 for the handle's own, else MORTISE_MIN_LEASE_MS to MORTISE_MAX_MS.
   * @return done; status::lost, status::not_owner, status::unreachable, status::unknown (the old
   *   deadline stands), status::refused, status::busy, status::limit, status::closed,
   *   status::forked, status::invalid_argument.
   * @since 1.2
   */
  template <class Count, class Period>
  result<void> extend(std::chrono::duration<Count, Period> lease, std::nothrow_t) {
    if (mode_ == nullptr) return none();
    if (!is_current()) return lost();
    mortise_error *filled = detail::error_of_thread();
    return detail::done(owner_->calls.extend(owner_->raw, detail::to_lease_ms(lease), filled),
                        filled);
  }
  /**
   * Turns a hold for reading into one for writing, with a new token, if no other reads. It never
   * waits.
   * @return done; status::not_acquired: others read, too, and it reads on; the others as
   *   `mortise_rw_upgrade_try`; status::unsupported for a hold that is not of a read-write lock.
   * @since 1.2
   */
  result<void> try_upgrade(std::nothrow_t) {
    if (mode_ == nullptr) return none();
    if (!is_current()) return lost();
    auto changed = change(mode_->upgrade);
    if (changed) token_ = owner_->calls.token(owner_->raw);
    return changed;
  }
  /**
   * Turns a hold for writing into one for reading, without a gap; the token stays.
   * @return as `mortise_rw_downgrade`; status::unsupported for a hold of no read-write lock.
   * @since 1.2
   */
  result<void> downgrade(std::nothrow_t) {
    if (mode_ == nullptr) return none();
    if (!is_current()) return lost();
    return change(mode_->downgrade);
  }
  /**
   * As `unlock`, ending in one event_kind::unlocked on the queue, with the tag, if it succeeds.
   * This is none from then on, unless it says one of status::busy, status::limit,
   * status::shut_down.
   * @return as `unlock`; also status::limit and status::shut_down of the queue.
   * @since 1.2
   */
  result<void> unlock_async(queue &on, std::int64_t tag) {
    if (mode_ == nullptr) return none();
    mortise_error *filled = detail::error_of_thread();
    const mortise_status code =
        mode_->unlock_hold_async(owner_->raw, on.raw(), tag, number_, filled);
    const bool is_accepted =
        code != MORTISE_BUSY && code != MORTISE_LIMIT && code != MORTISE_SHUT_DOWN;
    if (is_accepted) mode_ = nullptr;
    return detail::done(code, filled);
  }
#if MORTISE_HAS_EXCEPTIONS
  /** As above, throwing exception, also with status::lost. @since 1.2 */
  void unlock() { detail::checked(unlock(std::nothrow)); }
  /** As above, throwing exception. @since 1.2 */
  template <class Count, class Period>
  void extend(std::chrono::duration<Count, Period> lease) {
    detail::checked(extend(lease, std::nothrow));
  }
  /** As above: false where others read, too; other errors are thrown. @since 1.2 */
  bool try_upgrade() {
    const auto changed = try_upgrade(std::nothrow);
    if (!changed && changed.error().code() == status::not_acquired) return false;
    detail::checked(changed);
    return true;
  }
  /** As above, throwing exception. @since 1.2 */
  void downgrade() { detail::checked(downgrade(std::nothrow)); }
#endif
  /** Lets go without unlocking: the handle holds on, to be unlocked by itself. @since 1.2 */
  void detach() noexcept { mode_ = nullptr; }

  /** For the handles: what their owner holds now, or its hold with this number. */
  hold(std::shared_ptr<detail::owner> of, const detail::mode &how, std::int64_t number = 0) noexcept
      : owner_(std::move(of)),
        mode_(&how),
        number_(number != 0 ? number : owner_->calls.hold_number(owner_->raw)) {
    if (owner_->calls.token != nullptr) token_ = owner_->calls.token(owner_->raw);
  }

 private:
  /** Whether the handle's hold is this one, also after its end. */
  bool is_current() const noexcept { return owner_->calls.hold_number(owner_->raw) == number_; }
  void end() noexcept {
    if (mode_ != nullptr) mode_->unlock_hold(owner_->raw, number_, nullptr);
    mode_ = nullptr;
  }
  result<void> change(mortise_status (*call)(void *, mortise_error *)) {
    if (call == nullptr) {
      return unexpected(error(status::unsupported, "only a hold of a read-write lock can change"));
    }
    mortise_error *filled = detail::error_of_thread();
    const mortise_status code = call(owner_->raw, filled);
    // Not by the status: a downgrade that nobody answered has taken place all the same.
    const bool is_other = mode_->other->is_held(owner_->raw) != 0;
    if (is_other && mode_->is_held(owner_->raw) == 0) mode_ = mode_->other;
    return detail::done(code, filled);
  }
  static result<void> none() {
    return unexpected(error(status::not_owner, "this hold is empty, or was unlocked before"));
  }
  static result<void> lost() {
    return unexpected(error(status::lost, "the hold was lost; its handle has acquired anew"));
  }

  std::shared_ptr<detail::owner> owner_;
  const detail::mode *mode_ = nullptr;
  std::int64_t token_ = 0;
  std::int64_t number_ = 0;
};

}  // namespace MORTISE_CXX_NAMESPACE
}  // namespace mortise

#endif  // MORTISE_HOLD_HPP
