// One claim of this client at the servers of one lock name, from its first request to its release.
// A claim is a pure state machine. Its caller passes replies, messages and the time, and the claim
// sends requests through lock I/O. Each phase (attempt, hold, release) is a state machine of its
// own. The gate knows which of this client's handles hold by the claim.
#pragma once

#include <cstdint>
#include <string>

#include "lock/claim/attempt.hpp"
#include "lock/claim/hold.hpp"
#include "lock/claim/release_phase.hpp"
#include "lock/claim_event.hpp"
#include "lock/gate/step_requests.hpp"

namespace mortise::lock {

enum class claim_phase : std::uint8_t {
  asking,     // the first reply is pending
  queued,     // waiting at the server
  held,       // ours, until valid_until()
  releasing,  // a place or a hold is being released
  over,
};

class claim {
 public:
  claim(std::uint64_t id, std::string token, const protocol_facts& protocol,
        const lock::amount& requested, const lease_terms& terms, const wait_terms& wait,
        lock_io& io);

  // Sends the first request. `directly` skips the cheap try because the lock is likely taken.
  void start(bool directly, const operation* requester, time_ns now) {
    attempt_.start(directly, requester, requests_, now);
  }
  // A reply to one of its requests.
  claim_event on_answer(std::uint32_t serial, const step_result& result, time_ns now);
  // A grant by message.
  claim_event on_grant(std::int64_t last_token, std::int64_t server_us, bool others_wait,
                       time_ns now);
  // The message "head of the queue": check again when the present lease ends.
  void on_head(std::int64_t ttl_ms, time_ns now);
  // The message "released", which a channel publishes to all possible waiters.
  void on_free(time_ns now);
  // The message "others wait for the release".
  void on_waiter() noexcept { hold_.on_waiter(); }
  // The message "hold ended by force".
  void on_forced(time_ns now) {
    if (phase_ == claim_phase::held) hold_.on_forced(requests_, now);
  }
  // The connection is open (again). Resolves every unknown result (hazards 15 and 16).
  void on_up(time_ns now);
  claim_event on_timer(time_ns now);
  [[nodiscard]] time_ns next_timer() const noexcept;

  // Requests at least `lease_ms` from now, and tokens. Returns the request's serial, or 0 if it
  // could not be sent.
  std::uint32_t renew(std::int64_t lease_ms, std::int64_t reserve, const operation* requester,
                      time_ns now) {
    return hold_.renew(lease_ms, reserve, requester, requests_, now);
  }
  // Upgrades to exclusive mode if no other holder shares the lock. False if not sent.
  bool raise(const operation* requester, time_ns now) {
    return hold_.raise(requester, requests_, now);
  }
  // Repeats an upgrade after on_up() if the previous connection did not answer it.
  void raise_again(time_ns now) {
    if (requests_.open(step::raise) == 0) hold_.raise(nullptr, requests_, now);
  }
  // The minimum deadline of later renewals.
  void request_until(time_ns target) noexcept { hold_.request_until(target); }
  // Downgrades to `permits`. The renewal that is sent here applies it, or any later one. Returns
  // the request's serial, or 0.
  std::uint32_t lower(std::int64_t permits, const operation* requester, time_ns now) {
    return hold_.lower(permits, requester, requests_, now);
  }
  // Applies a new holder's terms: plans its renewals, and confirms the grant now if necessary.
  void keep(const lease_terms& terms, time_ns now) { hold_.keep(terms, requests_, now); }
  // Whether no other client is known to wait, and at least half of a lease is certain. The claim
  // may then serve another reader, or be retained without a holder.
  [[nodiscard]] bool is_settled(time_ns now) const noexcept {
    return now < rests_until() && is_acknowledged() && !others_wait() && !hold_.may_be_queued() &&
           requests_.open() == requests_.open(step::renew);
  }
  // The claim has no holder until keep().
  void rest() noexcept { hold_.rest(); }
  [[nodiscard]] time_ns rests_until() const noexcept { return hold_.rests_until(); }
  // Other terms for the present holder, from its next renewal on.
  void amend(const lease_terms& terms) noexcept { requests_.set_terms(terms); }
  // Releases the hold or the place. The claim is over at once if nothing can be at the server.
  void release(const operation* requester, time_ns now);
  // No second request can follow. A release_alone in progress becomes a release, which hands over
  // to a waiter.
  void release_at_once(time_ns now);
  // Another handle of this client takes over the request or the place.
  void take_over(const lease_terms& terms, const wait_terms& wait) noexcept {
    requests_.set_terms(terms);
    attempt_.take_over(wait);
  }
  // Repeats the request a little later, because the server's refusal is temporary.
  void retry_later(time_ns now) noexcept { attempt_.retry_later(requests_, now); }

  [[nodiscard]] std::uint64_t id() const noexcept { return requests_.claim_id(); }
  [[nodiscard]] claim_phase phase() const noexcept {
    const bool is_queued = phase_ == claim_phase::asking && attempt_.is_queued();
    return is_queued ? claim_phase::queued : phase_;
  }
  [[nodiscard]] const std::string& token() const noexcept { return requests_.token(); }
  [[nodiscard]] std::int64_t permits() const noexcept { return requests_.amount().permits; }
  [[nodiscard]] std::int64_t capacity() const noexcept { return requests_.amount().capacity; }
  // The present mode, also after an upgrade or a downgrade.
  [[nodiscard]] hold_mode mode() const noexcept {
    const auto& requested = requests_.amount();
    if (requested.permits == exclusive_permits) return hold_mode::exclusive;
    return requested.permits == requested.capacity ? requested.mode : hold_mode::shared;
  }
  [[nodiscard]] time_ns valid_until() const noexcept { return hold_.valid_until(); }
  // The latest deadline that was ever requested.
  [[nodiscard]] time_ns requested_until() const noexcept { return hold_.requested_until(); }
  // The time from which the holder's grant counts. An unrenewed hold ends one lease later.
  [[nodiscard]] time_ns granted_at() const noexcept { return hold_.granted_at(); }
  // The round trip of the last reply.
  [[nodiscard]] time_ns trip_ns() const noexcept { return trip_ns_; }
  [[nodiscard]] const lease_terms& terms() const noexcept { return requests_.terms(); }
  [[nodiscard]] bool others_wait() const noexcept { return hold_.others_wait(); }
  // Whether at_risk was reported since the hold was last extended.
  [[nodiscard]] bool is_risk_reported() const noexcept { return hold_.is_risk_reported(); }
  [[nodiscard]] const outcome& details() const noexcept { return requests_.details(); }
  // Whether a refused acquire is worth a retry.
  [[nodiscard]] bool is_refusal_passing() const noexcept { return requests_.is_refusal_passing(); }
  [[nodiscard]] answer release_result() const noexcept { return release_.result(); }
  // Whether it waits for a first reply. False after a server has reported other holders or waiters.
  [[nodiscard]] bool awaits_first_reply() const noexcept {
    return phase_ == claim_phase::asking && !(attempt_.is_queued() && attempt_.is_taken());
  }
  [[nodiscard]] contention next_contention() const noexcept { return attempt_.next_contention(); }
  // The place in the queue that the server last reported. 0 is the head, -1 unknown.
  [[nodiscard]] std::int64_t place() const noexcept { return attempt_.place(); }
  // Why it was lost, and why it will be lost without a timely renewal.
  [[nodiscard]] reason loss() const noexcept { return hold_.loss(); }
  [[nodiscard]] reason threat() const noexcept { return hold_.threat(terms()); }
  // Whether any request was sent to the servers.
  [[nodiscard]] bool has_sent() const noexcept { return requests_.serial() != 0; }
  // Whether the server may have received the release.
  [[nodiscard]] bool is_release_sent() const noexcept {
    return release_.is_unknown() || requests_.open() > 0;
  }
  // Whether the release is in flight now.
  [[nodiscard]] bool is_release_in_flight() const noexcept {
    return phase_ == claim_phase::releasing && requests_.open(release_.what()) > 0;
  }
  // Whether a request has no reply, so that the result of giving up now is unknown.
  [[nodiscard]] bool is_unanswered() const noexcept {
    return requests_.open() > 0 || attempt_.was_broken();
  }
  // The same for the requests since broken() returned `broken`.
  [[nodiscard]] bool is_unanswered_since(std::uint32_t broken) const noexcept {
    return requests_.open() > 0 || requests_.broken() != broken;
  }
  [[nodiscard]] std::uint32_t broken() const noexcept { return requests_.broken(); }
  // Whether enough of the present lease is left for a pass.
  [[nodiscard]] bool is_fresh(time_ns now) const noexcept { return now < hold_.margin(); }
  // The hold is not reliable until the servers execute a later request.
  void on_unacknowledged() noexcept { hold_.on_unacknowledged(requests_); }
  [[nodiscard]] bool is_acknowledged() const noexcept { return hold_.is_acknowledged(); }
  [[nodiscard]] bool has_token() const noexcept { return hold_.has_token(); }
  // The next fencing token. It is above every token that was drawn before this claim.
  std::int64_t take_token() noexcept { return hold_.take_token(); }

 private:
  // Enters the phase that follows from the event.
  claim_event enter(claim_event what) noexcept;

  step_requests requests_;
  claim_phase phase_ = claim_phase::asking;  // includes queued, which only the attempt knows
  attempt attempt_;
  hold hold_;
  release_phase release_;
  time_ns trip_ns_ = 0;
};

}  // namespace mortise::lock
