// How a claim queue retains its claim (`retain`): an unlock that nobody waits for leaves it with
// the client for a while, without a holder, and the next acquire here takes it up without a round
// trip.
//
// At the servers it is an ordinary hold. Whoever comes there lets us know ("W"), and it is given
// back at once; that is only a hint (hazard 24), so it also ends by itself. It is never prolonged
// while nobody holds, and ends before its lease is so short that it would have to be (hazard 18).
#include <algorithm>

#include "lock/claim_queue.hpp"
#include "lock/lease.hpp"

namespace mortise::lock {

// Only where the servers tell of those who wait, and while they can be heard.
bool claim_queue::retain(const lock::owner& leaver, time_ns now) {
  if (leaver.retain_ms == 0 || !may_retain_ || !leaver.renews || !waiters_.empty()) return false;
  if (!current_->is_settled(now) || !gate_.has_connection()) return false;
  current_->rest();
  retained_until_ = std::min(now + to_ns(leaver.retain_ms), current_->rests_until());
  return true;
}

// A hold by it is to be worth what one from the servers is.
bool claim_queue::may_take_up(const acquire_operation& next, time_ns now) const noexcept {
  return is_retained() && suits(next) && now < retained_until_ && current_->is_settled(now);
}

// As a pass: with a fencing token (of readers, that of this claim) and a deadline of its own, and
// counted as a hold of its own.
void claim_queue::take_up(time_ns now) {
  retained_until_ = 0;
  if (!pass_to_next(now)) release_claim(now);
}

}  // namespace mortise::lock
