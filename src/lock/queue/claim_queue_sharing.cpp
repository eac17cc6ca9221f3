// How readers share a claim. All readers of a client may share one reader at the servers. Each
// reader has its own hold, deadline and end. All have the fencing token of that one reader, like
// readers that are admitted together.
//
// To the servers the claim is one hold. So a reader joins only while no waiter is known ("W" and
// renewals report waiters). After such a report new readers wait at the servers, and existing
// holders drain. The message is only a hint (hazard 24), and a renewal reports waiters at the
// latest.
#include <algorithm>

#include "lock/queue/claim_queue.hpp"
#include "lock/queue/queue_terms.hpp"

namespace mortise::lock {

// Whether other readers may join a claim that is requested for this acquire.
bool claim_queue::may_share(const acquire_operation& first) const noexcept {
  return gate_.protocol.kind == lock_kind::rw && gate_.reports_waiters() &&
         first.amount.mode == hold_mode::shared && first.owner->renews && !first.owner->is_strict;
}

claim_reuse claim_queue::reuse_of(const acquire_operation& first) const noexcept {
  if (first.owner->retain_ms > 0 && gate_.reports_waiters()) return claim_reuse::retained;
  return may_share(first) ? claim_reuse::shared : claim_reuse::none;
}

bool claim_queue::admits(const acquire_operation& reader, time_ns now) const noexcept {
  if (!is_shared_ || !current_ || reader.owner->is_strict || !suits(reader)) return false;
  if (!holders_.is_empty()) return raising_ == nullptr && current_->is_settled(now);
  // Joins the waiters. A try needs its result at once, and so sends its own request.
  const bool is_requested = current_->phase() != claim_phase::held && !current_->others_wait();
  return is_requested && !reader.is_try && !waiters_.empty() && !waiters_.front()->is_try;
}

// All readers of one claim have one token, because no writer came in between.
bool claim_queue::has_token() const noexcept {
  return (is_shared_ && shared_token_ != 0) || current_->has_token();
}

std::int64_t claim_queue::next_token() noexcept {
  if (!is_shared_) return current_->take_token();
  if (shared_token_ == 0) shared_token_ = current_->take_token();
  return shared_token_;
}

// Adds a holder to the claim. The claim lasts as long as the longest allowed hold.
void claim_queue::hold_on(lock::owner& owner, lease_terms terms, time_ns now) {
  owner.joint.until = time_never;
  if (is_shared_) {
    owner.joint.until = terms.until;
    owner.joint.is_end_reported = false;
    if (!holders_.is_empty()) {
      is_joined_ = true;
      terms.until = std::max(terms.until, current_->terms().until);
    }
    // The next timer checks this holder, and plans the others.
    next_end_ = std::min(next_end_, end_notice(owner));
  }
  holders_.add(owner);
  current_->keep(terms, now);
}

// When a holder is notified of its near end, like the holder of a claim that is no longer renewed.
time_ns claim_queue::end_notice(const lock::owner& holder) noexcept {
  return holder.joint.until == time_never ? time_never
                                          : holder.joint.until - to_ns(holder.lease_ms) / 3;
}

// Ends each hold whose max_hold has passed before the end of other holds or of the lease. All other
// holds end with the claim.
void claim_queue::end_holds_in_time(time_ns now) {
  next_end_ = time_never;
  const auto end = std::max(current_->terms().until, current_->valid_until());
  holders_.each([&](lock::owner& holder) {
    if (holder.joint.until >= end) return;
    if (now >= holder.joint.until) {
      return lose_one(holder, reason::max_hold, holder.joint.is_end_reported, now);
    }
    if (!holder.joint.is_end_reported && now >= end_notice(holder)) {
      holder.joint.is_end_reported = true;
      gate_.listener.on_at_risk(holder, reason::max_hold);
    }
    next_end_ =
        std::min(next_end_, holder.joint.is_end_reported ? holder.joint.until : end_notice(holder));
  });
  if (!holders_.is_empty()) return;
  release_claim(now);
  start_next(now);
}

}  // namespace mortise::lock
