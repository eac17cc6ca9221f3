// The result of an acquire that is given up.
#include <algorithm>

#include "base/text/decimal.hpp"
#include "lock/queue/claim_queue.hpp"

namespace mortise::lock {

outcome claim_queue::give_up_outcome(const acquire_operation& given_up, status why,
                                     time_ns now) const {
  if (why != status::timed_out) return outcome::of(why);
  auto problem = gate_.io.problem();
  const bool is_first = !waiters_.empty() && waiters_.front() == &given_up;
  const bool is_in_doubt =
      is_first && current_ && current_->awaits_first_reply() && current_->is_unanswered();
  if (!problem.ok() && !is_in_doubt) return problem;
  if (is_first && current_ && !current_->has_sent() && !is_queued()) return gate_.io.lack();
  if (is_first && current_ && !current_->details().ok()) return current_->details();
  if (!is_in_doubt) return timed_out(given_up, now);
  auto unknown =
      outcome::of(status::unknown, "the server did not answer in time; the lock is being released");
  unknown.is_ambiguous = true;
  unknown.is_retryable = true;
  return unknown;
}

// Names the time waited and the obstacle.
outcome claim_queue::timed_out(const acquire_operation& given_up, time_ns now) const {
  const auto at = std::find(waiters_.begin(), waiters_.end(), &given_up);
  const decimal waited_ms((now - given_up.began) / ns_per_ms);
  const decimal ahead(std::distance(waiters_.begin(), at));
  const decimal place(current_ ? current_->place() + 1 : 0);
  auto result = outcome::of(given_up.is_try ? status::not_acquired : status::timed_out);
  if (!holders_.is_empty()) {
    result.say("waited ", waited_ms, " ms; ", obstacle());
  } else if (at != waiters_.begin()) {
    result.say("waited ", waited_ms, " ms; waiters of this client ahead: ", ahead);
  } else if (current_ && current_->place() >= 0) {
    result.say("waited ", waited_ms, " ms; place ", place, " in the queue when last checked");
  } else {
    const bool is_own = current_ && current_->awaits_first_reply();
    result.say("waited ", waited_ms, " ms; ",
               is_own ? "this client has just released it" : "another client holds it");
  }
  return result;
}

}  // namespace mortise::lock
