/** One successful acquire. */
#ifndef MORTISE_HOLD_HPP
#define MORTISE_HOLD_HPP

#include <string>
#include <thread>
#include <utility>

#include "owner.hpp"

namespace mortise {
inline namespace MORTISE_CXX_NAMESPACE {

/**
 * One successful acquire. It lasts until it is unlocked or lost. Move-only. Any thread may use it,
 * one at a time. It may outlive the handle that made it.
 *
 * The destructor unlocks a hold that still lasts, and waits at most command_timeout for the answer.
 * If an upgrade on a queue or an unlock in another thread is open, the destructor first waits until
 * that call ends, also at most command_timeout. A move assignment does the same with the old hold.
 * Neither can report the result. To check the result, call `unlock`.
 *
 * A lease cannot stop a paused process. Pass `token` to the resource that the lock protects.
 */
class hold {
 public:
  /** An empty hold. */
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
   * Whether the hold lasts by the local clock. It sends nothing. It is also right in a process that
   * was stopped for a long time.
   */
  bool is_held() const noexcept {
    // In this order, because a later hold may begin after the number is read.
    return mode_ != nullptr && is_held_by_handle() && is_current();
  }
  /** The same as `is_held`, for `if (auto hold = lock.acquire(5s))`. */
  explicit operator bool() const noexcept { return is_held(); }
  /**
   * The fencing token. It rises with every grant of a mutex or to a writer. Among readers tokens do
   * not rise: a fence compares a reader's token with the highest token of a writer, and stores only
   * writers' tokens. It stays readable after the end. It is 0 for an empty hold and for a multi,
   * whose members each have one.
   */
  std::int64_t token() const noexcept {
    if (mode_ == nullptr || mode_->other == nullptr) return token_;
    // An upgrade on a queue has another token.
    const std::int64_t last = owner_->calls.token(owner_->raw);
    return is_current() ? last : token_;
  }
  /** How long it is still valid by the local clock, in whole milliseconds, or 0 after its end. */
  std::chrono::milliseconds valid() const noexcept {
    return std::chrono::milliseconds(mode_ == nullptr ? 0 : look(owner_->calls.valid_ms));
  }
  /** The moment when it ends unless it is renewed, or the epoch after its end. */
  boot_clock::time_point deadline() const noexcept {
    return boot_clock::time_point(
        std::chrono::nanoseconds(mode_ == nullptr ? 0 : look(owner_->calls.deadline_ns)));
  }

  /**
   * Releases the lock, and never a later hold of the same handle. Afterwards this object holds
   * nothing, except after status::busy and status::no_memory. Then unlock it again.
   * @return done, or an error:
   * - status::lost: it was lost before.
   * - status::not_owner: it is empty, or was unlocked before.
   * - status::unreachable, status::unknown, status::refused: its lease ends it at the latest.
   * - status::busy: another thread unlocks this hold.
   * - status::no_memory: memory ran out.
   * - status::closed: the handle or its client was freed.
   * - status::forked: called in a forked child.
   */
  result<void> unlock(std::nothrow_t) {
    if (mode_ == nullptr) return none();
    mortise_error *filled = detail::error_of_thread();
    token_ = token();
    const mortise_status code = unlock_by(
        [&](const detail::mode &how) { return how.unlock_hold(owner_->raw, number_, filled); });
    // A call that was not accepted leaves the hold as it is.
    if (code != MORTISE_BUSY && code != MORTISE_NO_MEMORY) mode_ = nullptr;
    return detail::done(code, filled);
  }
  /**
   * Extends the hold so that it lasts at least this long from now. It never shortens it. For a
   * multi, it extends all members.
   * @param lease 0 for the handle's own, or MORTISE_MIN_LEASE_MS to MORTISE_MAX_MS.
   * @return done, or an error. The old deadline stays after unreachable and unknown.
   * - status::lost: it was lost.
   * - status::not_owner: it is empty, or was unlocked before.
   * - status::unreachable: no connection in time.
   * - status::unknown: sent, but not answered in time.
   * - status::refused: the server refused the request.
   * - status::limit: too many requests are open.
   * - status::busy: another call on the handle is acquiring or unlocking.
   * - status::closed: the handle or its client was freed.
   * - status::forked: called in a forked child.
   * - status::invalid_argument: an argument is out of range.
   */
  template <class Count, class Period>
  result<void> extend(std::chrono::duration<Count, Period> lease, std::nothrow_t) {
    if (mode_ == nullptr) return none();
    if (!is_current()) return lost();
    mortise_error *filled = detail::error_of_thread();
    return done(owner_->calls.extend(owner_->raw, detail::to_lease_ms(lease), filled), filled);
  }
  /**
   * Reports that the work under the hold goes on, for the option `progress`. It does not wait. For
   * a multi, it reports for all members. See `mortise_lock_progress`.
   * @return done, or an error:
   * - status::lost: it was lost. No report restores it.
   * - status::not_owner: it is empty, or was unlocked before.
   * - status::busy: another call on the handle is acquiring or unlocking.
   * - status::closed: the handle or its client was freed.
   * - status::forked: called in a forked child.
   */
  result<void> progress(std::nothrow_t) {
    if (mode_ == nullptr) return none();
    if (!is_current()) return lost();
    mortise_error *filled = detail::error_of_thread();
    return done(owner_->calls.progress(owner_->raw, filled), filled);
  }
  /**
   * Sets the value that queries and listings show for this hold, or removes it with "". It ends
   * with the hold.
   * @param value UTF-8 without zero bytes, at most MORTISE_MAX_VALUE_LEN bytes.
   * @return done, or an error of `mortise_lock_set_value`, such as:
   * - status::lost: it was lost.
   * - status::not_owner: it is empty, or was unlocked before.
   * - status::unsupported: also for the hold of a multi.
   */
  result<void> set_value(std::string_view value, std::nothrow_t) {
    if (mode_ == nullptr) return none();
    if (!is_current()) return lost();
    if (owner_->calls.set_value == nullptr) {
      return unexpected(
          error(status::unsupported, "a multi has no value; set those of its members"));
    }
    mortise_error *filled = detail::error_of_thread();
    return done(owner_->calls.set_value(owner_->raw, value.data(), value.size(), filled), filled);
  }
  /**
   * Exports the hold, for another handle, process or host to continue by `adopt_id`. This object is
   * empty afterwards. See `mortise_lock_export`.
   * @param lease how long the hold lasts without an adoption, or 0 for the handle's own.
   * @return the id as text, or an error of `extend`, and:
   * - status::already_held: the handle was acquired more than once.
   * - status::unsupported: the option `protocol`, `redlock:`, or a multi has no holds by id.
   * - status::busy: also if other readers of this client share the hold.
   */
  template <class Count, class Period>
  result<std::string> export_id(std::chrono::duration<Count, Period> lease, std::nothrow_t) {
    if (mode_ == nullptr) return unexpected(none().error());
    if (!is_current()) return unexpected(lost().error());
    auto id = detail::export_by(*owner_, detail::to_lease_ms(lease));
    if (id) mode_ = nullptr;
    return id;
  }
#if MORTISE_HAS_EXCEPTIONS
  /** The throwing form: it throws every error as an exception. */
  template <class Count, class Period>
  [[nodiscard]] std::string export_id(std::chrono::duration<Count, Period> lease) {
    return detail::checked(export_id(lease, std::nothrow));
  }
#endif
  /**
   * Turns the hold of a reader into one of a writer, with a new token, if no other handle reads.
   * It never waits.
   * @return done, or an error of `mortise_rw_upgrade`, such as:
   * - status::not_acquired: others also read. This hold continues to read.
   * - status::unsupported: also for a hold of another kind of lock.
   */
  result<void> try_upgrade(std::nothrow_t) {
    if (mode_ == nullptr) return none();
    if (!is_current()) return lost();
    auto changed = change(mode_->upgrade);
    if (changed) token_ = owner_->calls.token(owner_->raw);
    return changed;
  }
  /**
   * Turns the hold of a writer into one of a reader, without a gap. The token stays.
   * @return done, or an error of `mortise_rw_downgrade`, such as:
   * - status::unsupported: also for a hold of another kind of lock.
   */
  result<void> downgrade(std::nothrow_t) {
    if (mode_ == nullptr) return none();
    if (!is_current()) return lost();
    return change(mode_->downgrade);
  }
  /**
   * Starts `unlock`, which ends in one event_kind::unlocked on the queue, with the tag. This
   * object is then empty, except after status::busy, status::no_memory, status::limit and
   * status::shut_down.
   * @return done, or an error of `unlock`, and:
   * - status::limit: the queue is full.
   * - status::shut_down: the queue was shut down.
   */
  result<void> unlock_async(queue &on, std::int64_t tag) {
    if (mode_ == nullptr) return none();
    mortise_error *filled = detail::error_of_thread();
    token_ = token();
    const mortise_status code = unlock_by([&](const detail::mode &how) {
      return how.unlock_hold_async(owner_->raw, on.raw(), tag, number_, filled);
    });
    const bool is_accepted = code != MORTISE_BUSY && code != MORTISE_NO_MEMORY &&
                             code != MORTISE_LIMIT && code != MORTISE_SHUT_DOWN;
    if (is_accepted) mode_ = nullptr;
    return detail::done(code, filled);
  }
#if MORTISE_HAS_EXCEPTIONS
  /** The throwing form: it throws every error as an exception, also status::lost. */
  void unlock() { detail::checked(unlock(std::nothrow)); }
  /** The throwing form: it throws every error as an exception. */
  template <class Count, class Period>
  void extend(std::chrono::duration<Count, Period> lease) {
    detail::checked(extend(lease, std::nothrow));
  }
  /** The throwing form: it throws every error as an exception. */
  void progress() { detail::checked(progress(std::nothrow)); }
  void set_value(std::string_view value) { detail::checked(set_value(value, std::nothrow)); }
  /** The throwing form: false if others also read. It throws other errors. */
  bool try_upgrade() {
    const auto changed = try_upgrade(std::nothrow);
    if (!changed && changed.error().code() == status::not_acquired) return false;
    detail::checked(changed);
    return true;
  }
  /** The throwing form: it throws every error as an exception. */
  void downgrade() { detail::checked(downgrade(std::nothrow)); }
#endif
  /** Empties this object without unlocking. The handle still holds the lock and can unlock it. */
  void detach() noexcept {
    token_ = token();
    mode_ = nullptr;
  }

  /** The present hold of an owner. For the handles. */
  hold(std::shared_ptr<detail::owner> of, const detail::mode &how) noexcept
      : owner_(std::move(of)), mode_(&how), number_(owner_->calls.hold_number(owner_->raw)) {
    if (owner_->calls.token != nullptr) token_ = owner_->calls.token(owner_->raw);
  }
  /** The hold of this event, which may be over by now. For the dispatcher. */
  hold(std::shared_ptr<detail::owner> of, const detail::mode &how, const event &granted) noexcept
      : owner_(std::move(of)),
        mode_(&how),
        token_(granted.token()),
        number_(granted.hold_number()) {}

  /** The owner, or NULL of an empty hold. For the dispatcher. */
  const std::shared_ptr<detail::owner> &owner() const noexcept { return owner_; }

 private:
  /** Whether the handle's hold is this one, also after its end. */
  bool is_current() const noexcept { return owner_->calls.hold_number(owner_->raw) == number_; }
  /** A value of the handle's hold, or 0 if that is not this one. */
  std::int64_t look(std::int64_t (*value_of)(void *)) const noexcept {
    const std::int64_t value = value_of(owner_->raw);
    // In this order, because a later hold may begin before the value is read.
    return is_current() ? value : 0;
  }
  /** Whether the handle holds in this mode, or in the one that a change on a queue leads to. */
  bool is_held_by_handle() const noexcept {
    if (mode_->is_held(owner_->raw) != 0) return true;
    // A change back between two looks must not hide the hold.
    return mode_->other != nullptr &&
           (mode_->other->is_held(owner_->raw) != 0 || mode_->is_held(owner_->raw) != 0);
  }
  /** Unlocks in this mode, or in the one that a change led to. */
  template <class Unlock>
  mortise_status unlock_by(const Unlock &unlock) {
    const mortise_status code = unlock(*mode_);
    if (code != MORTISE_NOT_OWNER || mode_->other == nullptr) return code;
    return unlock(*mode_->other);
  }
  void end() noexcept {
    if (mode_ == nullptr) return;
    const auto unlock = [&](const detail::mode &how) {
      return how.unlock_hold(owner_->raw, number_, nullptr);
    };
    // Otherwise nobody could unlock the hold. It ends, because the other call has a timeout.
    while (unlock_by(unlock) == MORTISE_BUSY) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    mode_ = nullptr;
  }
  result<void> change(mortise_status (*call)(void *, mortise_error *)) {
    if (call == nullptr) {
      return unexpected(error(status::unsupported, "only a hold of a read-write lock can change"));
    }
    mortise_error *filled = detail::error_of_thread();
    return done(call(owner_->raw, filled), filled);
  }
  /** The result of a call, which has changed a later hold if another thread acquired meanwhile. */
  result<void> done(mortise_status code, mortise_error *filled) const {
    return code == MORTISE_OK && !is_current() ? lost() : detail::done(code, filled);
  }
  static result<void> none() {
    return unexpected(error(status::not_owner, "this hold is empty, or was unlocked before"));
  }
  static result<void> lost() {
    return unexpected(error(status::lost, "the hold was lost; its handle was acquired again"));
  }

  std::shared_ptr<detail::owner> owner_;
  const detail::mode *mode_ = nullptr;
  std::int64_t token_ = 0;
  std::int64_t number_ = 0;
};

}  // namespace MORTISE_CXX_NAMESPACE
}  // namespace mortise

#endif  // MORTISE_HOLD_HPP
