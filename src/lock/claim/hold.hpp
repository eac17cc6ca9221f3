// The second phase of a claim: the hold, its deadline, its renewals and its loss.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "lock/claim_event.hpp"
#include "lock/gate/step_requests.hpp"

namespace mortise::lock {

class hold {
 public:
  explicit hold(step_requests& requests) : requests_(requests) {}

  // A grant that counts from this time. Returns `lost` if its lease is over.
  claim_event begin(time_ns from, std::int64_t lease_ms, const step_result& result, time_ns now);
  // As in `claim`.
  claim_event on_answer(const open_request& request, const step_result& result, time_ns now);
  void on_up(time_ns now);
  claim_event on_timer(time_ns now);
  [[nodiscard]] time_ns next_timer() const noexcept;
  // How much earlier than next_timer() the timer may run: a renewal may be early, so that many
  // holds are renewed together.
  [[nodiscard]] time_ns timer_slack() const noexcept {
    return next_timer() == renew_at_ ? renew_at_ - renew_from_ : 0;
  }
  // Asks the server whether the hold has survived, also a hold that is not renewed.
  void check_survival(time_ns now);
  // A message reports that the hold was ended by force. The server is asked at once.
  void on_forced(time_ns now);

  // Whether no later reply has shown yet that this message was false.
  [[nodiscard]] bool is_force_reported() const noexcept { return forced_since_.has_value(); }

  // Requests at least `lease_ms` from now, and tokens. Returns the request's serial, or 0 if it
  // could not be sent.
  std::uint32_t renew(std::int64_t lease_ms, std::int64_t reserve, const operation* requester,
                      time_ns now);
  // Upgrades to exclusive mode if no other holder shares the lock. False if not sent. `with_text`:
  // the server has forgotten the script.
  bool raise(const operation* requester, time_ns now, bool with_text = false);
  // Repeats an upgrade after on_up() if the previous connection did not answer it.
  void raise_again(time_ns now) {
    if (requests_.open(step::raise) == 0) raise(nullptr, now);
  }
  // Downgrades to `permits`. The renewal that is sent here applies it, or any later one. Returns
  // the request's serial, or 0.
  std::uint32_t lower(std::int64_t permits, const operation* requester, time_ns now);
  // Applies a new holder's terms: plans its renewals, and confirms the grant now if necessary.
  void keep(const lease_terms& terms, time_ns now);
  // The same holder's terms, which end later now. Resumes the renewals if they have ended.
  void prolong(const lease_terms& terms, time_ns now);
  // The claim has no holder until keep(). It is not renewed, and no risk is reported.
  void rest() noexcept { is_resting_ = true; }
  // A holder that takes up the claim by then has half of a lease, and time to renew it before it is
  // at risk.
  [[nodiscard]] time_ns rests_until() const noexcept { return valid_until_ - nominal_ns_ / 2; }
  // For a grant by message, whose certain part is short. An unrenewed hold lasts one lease from
  // now.
  void count_from(time_ns now) noexcept { granted_at_ = now; }

  [[nodiscard]] time_ns valid_until() const noexcept { return valid_until_; }
  // The minimum deadline that a renewal requests: that of the hold, of the open renewals and of the
  // calls that wait. A lower one would withdraw what the reply to an open renewal promises.
  [[nodiscard]] time_ns least_target() const noexcept {
    return std::max({valid_until_, needed_until_, requests_.latest_target()});
  }
  // The latest deadline that a waiting call needs, or 0. A call that has failed needs nothing.
  void need_until(time_ns target) noexcept { needed_until_ = target; }
  // The latest deadline that was ever requested. The server may keep the hold until then.
  [[nodiscard]] time_ns requested_until() const noexcept { return requested_until_; }
  // The deadline that the last failed renewal has requested.
  [[nodiscard]] time_ns refused_until() const noexcept { return refused_until_; }
  // The time from which the holder's grant counts. An unrenewed hold ends one lease later.
  [[nodiscard]] time_ns granted_at() const noexcept { return granted_at_; }
  // The end of the lease as of the grant: an adopted hold may have been exported for longer.
  [[nodiscard]] time_ns granted_until() const noexcept { return granted_until_; }
  [[nodiscard]] bool may_be_queued() const noexcept { return may_be_queued_; }
  // Whether at_risk was reported since the hold was last extended.
  [[nodiscard]] bool is_risk_reported() const noexcept { return is_risk_reported_; }
  // Why it was lost, and why it will be lost without a timely renewal.
  [[nodiscard]] reason loss() const noexcept { return loss_; }
  [[nodiscard]] reason threat() const noexcept {
    return is_over() ? requests_.terms().end.why() : reason::expired;
  }
  // From then on at most a third of the present lease is left.
  [[nodiscard]] time_ns margin() const noexcept { return valid_until_ - nominal_ns_ / 3; }
  [[nodiscard]] bool has_token() const noexcept { return next_token_ <= last_token_; }
  // The next fencing token. It is above every token that was drawn before this claim.
  std::int64_t take_token() noexcept { return next_token_++; }

 private:
  claim_event on_renew_answer(const open_request& request, const step_result& result, time_ns now);
  bool renew_with_text(const open_request& request, time_ns now);
  claim_event on_raise_answer(const open_request& request, const step_result& result, time_ns now);
  claim_event on_late_check(const step_result& result) noexcept;
  void check_force(const open_request& request, const step_result& result, time_ns now);
  claim_event lose(reason why) noexcept;
  void take_tokens(std::int64_t last, std::int64_t count) noexcept;
  void plan_renewal(time_ns from) noexcept;
  // Whether no renewal can extend the hold.
  [[nodiscard]] bool is_over() const noexcept {
    const auto& terms = requests_.terms();
    return terms.renews && terms.end.at() <= valid_until_ + ns_per_ms;
  }
  void renew_by(time_ns at, time_ns slack = 0) noexcept {
    renew_at_ = at;
    renew_from_ = at - slack;
  }
  void renew_if_due(time_ns now);

  step_requests& requests_;
  time_ns granted_at_ = 0;
  time_ns granted_until_ = 0;
  std::int64_t granted_us_ = 0;  // the server's time of the grant
  time_ns valid_until_ = 0;
  time_ns nominal_ns_ = 0;    // the length of the present lease
  bool is_too_long_ = false;  // the server's lease is longer than the holder's
  time_ns requested_until_ = 0;
  time_ns needed_until_ = 0;
  time_ns refused_until_ = 0;
  time_ns renew_at_ = time_never;
  time_ns renew_from_ = time_never;   // it may be renewed from then on, together with other holds
  std::uint32_t renewal_serial_ = 0;  // of the last renewal request
  bool is_risk_reported_ = false;
  bool is_resting_ = false;
  bool may_be_queued_ = false;  // a late check may have enqueued us again
  // The last request before the message about a forced release.
  std::optional<std::uint32_t> forced_since_;
  std::int64_t next_token_ = 1;
  std::int64_t last_token_ = 0;
  reason loss_ = reason::none;
};

}  // namespace mortise::lock
