#include "lock/claim/claim.hpp"

#include <utility>

#include "lock/lease.hpp"

namespace mortise::lock {

claim::claim(std::uint64_t id, std::string token, const protocol_facts& protocol,
             const lock::amount& requested, const lease_terms& terms, const wait_terms& wait,
             lock_io& io)
    : requests_(id, std::move(token), requested, terms, io),
      attempt_(protocol, wait, grant_ms(terms.lease_ms)) {}

claim_event claim::enter(claim_event what) noexcept {
  switch (what) {
    case claim_event::granted:
      phase_ = claim_phase::held;
      break;
    case claim_event::not_free:
    case claim_event::lost:
    case claim_event::released:
      phase_ = claim_phase::over;
      break;
    default:
      break;
  }
  return what;
}

claim_event claim::on_answer(std::uint32_t serial, const step_result& result, time_ns now) {
  const auto request = requests_.close(serial, result);
  if (!request) return claim_event::none;
  if (result.what != answer::broken && result.what != answer::unsent)
    trip_ns_ = now - request->sent;
  switch (phase_) {
    case claim_phase::asking:
    case claim_phase::queued: {
      const auto what = attempt_.on_answer(*request, result, requests_, now);
      if (what != claim_event::granted) return enter(what);
      hold_.on_acknowledged(request->serial);
      return enter(hold_.begin(request->sent, request->lease_ms, result, requests_, now));
    }
    case claim_phase::held:
      return enter(hold_.on_answer(*request, result, requests_, now));
    case claim_phase::releasing:
      return enter(release_.on_answer(*request, result, requests_, now));
    case claim_phase::over:
      break;
  }
  return claim_event::none;
}

claim_event claim::on_grant(std::int64_t last_token, std::int64_t server_us, bool others_wait,
                            time_ns now) {
  if (phase_ != claim_phase::asking) return claim_event::none;
  const auto from = attempt_.on_grant(server_us, requests_, now);
  if (!from) return claim_event::none;
  step_result result;
  result.last_token = last_token;
  result.server_us = server_us;
  result.token_count = 1;
  result.others_wait = others_wait;
  const auto what = hold_.begin(*from, attempt_.grant_ms(), result, requests_, now);
  hold_.count_from(now);
  return enter(what);
}

void claim::on_free(time_ns now) {
  if (phase_ == claim_phase::asking) attempt_.on_free(requests_, now);
}

void claim::on_head(std::int64_t ttl_ms, time_ns now) {
  if (phase_ == claim_phase::asking) attempt_.on_head(ttl_ms, requests_, now);
}

void claim::on_up(time_ns now) {
  switch (phase_) {
    case claim_phase::asking:
    case claim_phase::queued:
      return attempt_.on_up(requests_, now);
    case claim_phase::held:
      return hold_.on_up(requests_, now);
    case claim_phase::releasing:
      return release_.on_up(requests_, now);
    case claim_phase::over:
      break;
  }
}

time_ns claim::next_timer() const noexcept {
  switch (phase_) {
    case claim_phase::asking:
    case claim_phase::queued:
      return attempt_.next_timer();
    case claim_phase::held:
      return hold_.next_timer();
    case claim_phase::releasing:
      return release_.next_timer();
    case claim_phase::over:
      break;
  }
  return time_never;
}

claim_event claim::on_timer(time_ns now) {
  switch (phase_) {
    case claim_phase::asking:
    case claim_phase::queued:
      attempt_.on_timer(requests_, now);
      break;
    case claim_phase::held:
      return enter(hold_.on_timer(requests_, now));
    case claim_phase::releasing:
      return enter(release_.on_timer(requests_, now));
    case claim_phase::over:
      break;
  }
  return claim_event::none;
}

void claim::release(const operation* requester, time_ns now) {
  if (phase_ == claim_phase::releasing) return;
  const bool was_held = phase_ != claim_phase::asking;
  if (!was_held && requests_.left_no_trace()) {
    phase_ = claim_phase::over;
    return;
  }
  phase_ = claim_phase::releasing;
  // A check that a message has overtaken may still enqueue us if the grant has lapsed by then.
  const bool may_queue = hold_.may_be_queued() || requests_.open() > requests_.open(step::renew);
  auto what = step::cancel;
  if (was_held && !may_queue) what = hold_.others_wait() ? step::release : step::release_alone;
  release_.begin(what, hold_.valid_until(), requester, requests_, now);
}

void claim::release_at_once(time_ns now) {
  if (phase_ == claim_phase::releasing) release_.at_once(requests_, now);
}

}  // namespace mortise::lock
