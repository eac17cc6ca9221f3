// All handles of one client for one name: who of them holds, who waits, and in which claim queue,
// that is by which claim at the servers. Everybody of a mutex stands in one claim queue; see
// claim_queue.hpp for the others. Pure: it is given time, answers and messages. A `fair = strict`
// handle has a gate of its own, and so competes by itself.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "lock/acquire_operation.hpp"
#include "lock/claim_queue.hpp"
#include "lock/gate_context.hpp"
#include "lock/gate_report.hpp"

namespace mortise::lock {

// Not thread-safe: its gate_driver serialises all calls.
class gate {
 public:
  gate(const protocol_facts& protocol, lock_io& io, gate_listener& listener);

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

  // Ends what the clock says is lost, and tells of that. Each of the above begins with it.
  void settle(time_ns now);

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
  [[nodiscard]] bool is_closed() const noexcept { return common_.is_closed; }

  // Whether it is not lost; and may be relied on, which takes acknowledgements that count.
  [[nodiscard]] bool lasts(const owner& owner, time_ns now) const noexcept {
    return owner.state == owner_state::held && now < valid_until(owner);
  }
  [[nodiscard]] bool is_held(const owner& owner, time_ns now) const noexcept {
    return lasts(owner, now) && claim_of(owner)->is_acknowledged();
  }
  [[nodiscard]] time_ns valid_until(const owner& owner) const noexcept {
    return claim_of(owner) == nullptr ? 0 : owner.in->valid_until(owner);
  }
  // What the server knows the hold by, and how much of the lock that is for; empty and 1 when there
  // is none.
  [[nodiscard]] std::string_view owner_token(const owner& owner) const noexcept {
    const auto* const claim = claim_of(owner);
    return claim == nullptr ? std::string_view() : std::string_view(claim->token());
  }
  [[nodiscard]] std::int64_t weight(const owner& owner) const noexcept {
    const auto* const claim = claim_of(owner);
    return claim == nullptr ? 1 : claim->weight();
  }

  // Events.
  void on_answer(std::uint64_t claim_id, std::uint32_t serial, const step_result& said,
                 time_ns now);
  void on_grant(std::string_view token, std::int64_t last_token, std::int64_t server_us,
                bool others_wait, time_ns now);
  void on_head(std::string_view token, std::int64_t ttl_ms, time_ns now);
  void on_wanted(std::string_view token, time_ns now);
  void on_forced(std::string_view token, time_ns now);
  void on_free(time_ns now);
  void on_up(time_ns now);
  // What the replicas said to this client's holds counts for nothing any more.
  void on_unacknowledged() noexcept;
  void on_timer(time_ns now);
  [[nodiscard]] time_ns next_timer() const noexcept;
  // Whether somebody waits whom the server has refused, or queued.
  [[nodiscard]] bool is_queued() const noexcept;
  // Whether a message is of use, and should not wait until the client asks something.
  [[nodiscard]] bool awaits_message() const noexcept;
  [[nodiscard]] gate_report report(time_ns now) const;
  // Whether the client has kept a claim for its next acquire, and nobody holds by it; and whether
  // that is the one with this owner token.
  [[nodiscard]] bool is_retained() const noexcept;
  [[nodiscard]] bool retains(std::string_view owner_token) const noexcept;
  // Whether nothing is held, retained, waited for or being given back.
  [[nodiscard]] bool is_idle() const noexcept;

 private:
  // The claim that it holds by, or nullptr.
  [[nodiscard]] static const lock::claim* claim_of(const owner& owner) noexcept {
    const bool holds = owner.state == owner_state::held && owner.in != nullptr;
    return holds ? owner.in->claim() : nullptr;
  }
  [[nodiscard]] outcome check_held(const owner& owner) const;
  claim_queue& queue_for(const acquire_operation& wanted, time_ns now);
  claim_queue& idle_queue();
  // The line whose claim has this owner token, or nullptr.
  [[nodiscard]] claim_queue* queue_of(std::string_view token) const noexcept;
  void add_holders(gate_report& told, const claim_queue& in, time_ns now) const;

  gate_context common_;
  std::vector<std::unique_ptr<claim_queue>> queues_;
};

}  // namespace mortise::lock
