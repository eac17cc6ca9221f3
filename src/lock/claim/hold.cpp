#include "lock/claim/hold.hpp"

#include <algorithm>
#include <utility>

#include "lock/lease.hpp"

namespace mortise::lock {

namespace {

// The deadline that the holder needs at the server, as of now.
time_ns target_of(const lease_terms& terms, time_ns now) noexcept {
  const auto lease_end = terms.renews ? now + to_ns(terms.lease_ms) : terms.end.at();
  return std::min(lease_end, terms.end.at());
}

}  // namespace

// `lease_ms` is the requested lease. If this handle has taken over, another handle requested it.
// The holder's deadline never exceeds its own lease.
claim_event hold::begin(time_ns from, std::int64_t lease_ms, const step_result& result,
                        time_ns now) {
  const auto own_ms = requests_.terms().lease_ms;
  is_too_long_ = lease_ms > own_ms;
  nominal_ns_ = to_ns(std::min(lease_ms, own_ms));
  granted_at_ = from;
  granted_until_ =
      from + least_passed_us(result.ttl_ms * (ns_per_ms / ns_per_us), requests_.terms().drift_ppm) *
                 ns_per_us;
  valid_until_ = from + nominal_ns_;
  requested_until_ = valid_until_;
  granted_us_ = result.server_us;
  take_tokens(result.last_token, result.token_count);
  // A reply that arrives after the end of its lease is not a grant (hazard 6).
  if (now >= valid_until_) return lose(reason::expired);
  plan_renewal(from);
  return claim_event::granted;
}

void hold::take_tokens(std::int64_t last, std::int64_t count) noexcept {
  if (count == 0 || last <= last_token_) return;
  next_token_ = last - count + 1;
  last_token_ = last;
}

claim_event hold::lose(reason why) noexcept {
  loss_ = why;
  return claim_event::lost;
}

// ---- renewals -------------------------------------------------------------------------------

void hold::plan_renewal(time_ns from) noexcept {
  is_risk_reported_ = false;
  // A third of the lease, plus or minus a tenth of the third, so that many holders do not renew at
  // the same time.
  const auto third = nominal_ns_ / 3;
  const auto at = from + third - third / 10 + requests_.random_below(third / 5 + 1);
  renew_by(at, nominal_ns_ / 20);  // early, together with other holds, but never late
}

void hold::keep(const lease_terms& terms, time_ns now) {
  requests_.set_terms(terms);
  is_risk_reported_ = is_resting_ = false;
  if (std::exchange(is_too_long_, false)) {
    // No caller has seen a later deadline, so the lease may be shortened (hazard 17).
    renew(terms.lease_ms, 0, nullptr, now);
  }
  // Also for an unrenewed hold: a short grant must be confirmed, unless the hold ends before.
  const auto latest = valid_until_ - nominal_ns_ / 3 * 2;
  if (latest < renew_at_) renew_by(latest, renew_at_ - renew_from_);
  renew_if_due(now);
}

void hold::prolong(const lease_terms& terms, time_ns now) {
  const bool was_over = is_over();
  requests_.set_terms(terms);
  if (!was_over) return;  // the next renewal is planned
  renew_by(now);
  renew_if_due(now);
}

std::uint32_t hold::renew(std::int64_t lease_ms, std::int64_t reserve, const operation* requester,
                          time_ns now) {
  const auto target = std::max(now + to_ns(lease_ms), least_target());
  const auto lease = (target - now + ns_per_ms - 1) / ns_per_ms;
  if (!requests_.ask({.what = step::renew,
                      .ttl_ms = requests_.ttl_ms(lease),
                      .requester = requester,
                      .target = target,
                      .reserve = reserve},
                     now)) {
    return 0;
  }
  requested_until_ = std::max(requested_until_, target);
  return renewal_serial_ = requests_.serial();
}

void hold::renew_if_due(time_ns now) {
  if (now < renew_from_) return;
  if (requests_.open(step::raise) > 0) {
    renew_by(time_never);  // the reply plans the next renewal
    return;
  }
  const auto& terms = requests_.terms();
  const auto target = target_of(terms, now);
  // Retries are a ninth of the lease apart, so at least three fit before the margin (hazard 18).
  renew_by(now + std::max(nominal_ns_ / 9, ns_per_ms), nominal_ns_ / 180);
  if (target <= valid_until_ + ns_per_ms) {
    if (!terms.renews || target >= terms.end.at()) renew_by(time_never);
    return;
  }
  constexpr std::size_t tries_open_max = 3;
  if (requests_.open() >= tries_open_max) return;
  renew((target - now) / ns_per_ms, 0, nullptr, now);
}

void hold::check_survival(time_ns now) {
  if (requests_.open() == 0) renew(0, 0, nullptr, now);
}

void hold::on_up(time_ns now) {
  renew_by(now);
  renew_if_due(now);
  check_survival(now);
}

// A message is only a hint (hazard 24), and any client can send one. The server decides.
void hold::on_forced(time_ns now) {
  forced_since_ = requests_.serial();
  check_survival(now);
}

// A request before the message may have been answered before the forced release.
void hold::check_force(const open_request& request, const step_result& result, time_ns now) {
  const bool is_owner = result.what == answer::renewed || result.what == answer::granted ||
                        result.what == answer::not_free;
  if (!forced_since_ || !is_owner) return;
  if (request.serial > *forced_since_) return forced_since_.reset();
  check_survival(now);
}

claim_event hold::on_timer(time_ns now) {
  if (now >= valid_until_) return lose(threat());
  if (is_resting_) return claim_event::none;
  renew_if_due(now);
  if (is_risk_reported_ || now < margin()) return claim_event::none;
  is_risk_reported_ = true;
  return claim_event::at_risk;
}

time_ns hold::next_timer() const noexcept {
  if (is_resting_) return valid_until_;
  return std::min({valid_until_, renew_at_, is_risk_reported_ ? time_never : margin()});
}

// ---- upgrades and downgrades ---------------------------------------------------------------

// Until the reply to this request, a renewal would ask for shared mode and undo the upgrade. So no
// renewal begins in the meantime.
//
// At a quorum the servers that vote differ from step to step. Each vote of the writer has to last
// as long as the hold, so the request names that time (hazard 17).
bool hold::raise(const operation* requester, time_ns now, bool with_text) {
  return requests_.ask({.what = step::raise,
                        .ttl_ms = requests_.ttl_ms((least_target() - now) / ns_per_ms + 1),
                        .requester = requester,
                        .with_text = with_text},
                       now);
}

std::uint32_t hold::lower(std::int64_t permits, const operation* requester, time_ns now) {
  requests_.set_permits(permits);
  // A distinct deadline, so that the reply to an earlier renewal does not count for this one.
  need_until(least_target() + 1);
  return renew(0, 0, requester, now);
}

// ---- replies -------------------------------------------------------------------------------

claim_event hold::on_answer(const open_request& request, const step_result& result, time_ns now) {
  if (request.what != step::renew && request.what != step::raise) return on_late_check(result);
  // The deadline decides, not the reply. No reply restores a hold after its deadline.
  if (now >= valid_until_) return lose(threat());
  if (result.what == answer::not_owner) {
    if (forced_since_) return lose(reason::forced);
    return lose(result.is_replaced ? reason::replaced : reason::server_lost);
  }
  const auto what = request.what == step::renew ? on_renew_answer(request, result, now)
                                                : on_raise_answer(request, result, now);
  check_force(request, result, now);
  return what;
}

// A check that a message has overtaken. If the lock was deleted in between, the server found no
// hold of ours and has enqueued us (hazard 14).
claim_event hold::on_late_check(const step_result& result) noexcept {
  if (result.what == answer::granted || result.what == answer::unsent) return claim_event::none;
  may_be_queued_ = true;
  return result.what == answer::queued && result.server_us > granted_us_ ? lose(reason::server_lost)
                                                                         : claim_event::none;
}

claim_event hold::on_raise_answer(const open_request& request, const step_result& result,
                                  time_ns now) {
  if (renew_at_ == time_never) renew_by(now);
  switch (result.what) {
    case answer::granted:
      // A later renewal has undone the upgrade, because the script was missing or the caller gave
      // up.
      if (renewal_serial_ > request.serial) return claim_event::not_raised;
      requests_.set_permits(requests_.amount().capacity);
      take_tokens(result.last_token, result.token_count);
      return claim_event::raised;
    case answer::not_free:
      return claim_event::not_raised;
    case answer::broken:
    case answer::unsent:
      return claim_event::none;  // raise_again() repeats it after a renewal that undoes it
    case answer::no_script:
      if (raise(nullptr, now, true)) return claim_event::none;
      [[fallthrough]];
    default:
      // If the server executed the upgrade, a renewal undoes it, because it asks for shared mode.
      // Without one, other readers would wait.
      requests_.keep_details(result);
      check_survival(now);
      return claim_event::raise_failed;
  }
}

// Requests no less than later renewals did. If other clients have reloaded the script, a later
// renewal may be executed already, and this request follows it.
bool hold::renew_with_text(const open_request& request, time_ns now) {
  const auto target = std::max(request.target, least_target());
  const bool is_sent = requests_.ask({.what = step::renew,
                                      .ttl_ms = requests_.ttl_ms((target - now) / ns_per_ms + 1),
                                      .target = target,
                                      .reserve = request.reserve,
                                      .with_text = true},
                                     now);
  if (is_sent) renewal_serial_ = requests_.serial();
  return is_sent;
}

claim_event hold::on_renew_answer(const open_request& request, const step_result& result,
                                  time_ns now) {
  switch (result.what) {
    case answer::renewed:
      if (request.target > valid_until_) {
        valid_until_ = request.target;
        nominal_ns_ = request.target - request.sent;
        // An extension stays the lease, even if its caller has given up.
        requests_.lengthen_lease(nominal_ns_ / ns_per_ms);
        plan_renewal(request.sent);
        if (!requests_.terms().renews) renew_by(time_never);
      }
      if (request.reserve > 0 && result.last_token >= least_token) {
        take_tokens(result.last_token, request.reserve);
      }
      return claim_event::renewed;
    case answer::broken:
    case answer::unsent:
      if (!result.details.ok()) requests_.keep_details(result);
      return claim_event::none;  // on_up() sends it again
    case answer::no_script:
      if (renew_with_text(request, now)) return claim_event::none;
      [[fallthrough]];
    default:
      refused_until_ = request.target;
      requests_.keep_details(result);
      return claim_event::renew_failed;
  }
}

}  // namespace mortise::lock
