// How a claim queue retains its claim (`retain`). An unlock without waiters leaves the claim with
// the client for a while, without a holder. The next acquire takes up the claim without a round
// trip.
//
// At the servers a retained claim is an ordinary hold. A waiter there notifies this client ("W"),
// which releases the claim at once. The message is only a hint (hazard 24), so the retention also
// ends by itself. A claim is never renewed without a holder. Its retention ends before the lease is
// so short that a renewal would be necessary (hazard 18).
#include <algorithm>

#include "lock/lease.hpp"
#include "lock/queue/claim_queue.hpp"

namespace mortise::lock {

// Only if the servers report waiters, and while a connection can deliver the reports.
bool claim_queue::retain(const lock::owner& holder, time_ns now) {
  if (holder.retain_ms == 0 || !may_retain_ || !holder.renews || !waiters_.empty()) return false;
  if (!current_->is_settled(now) || !gate_.has_connection()) return false;
  current_->rest();
  retained_until_ = std::min(now + to_ns(holder.retain_ms), current_->rests_until());
  return true;
}

// A hold by a retained claim must be as good as a hold from the servers.
bool claim_queue::may_take_up(const acquire_operation& next, time_ns now) const noexcept {
  return is_retained() && suits(next) && now < retained_until_ && current_->is_settled(now);
}

// Works like a pass: the hold has its own fencing token and deadline, and counts as a new hold.
// Readers get the token of the claim.
void claim_queue::take_up(time_ns now) {
  retained_until_ = 0;
  if (!pass_to_next(now)) release_claim(now);
}

}  // namespace mortise::lock
