// The second phase of a claim: the hold, its deadline, its renewals and its loss.
#pragma once

#include <cstdint>
#include <optional>

#include "lock/claim_event.hpp"
#include "lock/gate/step_requests.hpp"

namespace mortise::lock {

class hold {
 public:
  // Same contract as the functions of the same name in `claim`.
  claim_event begin(time_ns from, std::int64_t lease_ms, const step_result& result,
                    step_requests& requests, time_ns now);
  claim_event on_answer(const open_request& request, const step_result& result,
                        step_requests& requests, time_ns now);
  void on_up(step_requests& requests, time_ns now);
  claim_event on_timer(step_requests& requests, time_ns now);
  [[nodiscard]] time_ns next_timer() const noexcept;
  void on_waiter() noexcept { others_wait_ = true; }
  // A message reports that the hold was ended by force. The server is asked at once.
  void on_forced(step_requests& requests, time_ns now);
  void on_unacknowledged(const step_requests& requests) noexcept;
  // The request with this serial was executed.
  void on_acknowledged(std::uint32_t serial) noexcept;
  [[nodiscard]] bool is_acknowledged() const noexcept { return !unacknowledged_since_; }

  std::uint32_t renew(std::int64_t lease_ms, std::int64_t reserve, const operation* requester,
                      step_requests& requests, time_ns now);
  bool raise(const operation* requester, step_requests& requests, time_ns now);
  std::uint32_t lower(std::int64_t permits, const operation* requester, step_requests& requests,
                      time_ns now);
  void keep(const lease_terms& terms, step_requests& requests, time_ns now);
  // The claim has no holder until keep(). It is not renewed, and no risk is reported.
  void rest() noexcept { is_resting_ = true; }
  // A holder that takes up the claim by then has half of a lease, and time to renew it before it is
  // at risk.
  [[nodiscard]] time_ns rests_until() const noexcept { return valid_until_ - nominal_ns_ / 2; }
  // For a grant by message, whose certain part is short. An unrenewed hold lasts one lease from
  // now.
  void count_from(time_ns now) noexcept { granted_at_ = now; }

  [[nodiscard]] time_ns valid_until() const noexcept { return valid_until_; }
  [[nodiscard]] time_ns requested_until() const noexcept { return requested_until_; }
  void request_until(time_ns target) noexcept {
    requested_until_ = std::max(requested_until_, target);
  }
  [[nodiscard]] time_ns granted_at() const noexcept { return granted_at_; }
  [[nodiscard]] bool others_wait() const noexcept { return others_wait_; }
  [[nodiscard]] bool may_be_queued() const noexcept { return may_be_queued_; }
  [[nodiscard]] bool is_risk_reported() const noexcept { return is_risk_reported_; }
  [[nodiscard]] reason loss() const noexcept { return loss_; }
  [[nodiscard]] reason threat(const lease_terms& terms) const noexcept {
    const bool is_over = terms.renews && terms.until <= valid_until_ + ns_per_ms;
    return is_over ? reason::max_hold : reason::expired;
  }
  // From then on at most a third of the present lease is left.
  [[nodiscard]] time_ns margin() const noexcept { return valid_until_ - nominal_ns_ / 3; }
  [[nodiscard]] bool has_token() const noexcept { return next_token_ <= last_token_; }
  std::int64_t take_token() noexcept { return next_token_++; }

 private:
  claim_event on_renew_answer(const open_request& request, const step_result& result,
                              step_requests& requests, time_ns now);
  claim_event on_raise_answer(const open_request& request, const step_result& result,
                              step_requests& requests, time_ns now);
  claim_event on_late_check(const step_result& result) noexcept;
  void check_survival(step_requests& requests, time_ns now);
  void check_force(const open_request& request, const step_result& result, step_requests& requests,
                   time_ns now);
  claim_event lose(reason why) noexcept;
  void take_tokens(std::int64_t last, std::int64_t count) noexcept;
  void plan_renewal(time_ns from, step_requests& requests) noexcept;
  void renew_if_due(step_requests& requests, time_ns now);

  time_ns granted_at_ = 0;
  std::int64_t granted_us_ = 0;  // the server's time of the grant
  time_ns valid_until_ = 0;
  time_ns nominal_ns_ = 0;       // the length of the present lease
  bool is_too_long_ = false;     // the server's lease is longer than the holder's
  time_ns requested_until_ = 0;  // the latest deadline that was ever requested
  time_ns renew_at_ = time_never;
  std::uint32_t renewal_serial_ = 0;  // of the last renewal request
  bool is_risk_reported_ = false;
  bool is_resting_ = false;
  bool others_wait_ = false;
  bool may_be_queued_ = false;  // a late check may have enqueued us again
  // The last request to a server whose acknowledgements are no longer valid.
  std::optional<std::uint32_t> unacknowledged_since_;
  // The last request before the message about a forced release.
  std::optional<std::uint32_t> forced_since_;
  std::int64_t next_token_ = 1;
  std::int64_t last_token_ = 0;
  reason loss_ = reason::none;
};

}  // namespace mortise::lock
