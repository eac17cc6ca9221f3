#include "lock/leave.hpp"

#include <algorithm>

#include "lock/lease.hpp"

namespace mortise::lock {

void leave::begin(step what, time_ns held_until, const operation* by, questions& to, time_ns now) {
  what_ = what;
  held_until_ = held_until;
  began_ = now;
  // A place in the queue is forgotten with the queue; a hold or a grant to nobody lapses.
  ends_at_ = what_ == step::cancel
                 ? now + to_ns(queue_life_ms)
                 : std::max(held_until_, now + to_ns(grant_lease_ms)) + to_ns(to.ttl_ms());
  to.ask({.what = what_, .by = by}, now, &ask_at_);
}

void leave::at_once(questions& to, time_ns now) {
  if (what_ != step::release_alone) return;
  what_ = step::release;
  ask(to, now);
}

void leave::ask(questions& to, time_ns now, bool with_text) {
  to.ask({.what = what_, .with_text = with_text}, now, &ask_at_);
}

void leave::on_up(questions& to, time_ns now) {
  if (to.open() == 0) ask(to, now);
}

news leave::on_timer(questions& to, time_ns now) {
  if (now >= ask_at_) {
    ask_at_ = time_never;
    if (to.open(what_) == 0) ask(to, now);
  }
  return now < ends_at_ ? news::none : end(answer::unknown);
}

news leave::end(answer result) noexcept {
  result_ = result;
  return news::left;
}

news leave::on_answer(const open_question& asked, const step_result& said, questions& to,
                      time_ns now) {
  if (asked.what != what_) return news::none;
  switch (said.what) {
    case answer::no_script:
      ask(to, now, true);
      return news::none;
    case answer::others_waiting:
      what_ = step::release;
      ask(to, now);
      return news::none;
    case answer::broken:
      is_unknown_ = true;  // asked again after the reconnect
      return news::none;
    case answer::unsent:
      if (!said.details.ok()) to.keep_details(said);
      return news::none;
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

news leave::refuse(const step_result& said, questions& to, time_ns now) {
  result_ = said.what;
  to.keep_details(said);
  is_unknown_ = is_unknown_ || said.what == answer::unknown;
  // All attempts were refused as well, so nothing is there.
  if (what_ == step::cancel && to.left_no_trace()) return news::left;
  // What is refused for good is tried on for long; what is not understood is soon given up.
  if (said.what == answer::unknown && now - began_ > to_ns(grant_lease_ms)) return news::left;
  // Whoever waits for the leave is told, and it is tried on, less and less often: a place or a lock
  // that nobody wants costs all others its lease.
  ask_at_ = to.retry_time(now, (now - began_) / 2);
  return news::refused;
}

}  // namespace mortise::lock
