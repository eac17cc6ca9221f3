#include "lock/claim/release_phase.hpp"

#include <algorithm>

#include "lock/lease.hpp"

namespace mortise::lock {

// A place in the queue ends with the queue. A hold or a grant without a holder lapses.
release_phase::release_phase(step_requests& requests, step what, time_ns held_until,
                             time_ns lasts_until, const operation* requester, time_ns now)
    : requests_(requests),
      what_(what),
      held_until_(held_until),
      began_(now),
      ends_at_(what == step::cancel ? now + to_ns(queue_life_ms)
                                    : std::max(lasts_until, now + to_ns(grant_lease_ms)) +
                                          to_ns(requests.ttl_ms())) {
  requests_.ask({.what = what_, .requester = requester}, now, &ask_at_);
}

void release_phase::at_once(time_ns now) {
  if (what_ != step::release_alone) return;
  what_ = step::release;
  ask(now);
}

void release_phase::ask(time_ns now, bool with_text) {
  requests_.ask({.what = what_, .with_text = with_text}, now, &ask_at_);
}

void release_phase::on_up(time_ns now) {
  if (requests_.open() == 0) ask(now);
}

claim_event release_phase::on_timer(time_ns now) {
  if (now >= ask_at_) {
    ask_at_ = time_never;
    if (requests_.open(what_) == 0) ask(now);
  }
  return now < ends_at_ ? claim_event::none : end(answer::unknown);
}

claim_event release_phase::end(answer result) noexcept {
  result_ = result;
  return claim_event::released;
}

// Whether the reply to the request that at_once() has repeated ends the release. If that request
// may have released the lock, the repetition finds no hold (hazard 23).
bool release_phase::is_decided_by(const open_request& earlier, const step_result& result) noexcept {
  if (earlier.what != step::release_alone) return false;
  is_unknown_ |= result.what == answer::broken || result.what == answer::unknown;
  return result.what == answer::released || result.what == answer::not_owner;
}

claim_event release_phase::on_answer(const open_request& request, const step_result& result,
                                     time_ns now) {
  if (request.what != what_ && !is_decided_by(request, result)) return claim_event::none;
  switch (result.what) {
    case answer::no_script:
      ask(now, true);
      return claim_event::none;
    case answer::others_waiting:
      what_ = step::release;
      ask(now);
      return claim_event::none;
    case answer::broken:
      is_unknown_ = true;  // on_up() sends it again
      return claim_event::none;
    case answer::unsent:
      if (!result.details.ok()) requests_.keep_details(result);
      return claim_event::none;
    case answer::refused:
    case answer::unknown:
      return refuse(result, now);
    case answer::cancelled:
      if (held_until_ == 0) return end(result.what);
      [[fallthrough]];  // only queued, although the lock was granted to us
    case answer::not_owner:
      // After a release whose reply was lost, success looks like this.
      return end(is_unknown_ && now < held_until_ ? answer::released : answer::not_owner);
    default:
      return end(result.what);
  }
}

claim_event release_phase::refuse(const step_result& result, time_ns now) {
  result_ = result.what;
  requests_.keep_details(result);
  is_unknown_ = is_unknown_ || result.what == answer::unknown;
  // All acquire requests were also refused, so nothing is at the server.
  if (what_ == step::cancel && requests_.left_no_trace()) return claim_event::released;
  // A refused release is retried for long. An unknown reply ends the retries soon.
  if (result.what == answer::unknown && now - began_ > to_ns(grant_lease_ms))
    return claim_event::released;
  // The waiting unlock gets the result, and the retries become less and less frequent. A place or a
  // lock that no client uses costs all others its lease.
  ask_at_ = requests_.retry_time(now, (now - began_) / 2);
  return claim_event::refused;
}

}  // namespace mortise::lock
