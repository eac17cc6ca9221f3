#include "lock/release_phase.hpp"

#include <algorithm>

#include "lock/lease.hpp"

namespace mortise::lock {

void release_phase::begin(step what, time_ns held_until, const operation* by, step_requests& to,
                          time_ns now) {
  what_ = what;
  held_until_ = held_until;
  began_ = now;
  // A place in the queue is forgotten with the queue; a hold or a grant to nobody lapses.
  ends_at_ = what_ == step::cancel
                 ? now + to_ns(queue_life_ms)
                 : std::max(held_until_, now + to_ns(grant_lease_ms)) + to_ns(to.ttl_ms());
  to.ask({.what = what_, .by = by}, now, &ask_at_);
}

void release_phase::at_once(step_requests& to, time_ns now) {
  if (what_ != step::release_alone) return;
  what_ = step::release;
  ask(to, now);
}

void release_phase::ask(step_requests& to, time_ns now, bool with_text) {
  to.ask({.what = what_, .with_text = with_text}, now, &ask_at_);
}

void release_phase::on_up(step_requests& to, time_ns now) {
  if (to.open() == 0) ask(to, now);
}

claim_event release_phase::on_timer(step_requests& to, time_ns now) {
  if (now >= ask_at_) {
    ask_at_ = time_never;
    if (to.open(what_) == 0) ask(to, now);
  }
  return now < ends_at_ ? claim_event::none : end(answer::unknown);
}

claim_event release_phase::end(answer result) noexcept {
  result_ = result;
  return claim_event::released;
}

claim_event release_phase::on_answer(const open_request& asked, const step_result& said,
                                     step_requests& to, time_ns now) {
  if (asked.what != what_) return claim_event::none;
  switch (said.what) {
    case answer::no_script:
      ask(to, now, true);
      return claim_event::none;
    case answer::others_waiting:
      what_ = step::release;
      ask(to, now);
      return claim_event::none;
    case answer::broken:
      is_unknown_ = true;  // asked again after the reconnect
      return claim_event::none;
    case answer::unsent:
      if (!said.details.ok()) to.keep_details(said);
      return claim_event::none;
    case answer::refused:
    case answer::unknown:
      return refuse(said, to, now);
    case answer::cancelled:
      if (held_until_ == 0) return end(said.what);
      [[fallthrough]];  // only queued, not the owner, although it had been granted to us
    case answer::not_owner:
      // After a release whose answer was lost this is what success looks like.
      return end(is_unknown_ && now < held_until_ ? answer::released : answer::not_owner);
    default:
      return end(said.what);
  }
}

claim_event release_phase::refuse(const step_result& said, step_requests& to, time_ns now) {
  result_ = said.what;
  to.keep_details(said);
  is_unknown_ = is_unknown_ || said.what == answer::unknown;
  // All attempts were refused as well, so nothing is there.
  if (what_ == step::cancel && to.left_no_trace()) return claim_event::released;
  // What is refused for good is tried on for long; what is not understood is soon given up.
  if (said.what == answer::unknown && now - began_ > to_ns(grant_lease_ms))
    return claim_event::released;
  // Whoever waits for the leave is told, and it is tried on, less and less often: a place or a lock
  // that nobody wants costs all others its lease.
  ask_at_ = to.retry_time(now, (now - began_) / 2);
  return claim_event::refused;
}

}  // namespace mortise::lock
