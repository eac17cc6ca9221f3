// One claim of this client at the servers of one lock name, from its first request to its release.
// A claim is a pure state machine. Its caller passes replies, messages and the time, and the claim
// sends requests through lock I/O. Each phase (attempt, hold, release) is a state machine of its
// own, which exists only during the phase. The gate knows which of this client's handles hold by
// the claim.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "lock/claim/attempt.hpp"
#include "lock/claim/hold.hpp"
#include "lock/claim/hold_value.hpp"
#include "lock/claim/release_phase.hpp"
#include "lock/claim_event.hpp"
#include "lock/gate/step_requests.hpp"

namespace mortise::lock {

enum class claim_phase : std::uint8_t {
  asking,     // the first reply is pending
  queued,     // waiting at the server
  held,       // ours, until the hold's valid_until()
  releasing,  // a place or a hold is being released
  over,
};

class claim {
 public:
  claim(std::uint64_t id, std::string token, const protocol_facts& protocol,
        const lock::amount& requested, const lease_terms& terms, const wait_terms& wait,
        lock_io& io);
  claim(const claim&) = delete;
  claim& operator=(const claim&) = delete;

  // A reply to one of its requests.
  claim_event on_answer(std::uint32_t serial, const step_result& result, time_ns now);
  // A grant by message.
  claim_event on_grant(std::int64_t last_token, std::int64_t server_us, bool others_wait,
                       time_ns now);
  // The message "others wait for the release". It can overtake the reply that grants (RESP2).
  void on_waiter() noexcept { others_wait_ = has_known_waiter_ = true; }
  // The hold is not reliable until the servers execute a later request, because the previous server
  // may still answer an earlier one (hazard 7).
  void on_unacknowledged() noexcept { unacknowledged_since_ = requests_.serial(); }
  // The connection is open (again). Resolves every unknown result (hazards 15 and 16).
  void on_up(time_ns now);
  claim_event on_timer(time_ns now);
  [[nodiscard]] time_ns next_timer() const noexcept;
  // Sets the value of the hold, or removes it with an empty text. False if no request was sent.
  bool set_value(std::string text, const operation* requester, time_ns now) {
    return value_.set(std::move(text), requester, now);
  }
  [[nodiscard]] const hold_value& value() const noexcept { return value_; }
  // Releases the hold or the place. The claim is over at once if nothing can be at the server.
  void release(const operation* requester, time_ns now);

  // The phase, and its state: nullptr in another phase.
  [[nodiscard]] claim_phase phase() const noexcept;
  [[nodiscard]] lock::attempt* attempt() noexcept { return std::get_if<lock::attempt>(&phase_); }
  [[nodiscard]] lock::hold* hold() noexcept { return std::get_if<lock::hold>(&phase_); }
  [[nodiscard]] lock::release_phase* release_phase() noexcept {
    return std::get_if<lock::release_phase>(&phase_);
  }
  [[nodiscard]] step_requests& requests() noexcept { return requests_; }
  [[nodiscard]] const step_requests& requests() const noexcept { return requests_; }

  [[nodiscard]] std::uint64_t id() const noexcept { return requests_.claim_id(); }
  [[nodiscard]] const std::string& token() const noexcept { return requests_.token(); }
  // The present mode, also after an upgrade or a downgrade.
  [[nodiscard]] hold_mode mode() const noexcept {
    const auto& amount = requests_.amount();
    if (amount.permits == exclusive_permits) return hold_mode::exclusive;
    return amount.permits == amount.capacity ? amount.mode : hold_mode::shared;
  }
  // The result of a renewal or an upgrade with an inconclusive reply, or with none.
  [[nodiscard]] outcome failure_of_request() const;
  // The round trip of the last reply.
  [[nodiscard]] time_ns trip_ns() const noexcept { return trip_ns_; }
  // Whether others wait, or may wait: a quorum never knows that no client waits. The second is
  // true only after a message or a local waiter.
  [[nodiscard]] bool others_wait() const noexcept { return others_wait_; }
  [[nodiscard]] bool has_known_waiter() const noexcept { return has_known_waiter_; }
  [[nodiscard]] bool is_acknowledged() const noexcept { return !unacknowledged_since_; }
  // Whether no other client is known to wait, at least half of a lease is certain, no forced
  // release is reported, and no value belongs to the present holder. The claim may then serve
  // another reader, or be retained without a holder.
  [[nodiscard]] bool is_settled(time_ns now) const noexcept;
  // For the attempt after a granted one.
  [[nodiscard]] const contention& next_contention() const noexcept { return next_contention_; }

 private:
  claim_event begin_hold(time_ns from, std::int64_t lease_ms, const step_result& result,
                         time_ns now);
  claim_event on_value_answer(const open_request& request, const step_result& result, time_ns now);
  // The claim is over after some events. A lost hold is then released nevertheless.
  claim_event end_after(claim_event what) noexcept;

  step_requests requests_;
  hold_value value_{requests_};
  std::variant<lock::attempt, lock::hold, lock::release_phase> phase_;
  bool is_over_ = false;
  bool others_wait_ = false;
  bool has_known_waiter_ = false;
  // The last request to a server whose acknowledgements are no longer valid.
  std::optional<std::uint32_t> unacknowledged_since_;
  contention next_contention_;
  time_ns trip_ns_ = 0;
};

}  // namespace mortise::lock
