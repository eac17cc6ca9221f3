#include "lock/queue/claim_queue.hpp"

#include <algorithm>
#include <utility>

#include "base/probe.hpp"
#include "lock/queue/queue_terms.hpp"

namespace mortise::lock {

// ---- calls of users ------------------------------------------------------------------------

void claim_queue::enter(acquire_operation& acquire, time_ns now) {
  auto& owner = *acquire.owner;
  const bool takes_up = is_retained();
  const bool holds_now = !holders_.is_empty() && admits(acquire, now);
  // Allocates first: an operation is accepted completely or not at all.
  std::list<acquire_operation*> place{&acquire};
  gate_.operations.accept(acquire);
  acquire.began = now;
  acquire.counts().acquire_began();
  probe::wait_start(&owner, owner.lock_name);
  if (!takes_up && !holds_now && (current_ || !waiters_.empty())) note_taken(acquire);
  owner.enter(owner_state::acquiring);
  owner.pending = &acquire;
  owner.queue = this;
  acquire.place_ = place.begin();
  waiters_.splice(waiters_.end(), place);
  if (holds_now) return grant(acquire, now, now);
  if (takes_up) take_up(now);
  start_next(now);
}

// The count is local. The server does not need it.
outcome claim_queue::acquire_again(acquire_operation& acquire) {
  auto& owner = *acquire.owner;
  if (auto checked = owner.check_again(acquire.amount.mode); !checked.ok()) return checked;
  if (owner.hold_count(acquire.amount.mode) == 0) {
    // It may unlock the exclusive hold first, and then keeps a shared hold.
    if (auto checked = check_modes(); !checked.ok()) return checked;
  }
  ++owner.hold_count(acquire.amount.mode);
  acquire.finish({}, owner.token);
  return {};
}

outcome claim_queue::unlock(lock::owner& owner, hold_mode mode, operation* done, time_ns now) {
  if (owner.holds() == 1) {
    end_hold(owner, done, now);
    return {};
  }
  // A writer that has also acquired as a reader stays a reader.
  if (mode == hold_mode::exclusive && owner.hold_count(mode) == 1) {
    return lower_hold(owner, 1, done, now);
  }
  --owner.hold_count(mode);
  if (done != nullptr) done->finish({}, owner.token);
  return {};
}

void claim_queue::end_hold(lock::owner& owner, operation* done, time_ns now) {
  if (done != nullptr) {
    gate_.operations.accept(*done);
    done->awaits_answer = !owner.unlocks_by_sending;
  }
  owner.hold_counts = {};
  owner.count_hold_end(now);
  probe::release(&owner, owner.lock_name, owner.token, now - owner.held_since);
  holders_.remove(owner);
  owner.enter(done != nullptr ? owner_state::unlocking : owner_state::idle);
  extensions_.finish_of(owner, outcome::of(status::not_owner, "the hold was unlocked meanwhile"));
  // The claim stays with this client: with its other readers, or with the next waiter.
  const bool is_passed = !holders_.is_empty() || pass_on(now);
  // No retention for a freed handle, because its next acquire may never come.
  if (is_passed || (done != nullptr && retain(owner, now))) {
    owner.enter(owner_state::idle);
    owner.counts_of_hold->released(is_passed ? statistics::release::passed
                                             : statistics::release::retained);
    if (done != nullptr) gate_.operations.end(*done, {}, owner.token);
    return;
  }
  release_claim(now, {.claim = {},
                      .done = done,
                      .owner = done != nullptr ? &owner : nullptr,
                      .counts = owner.counts_of_hold});
  start_next(now);
}

outcome claim_queue::check_free() const {
  if (raising_ == nullptr) return {};
  return outcome::because(status::busy, "another call on this handle is upgrading it; wait for it");
}

outcome claim_queue::extend(lock::owner& owner, std::int64_t lease_ms, operation& done,
                            time_ns now) {
  auto terms = current_->terms();
  const auto lease = lease_ms == 0 ? owner.lease_ms : lease_ms;
  const auto target = now + lease * ns_per_ms;
  extensions_.accept(done);
  done.broken_before = current_->broken();
  if (current_->renew(lease, 0, &done, now) == 0) {
    if (gate_.has_connection()) {
      gate_.operations.retract(done);
      return gate_.io.lack();
    }
    current_->request_until(target);  // of the renewal that on_up() brings
  }
  terms.lease_ms = std::max(terms.lease_ms, lease);
  terms.until = std::max(terms.until, target);
  owner.joint.until = std::max(owner.joint.until, target);
  current_->amend(terms);
  extensions_.add(done, owner, target);
  return {};
}

// ---- giving up ------------------------------------------------------------------------------

void claim_queue::abandon(operation& given_up, outcome result, status why, const outcome& problem) {
  // The hold stands, and the caller may repeat the call.
  result.is_retryable = result.code == status::unknown;
  // A request that was not sent, or was refused, was not executed.
  const bool is_known = current_ && !current_->is_unanswered_since(given_up.broken_before);
  if (why == status::timed_out && is_known && !problem.ok()) result = problem;
  if (raising_ == &given_up) return finish_raise(result);
  extensions_.abandon(given_up, result);
}

void claim_queue::end_calls_of(lock::owner& owner, const outcome& result) {
  extensions_.finish_of(owner, result);
  finish_raise(result);  // the call of the only holder
}

void claim_queue::abandon_acquire(acquire_operation& given_up, status why, time_ns now) {
  const auto result = give_up_outcome(given_up, why, now);
  const bool was_first = waiters_.front() == &given_up;
  finish(given_up, result, now);
  if (!current_ || !holders_.is_empty()) return;
  if (current_->phase() == claim_phase::asking || current_->phase() == claim_phase::queued) {
    // The next waiter takes over the place at the server. Without a next waiter, the place is
    // released.
    if (!waiters_.empty()) {
      const auto& next = *waiters_.front();
      if (was_first) current_->take_over(terms_of(*next.owner, now), wait_terms_of(next));
      return;
    }
    release_claim(now);
  }
}

void claim_queue::note_taken(acquire_operation& acquire) noexcept {
  if (std::exchange(acquire.has_found_taken_, true)) return;
  acquire.counts().found_taken();
  ++gate_.traffic.contended;
}

void claim_queue::finish(acquire_operation& ended, const outcome& result, time_ns now) {
  waiters_.erase(ended.place_);
  ended.counts().acquire_ended(result.code, now - ended.began);
  if (result.ok()) gate_.traffic.granted(now - ended.began);
  auto& owner = *ended.owner;
  probe::wait_end(&owner, owner.lock_name, static_cast<std::int32_t>(result.code),
                  now - ended.began);
  owner.pending = nullptr;
  owner.enter(result.ok() ? owner_state::held : owner_state::idle);
  gate_.operations.end(ended, result, result.ok() ? owner.token : 0);
}

void claim_queue::close(time_ns now) {
  const auto closed = client_freed();
  while (!waiters_.empty()) finish(*waiters_.front(), closed, now);
  extensions_.finish(closed);
  finish_raise(closed);
  if (!current_) return;
  // A waiter may exist that is not known yet, and no second request can follow.
  current_->on_waiter();
  holders_.each([&](lock::owner& holder) {
    holder.count_hold_end(now);
    holders_.remove(holder);
    holder.enter(owner_state::lost);
  });
  release_claim(now);
}

}  // namespace mortise::lock
