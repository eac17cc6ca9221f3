// One claim of this client at the servers that speak for a name, from its first question to its
// release. A pure state machine: it is given answers, messages and the time, and asks through a
// link. Each of its phases, an attempt, a hold and a leave, is a state machine of its own. Who of
// this client's handles holds by it is the gate's business.
#pragma once

#include <cstdint>
#include <string>

#include "lock/attempt.hpp"
#include "lock/claim_event.hpp"
#include "lock/hold.hpp"
#include "lock/release_phase.hpp"
#include "lock/step_requests.hpp"

namespace mortise::lock {

enum class claim_phase : std::uint8_t {
  asking,     // the first answer is not there yet
  queued,     // waiting at the server
  held,       // ours, until valid_until()
  releasing,  // giving up a place or a hold
  over,
};

class claim {
 public:
  claim(std::uint64_t id, std::string token, const protocol_facts& protocol, const amount& wanted,
        const lease_terms& terms, const wait_terms& wait, lock_io& io);

  // Begins to ask. `directly` skips the cheap try because the lock is likely taken.
  void start(bool directly, const operation* by, time_ns now) {
    attempt_.start(directly, by, requests_, now);
  }
  // An answer to one of its questions.
  claim_event on_answer(std::uint32_t serial, const step_result& said, time_ns now);
  // A grant by message.
  claim_event on_grant(std::int64_t last_token, std::int64_t server_us, bool others_wait,
                       time_ns now);
  // "You are the head of the queue": look again when the present lease ends.
  void on_head(std::int64_t ttl_ms, time_ns now);
  // "It was released": said on a channel to all who may wait for it.
  void on_free(time_ns now);
  // "Somebody waits for your release".
  void on_wanted() noexcept { hold_.on_wanted(); }
  // "Somebody has ended your hold by force".
  void on_forced(time_ns now) {
    if (phase_ == claim_phase::held) hold_.on_forced(requests_, now);
  }
  // The connection is there (again): makes every open matter definite (hazards 15 and 16).
  void on_up(time_ns now);
  claim_event on_timer(time_ns now);
  [[nodiscard]] time_ns next_timer() const noexcept;

  // Asks for at least `lease_ms` from now, and for tokens. Returns the question's serial, or 0 when
  // it could not be sent.
  std::uint32_t renew(std::int64_t lease_ms, std::int64_t reserve, const operation* by,
                      time_ns now) {
    return hold_.renew(lease_ms, reserve, by, requests_, now);
  }
  // Takes the whole of what it has a part of, if nobody else has one. False when it was not sent.
  bool raise(const operation* by, time_ns now) { return hold_.raise(by, requests_, now); }
  // The same after on_up(), for one that the connection before did not answer.
  void raise_again(time_ns now) {
    if (requests_.open(step::raise) == 0) hold_.raise(nullptr, requests_, now);
  }
  // Renewals ask for this at least.
  void want_until(time_ns target) noexcept { hold_.want_until(target); }
  // Keeps only a part of the whole. It takes effect with the renewal that is asked for here, or
  // with any later one. The question's serial, or 0.
  std::uint32_t lower(std::int64_t weight, const operation* by, time_ns now) {
    return hold_.lower(weight, by, requests_, now);
  }
  // A new holder's terms: plans its renewals, and confirms the grant now if they want it.
  void keep(const lease_terms& terms, time_ns now) { hold_.keep(terms, requests_, now); }
  // Whether nobody else is known to want it, and it is sure, for half of a lease at least, and will
  // stay so: then it may serve somebody more, or stay without a holder.
  [[nodiscard]] bool is_settled(time_ns now) const noexcept {
    return now < rests_until() && is_acknowledged() && !others_wait() && !hold_.may_be_queued() &&
           requests_.open() == requests_.open(step::renew);
  }
  // It has no holder from now on, until keep().
  void rest() noexcept { hold_.rest(); }
  [[nodiscard]] time_ns rests_until() const noexcept { return hold_.rests_until(); }
  // Other terms for the present holder, from its next renewal on.
  void amend(const lease_terms& terms) noexcept { requests_.set_terms(terms); }
  // Gives up whatever it has or waits for. It is over at once when nothing can be at the server.
  void release(const operation* by, time_ns now);
  // No second question can follow: what is being released in the belief that nobody waits is handed
  // over to whoever does.
  void release_at_once(time_ns now);
  // Another handle of this client takes over what is asked or waited for.
  void take_over(const lease_terms& terms, const wait_terms& wait) noexcept {
    requests_.set_terms(terms);
    attempt_.take_over(wait);
  }
  // Asks the same again a little later: the server's refusal is a passing one.
  void retry_later(time_ns now) noexcept { attempt_.retry_later(requests_, now); }

  [[nodiscard]] std::uint64_t id() const noexcept { return requests_.claim_id(); }
  [[nodiscard]] claim_phase phase() const noexcept {
    const bool is_queued = phase_ == claim_phase::asking && attempt_.is_queued();
    return is_queued ? claim_phase::queued : phase_;
  }
  [[nodiscard]] const std::string& token() const noexcept { return requests_.token(); }
  [[nodiscard]] std::int64_t weight() const noexcept { return requests_.wanted().weight; }
  [[nodiscard]] std::int64_t limit() const noexcept { return requests_.wanted().limit; }
  // Also of one that was raised or lowered.
  [[nodiscard]] hold_mode mode() const noexcept {
    const auto& of = requests_.wanted();
    if (of.weight == exclusive_permits) return hold_mode::exclusive;
    return of.weight == of.limit ? of.mode : hold_mode::shared;
  }
  [[nodiscard]] time_ns valid_until() const noexcept { return hold_.valid_until(); }
  // The latest deadline that was ever asked for.
  [[nodiscard]] time_ns asked_until() const noexcept { return hold_.asked_until(); }
  // When the grant counts from for who has it: what is not renewed ends a lease later.
  [[nodiscard]] time_ns granted_at() const noexcept { return hold_.granted_at(); }
  // How long the last answer took to come.
  [[nodiscard]] time_ns trip_ns() const noexcept { return trip_ns_; }
  [[nodiscard]] const lease_terms& terms() const noexcept { return requests_.terms(); }
  [[nodiscard]] bool others_wait() const noexcept { return hold_.others_wait(); }
  // Whether at_risk was said since the hold was last prolonged.
  [[nodiscard]] bool is_risk_told() const noexcept { return hold_.is_risk_told(); }
  [[nodiscard]] const outcome& details() const noexcept { return requests_.details(); }
  // Of a refused acquire: whether it is worth while to ask again.
  [[nodiscard]] bool is_refusal_passing() const noexcept { return requests_.is_refusal_passing(); }
  [[nodiscard]] answer release_result() const noexcept { return release_.result(); }
  // Whether it waits for a first answer, and not, as a server has said, for others.
  [[nodiscard]] bool is_untold() const noexcept {
    return phase_ == claim_phase::asking && !(attempt_.is_queued() && attempt_.knows_of_others());
  }
  [[nodiscard]] contention next_contention() const noexcept { return attempt_.next_contention(); }
  // Where it stood in the queue when the server last told it; 0 is the head, -1 not told.
  [[nodiscard]] std::int64_t place() const noexcept { return attempt_.place(); }
  // Why it was lost; and why it will be, unless a renewal comes in time.
  [[nodiscard]] reason loss() const noexcept { return hold_.loss(); }
  [[nodiscard]] reason threat() const noexcept { return hold_.threat(terms()); }
  // Whether any question has found its way to the servers.
  [[nodiscard]] bool has_asked() const noexcept { return requests_.serial() != 0; }
  // Whether the server may have been told of the leave.
  [[nodiscard]] bool is_release_sent() const noexcept {
    return release_.is_unknown() || requests_.open() > 0;
  }
  // Whether the leave is on its way now.
  [[nodiscard]] bool is_release_in_flight() const noexcept {
    return phase_ == claim_phase::releasing && requests_.open(release_.asks()) > 0;
  }
  // Whether a question is open, so that the outcome of giving up now is not known.
  [[nodiscard]] bool is_unanswered() const noexcept {
    return requests_.open() > 0 || attempt_.was_broken();
  }
  // The same of what was asked since the count was so.
  [[nodiscard]] bool is_unanswered_since(std::uint32_t broken) const noexcept {
    return requests_.open() > 0 || requests_.broken() != broken;
  }
  [[nodiscard]] std::uint32_t broken() const noexcept { return requests_.broken(); }
  // Whether enough is left of the present lease to pass it on.
  [[nodiscard]] bool is_fresh(time_ns now) const noexcept { return now < hold_.margin(); }
  // Until what is asked from now on is carried out, what is held is not relied on.
  void on_unacknowledged() noexcept { hold_.on_unacknowledged(requests_); }
  [[nodiscard]] bool is_acknowledged() const noexcept { return hold_.is_acknowledged(); }
  [[nodiscard]] bool has_token() const noexcept { return hold_.has_token(); }
  // The next fencing token; above every token that was drawn before this claim.
  std::int64_t take_token() noexcept { return hold_.take_token(); }

 private:
  // Goes on to the phase that this leads to.
  claim_event enter(claim_event what) noexcept;

  step_requests requests_;
  claim_phase phase_ = claim_phase::asking;  // queued is asking, too: the attempt knows
  attempt attempt_;
  hold hold_;
  release_phase release_;
  time_ns trip_ns_ = 0;
};

}  // namespace mortise::lock
