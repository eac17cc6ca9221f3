// The end of a tenure: how a place in the queue or a hold is given back, also against resistance.
#include <algorithm>

#include "lock/lease.hpp"
#include "lock/tenure.hpp"

namespace mortise::lock {

void tenure::leave(operation* caller, time_ns now) {
  if (phase_ == tenure_phase::leaving) return;
  const bool was_held = phase_ == tenure_phase::held || phase_ == tenure_phase::over;
  if (!was_held && !may_be_there_ && open_.empty()) {
    phase_ = tenure_phase::over;
    return;
  }
  phase_ = tenure_phase::leaving;
  // A look that was overtaken by a message may still enqueue us, if the grant has lapsed by then.
  const bool may_queue =
      may_be_queued_ || std::any_of(open_.begin(), open_.end(),
                                    [](const auto& item) { return item.what != step::renew; });
  leave_step_ = step::cancel;
  if (was_held && !may_queue) leave_step_ = others_wait_ ? step::release : step::release_alone;
  left_at_ = now;
  // A place in the queue is forgotten with the queue; a hold or a grant to nobody lapses.
  leave_until_ =
      leave_step_ == step::cancel
          ? now + to_ns(queue_life_ms)
          : std::max(valid_until_, now + grant_lease_ms * ns_per_ms) + lease_ttl_ms() * ns_per_ms;
  ask_at_ = time_never;
  ask({.what = leave_step_, .caller = caller}, now);
}

void tenure::leave_at_once(time_ns now) {
  if (phase_ != tenure_phase::leaving || leave_step_ != step::release_alone) return;
  leave_step_ = step::release;
  ask({.what = leave_step_}, now);
}

news tenure::on_leave_answer(const open_question& asked, const verdict& said, time_ns now) {
  if (asked.what != leave_step_) return news::none;
  switch (said.what) {
    case answer::no_script:
      ask({.what = leave_step_, .with_text = true}, now);
      return news::none;
    case answer::others_waiting:
      leave_step_ = step::release;
      ask({.what = leave_step_}, now);
      return news::none;
    case answer::broken:
      leave_unknown_ = true;  // asked again after the reconnect
      return news::none;
    case answer::unsent:
      return news::none;
    case answer::refused:
    case answer::unknown:
      leave_result_ = said.what;
      details_ = said.details;
      leave_unknown_ = leave_unknown_ || said.what == answer::unknown;
      // All attempts were refused as well, so nothing is there.
      if (leave_step_ == step::cancel && !may_be_there_ && open_.empty()) break;
      // What is refused for good is tried on for long; what is not understood is soon given up.
      if (said.what == answer::unknown && now - left_at_ > grant_lease_ms * ns_per_ms) break;
      // Whoever waits for the leave is told, and it is tried on, less and less often: a place or a
      // lock that nobody wants costs all others its lease.
      retry_later(now, (now - left_at_) / 2);
      return news::refused;
    case answer::cancelled:
      leave_result_ = said.what;
      if (valid_until_ == 0) break;
      [[fallthrough]];  // only queued, not the owner, although it had been granted to us
    case answer::not_owner:
      // After a release whose answer was lost this is what success looks like.
      leave_result_ = leave_unknown_ && now < valid_until_ ? answer::released : answer::not_owner;
      break;
    default:
      leave_result_ = said.what;
      break;
  }
  phase_ = tenure_phase::over;
  return news::left;
}

}  // namespace mortise::lock
