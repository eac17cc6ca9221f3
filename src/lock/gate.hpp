// All handles of one client for one name: who of them holds, who waits, and how the client's one
// claim at the server (its tenure) goes from one to the next. Waiters of this client queue here,
// and only one of them at a time stands for the client at the server. Pure: it is given time,
// answers and messages. A `fair = strict` handle has a gate of its own, and so competes by itself.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string_view>

#include "lock/departures.hpp"
#include "lock/extensions.hpp"
#include "lock/gate_listener.hpp"
#include "lock/gate_report.hpp"
#include "lock/link.hpp"
#include "lock/operations.hpp"
#include "lock/owner.hpp"
#include "lock/passes.hpp"
#include "lock/tenure.hpp"

namespace mortise::lock {

// An acquire or a try that was accepted and has not ended.
class acquire_operation : public operation {
 public:
  acquire_operation* as_acquire() noexcept final { return this; }
  lock::owner* owner = nullptr;
  bool is_try = false;
  portion wanted;
  time_ns began = 0;

 private:
  friend class gate;
  [[nodiscard]] statistics::lock_statistics& counts() const noexcept {
    return owner->counts_of(wanted.mode);
  }
  bool has_found_taken_ = false;  // and is counted for it
  std::list<acquire_operation*>::iterator place_;
};

// Not thread-safe: its gatekeeper serialises all calls.
class gate {
 public:
  gate(const protocol_facts& protocol, link& world, gate_listener& listener)
      : protocol_(protocol), world_(world), listener_(listener) {}

  // Each of these either rejects at once (the code is not ok, the operation was not accepted),
  // or accepts, and then finishes the operation now or later.
  outcome acquire(acquire_operation& wanted, time_ns now);
  outcome unlock(owner& owner, hold_mode mode, operation* done, time_ns now);
  outcome extend(owner& owner, std::int64_t lease_ms, operation& done, time_ns now);
  // ok when it holds in this mode and no other call is at work on it.
  outcome check_held(const owner& owner, hold_mode mode, time_ns now);
  // From a part to the whole, if nobody else has a part; and back to `weight`.
  outcome raise(owner& owner, operation& done, time_ns now);
  outcome lower(owner& owner, std::int64_t weight, operation& done, time_ns now);

  // Ends an accepted operation because of its deadline (`timed_out`), a cancel or a close. What has
  // been asked of the server is taken back in the background. No effect once it is finished.
  void abandon(operation& given_up, status why, time_ns now);
  // Ends what this handle waits for, and lets no acquire of it begin until that is taken back.
  void interrupt(owner& owner, bool is_on, time_ns now);
  // The handle goes away: gives back what it holds, ends what it waits for.
  void forget(owner& owner, time_ns now);
  // Ends everything, gives back what is held, and accepts nothing any more. From then on it knows
  // no handle, so that they may go in any order.
  void close(time_ns now);
  [[nodiscard]] bool is_closed() const noexcept { return is_closed_; }

  // Whether it is not lost; and may be relied on, which takes acknowledgements that count.
  [[nodiscard]] bool lasts(const owner& owner, time_ns now) const noexcept {
    return owner.state == owner_state::held && now < valid_until(owner);
  }
  [[nodiscard]] bool is_held(const owner& owner, time_ns now) const noexcept {
    return lasts(owner, now) && current_->is_acknowledged();
  }
  [[nodiscard]] time_ns valid_until(const owner& owner) const noexcept;
  // What the server knows the hold by; empty when there is none.
  [[nodiscard]] std::string_view owner_token(const owner& owner) const noexcept {
    return holder_ == &owner && current_ ? std::string_view(current_->token()) : std::string_view();
  }

  // How much of the lock the client's claim is for.
  [[nodiscard]] std::int64_t weight() const noexcept { return current_ ? current_->weight() : 1; }

  // From the world.
  void on_answer(std::uint64_t tenure_id, std::uint32_t serial, const verdict& said, time_ns now);
  void on_grant(std::string_view token, std::int64_t last_token, std::int64_t server_us,
                bool others_wait, time_ns now);
  void on_head(std::string_view token, std::int64_t ttl_ms, time_ns now);
  void on_wanted(std::string_view token, time_ns now);
  void on_forced(std::string_view token, time_ns now);
  void on_free(time_ns now) {
    if (current_) current_->on_free(now);
  }
  void on_up(time_ns now);
  // What the replicas said to this client's hold counts for nothing any more.
  void on_unacknowledged() noexcept {
    if (current_) current_->on_unacknowledged();
  }
  void on_timer(time_ns now);
  [[nodiscard]] time_ns next_timer() const noexcept;
  // Whether somebody waits whom the server has refused, or queued.
  [[nodiscard]] bool is_queued() const noexcept {
    return current_ && current_->phase() == tenure_phase::queued;
  }
  // Whether a message is of use, and should not wait until the client asks something.
  [[nodiscard]] bool awaits_message() const noexcept { return is_queued() || is_retained(); }
  [[nodiscard]] gate_report report(time_ns now) const;
  // Whether the client has kept its claim for its next acquire, and nobody holds by it.
  [[nodiscard]] bool is_retained() const noexcept { return retained_until_ != 0; }
  [[nodiscard]] bool retains(std::string_view owner_token) const noexcept {
    return is_retained() && current_->token() == owner_token;
  }
  // Whether nothing is held, retained, waited for or being given back.
  [[nodiscard]] bool is_idle() const noexcept { return !current_ && departures_.is_empty(); }

 private:
  outcome acquire_again(acquire_operation& wanted);
  void end_hold(lock::owner& owner, operation* done, time_ns now);
  outcome lower_hold(lock::owner& owner, std::int64_t weight, operation* done, time_ns now);
  [[nodiscard]] outcome check_held(const lock::owner& owner) const;
  [[nodiscard]] outcome check_modes() const;
  // What could not be sent all the same is not asked by on_up().
  [[nodiscard]] bool has_connection() const { return world_.problem().ok(); }

  void abandon_acquire(acquire_operation& given_up, status why, time_ns now);
  [[nodiscard]] outcome give_up_outcome(const acquire_operation& given_up, status why,
                                        time_ns now) const;
  [[nodiscard]] outcome timed_out(const acquire_operation& given_up, time_ns now) const;
  // Who of this client has the lock or comes first; not the server's matter.
  [[nodiscard]] const char* who_is_ahead() const noexcept {
    return holder_ != nullptr ? "another handle of this client holds it"
                              : "another handle of this client is ahead";
  }

  bool pass_on(time_ns now);
  [[nodiscard]] bool may_pass(time_ns now) const noexcept;
  [[nodiscard]] bool suits(const acquire_operation& next) const noexcept;
  bool pass_to_next(time_ns now);
  [[nodiscard]] bool tells_of_waiters() const noexcept {
    return protocol_.can_pass && protocol_.how == wait_method::queue;
  }
  bool retain(const lock::owner& leaver, time_ns now);
  [[nodiscard]] bool may_take_up(const acquire_operation& next, time_ns now) const noexcept;
  void take_up(time_ns now);

  void start_next(time_ns now) noexcept;
  std::unique_ptr<tenure> new_tenure(const acquire_operation& first, time_ns now);
  void handle(news what, time_ns now);
  void grant_to_next(time_ns now);
  void refuse_next(time_ns now);
  void note_renewal(bool is_ok) noexcept;
  void raised(time_ns now);
  void lose(time_ns now);
  void settle(time_ns now);
  // Gives the tenure back, for an unlock that waits for it or is counted, if there is one.
  void depart(time_ns now, departure leaving = {});
  void note_departed(answer result) noexcept;
  [[nodiscard]] outcome failure_of_question() const;

  // The lock is another's, or awaited by others, so the acquire has to wait or is refused.
  void note_taken(acquire_operation& wanted) noexcept;
  void finish(acquire_operation& ended, const outcome& how, time_ns now);
  void finish_raise(const outcome& how);

  const protocol_facts& protocol_;
  link& world_;
  gate_listener& listener_;
  std::uint64_t next_tenure_ = 1;
  operations operations_;
  std::list<acquire_operation*> waiters_;
  std::unique_ptr<tenure> current_;
  departures departures_{operations_, listener_};
  passes passes_;
  gate_traffic traffic_;
  extensions extensions_{operations_};
  operation* raising_ = nullptr;
  owner* holder_ = nullptr;     // who holds by current_
  time_ns retained_until_ = 0;  // 0: current_ is not retained
  bool may_retain_ = false;     // as the owner token of current_ says to others
  bool is_refilling_ = false;  // fencing tokens are being drawn, then the next waiter gets the lock
  bool is_closed_ = false;
  bool is_contended_ = false;  // the lock is likely taken, so the cheap try would be in vain
};

}  // namespace mortise::lock
