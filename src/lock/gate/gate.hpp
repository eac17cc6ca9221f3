// All handles of one client for one name: their holders, waiters and claim queues. All users of a
// mutex share one claim queue. See claim_queue.hpp for the other kinds. Pure: its caller passes the
// time, replies and messages. A `fair = strict` handle has a gate of its own, and so competes
// alone.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "lock/claim/acquire_operation.hpp"
#include "lock/gate/gate_context.hpp"
#include "lock/gate/gate_report.hpp"
#include "lock/queue/claim_queue.hpp"

namespace mortise::lock {

// A grant by message.
struct grant_message {
  std::string_view token;  // the owner token
  std::string_view secret;
  std::int64_t last_token = 0;
  std::int64_t server_us = 0;
  bool others_wait = false;
};

// Not thread-safe: its gate_driver serialises all calls.
class gate {
 public:
  gate(const protocol_facts& protocol, lock_io& io, gate_listener& listener);

  // Each of these calls rejects the operation at once (the code is not ok), or accepts it and
  // finishes it now or later.
  outcome acquire(acquire_operation& acquire, time_ns now);
  outcome unlock(owner& owner, hold_mode mode, operation* done, time_ns now);
  outcome extend(owner& owner, std::int64_t lease_ms, operation& done, time_ns now);
  // The lease of an export, or 0 without a hold.
  [[nodiscard]] std::int64_t export_lease_ms(const owner& owner, time_ns now) const noexcept;
  // Ends the hold of this owner without a release. ok if `exported` was filled.
  outcome export_hold(owner& owner, exported_claim& exported, time_ns now);
  // The owner reports progress, so its hold may be renewed for longer. Returns ok while it holds.
  outcome note_progress(owner& owner, time_ns now);
  // Ends an open upgrade of the owner's hold, which could not be unlocked before its result.
  void end_upgrade(owner& owner);
  // ok if the owner holds and no other call is changing the hold.
  outcome check_held(const owner& owner, time_ns now);
  // raise() upgrades to exclusive mode if no other holder shares the lock. lower() downgrades to
  // `permits`.
  outcome raise(owner& owner, operation& done, time_ns now);
  outcome lower(owner& owner, std::int64_t permits, operation& done, time_ns now);
  // Sets the value of the hold, which queries show, or removes it with an empty text.
  outcome set_value(owner& owner, std::string_view text, operation& done, time_ns now);

  // Ends and reports each hold that is lost by the clock. All calls above begin with it.
  void settle(time_ns now);

  // Ends an accepted operation because of its deadline (`timed_out`), a cancel or a close. Its
  // request is undone at the server in the background. No effect on a finished operation.
  void abandon(operation& given_up, status why, time_ns now);
  // Ends the wait of a thread that began at this time, as a cancel does, but with this result.
  // Returns whether this very wait still lasts, and fails in a deadlock (hazard 32).
  bool end_in_deadlock(std::uint64_t thread_id, time_ns began, const outcome& result, time_ns now);
  // Ends the wait of this handle, and rejects its acquires until `is_on` is false again.
  void interrupt(owner& owner, bool is_on, time_ns now);
  // Reports the waiters for its hold again, because of a new watch.
  void repeat_contention(owner& owner);
  // The handle is being freed: releases its hold and ends its wait.
  void forget(owner& owner, time_ns now);
  // Ends all operations, releases all holds, and rejects all later calls. The gate then refers to
  // no handle, so the handles may be freed in any order.
  void close(time_ns now);
  [[nodiscard]] bool is_closed() const noexcept { return common_.is_closed; }

  // lasts(): the hold is not lost. is_held(): the hold is also reliable, which needs valid
  // acknowledgements.
  [[nodiscard]] bool lasts(const owner& owner, time_ns now) const noexcept {
    return owner.state() == owner_state::held && now < valid_until(owner);
  }
  [[nodiscard]] bool is_held(const owner& owner, time_ns now) const noexcept {
    return lasts(owner, now) && claim_of(owner)->is_acknowledged();
  }
  [[nodiscard]] time_ns valid_until(const owner& owner) const noexcept {
    return claim_of(owner) == nullptr ? 0 : owner.queue->valid_until(owner);
  }
  // The owner token of the hold at the server, and its permits. Empty and 1 without a hold.
  [[nodiscard]] std::string_view owner_token(const owner& owner) const noexcept {
    const auto* const claim = claim_of(owner);
    return claim == nullptr ? std::string_view() : std::string_view(claim->token());
  }
  [[nodiscard]] std::int64_t permits(const owner& owner) const noexcept {
    const auto* const claim = claim_of(owner);
    return claim == nullptr ? 1 : claim->requests().amount().permits;
  }

  // Events.
  void on_answer(std::uint64_t claim_id, std::uint32_t serial, const step_result& result,
                 time_ns now);
  // Returns whether the servers have sent the grant. A claim that did not expect it asks them.
  bool on_grant(const grant_message& grant, time_ns now);
  void on_head(std::string_view token, std::int64_t ttl_ms, time_ns now);
  void on_waiter(std::string_view token, time_ns now);
  void on_forced(std::string_view token, time_ns now);
  void on_free(time_ns now);
  void on_up(time_ns now);
  // The replicas' acknowledgements of this client's holds are no longer valid.
  void on_unacknowledged() noexcept;
  void on_timer(time_ns now);
  [[nodiscard]] time_ns next_timer() const noexcept;
  // How much earlier than that the timer may run: for a renewal, together with those of other
  // gates.
  [[nodiscard]] time_ns timer_slack(time_ns next) const noexcept;
  // Whether a waiter exists that the server has refused or queued.
  [[nodiscard]] bool is_queued() const noexcept;
  // Whether a message is useful, and must not wait until the client sends a request.
  [[nodiscard]] bool awaits_message() const noexcept;
  [[nodiscard]] gate_report report(time_ns now) const;
  // Adds an event for each hold, wait and retained claim, as long as the list has room.
  void add_present(std::vector<lock_event>& target, std::size_t most, time_ns now) const;
  // Whether the client retains a claim without a holder, and whether the retained claim has this
  // owner token.
  [[nodiscard]] bool is_retained() const noexcept;
  [[nodiscard]] bool retains(std::string_view owner_token) const noexcept;
  // Whether nothing is held, retained, awaited or being released.
  [[nodiscard]] bool is_idle() const noexcept;

 private:
  // The claim of the owner's hold, or nullptr.
  [[nodiscard]] static const lock::claim* claim_of(const owner& owner) noexcept {
    const bool holds = owner.state() == owner_state::held && owner.queue != nullptr;
    return holds ? owner.queue->claim() : nullptr;
  }
  [[nodiscard]] outcome check_held(const owner& owner) const;
  void stop_readers_for(const acquire_operation& acquire);
  void refuse_try(acquire_operation& acquire, claim_queue& queue, time_ns now);
  claim_queue& queue_for(const acquire_operation& acquire, time_ns now);
  claim_queue& idle_queue();
  // The claim queue whose claim has this owner token, or nullptr.
  [[nodiscard]] claim_queue* queue_of(std::string_view token) const noexcept;
  void add_holders(gate_report& report, const claim_queue& queue, time_ns now) const;
  void add_holding_threads(gate_report& report, const claim_queue& queue, time_ns now) const;

  gate_context common_;
  std::vector<std::unique_ptr<claim_queue>> queues_;
};

}  // namespace mortise::lock
