#include "lock/gate.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "base/probe.hpp"
#include "lock/lease.hpp"

namespace mortise::lock {

namespace {

lease_terms terms_of(const owner& holder, time_ns from) noexcept {
  lease_terms terms;
  terms.lease_ms = holder.lease_ms;
  terms.renews = holder.renews;
  terms.drift_ppm = holder.drift_ppm;
  terms.lifetimes_ms = holder.lifetimes_ms;
  if (!holder.renews) {
    terms.until = from + to_ns(holder.lease_ms);
  } else if (holder.max_hold_ms >= 0) {
    terms.until = from + to_ns(holder.max_hold_ms);
  }
  return terms;
}

wait_terms wait_terms_of(const acquire_operation& wanted, bool follows_own = false) noexcept {
  return {!wanted.is_try, wanted.owner->poll_interval_ms, wanted.owner->poll_attempts, follows_own};
}

}  // namespace

// ---- what users ask for ---------------------------------------------------------------------

outcome gate::acquire(acquire_operation& wanted, time_ns now) {
  if (is_closed_) return client_freed();
  settle(now);
  auto& owner = *wanted.owner;
  if (owner.is_interrupted) return outcome::of(status::cancelled, "this handle is interrupted");
  switch (owner.state) {
    case owner_state::acquiring:
    case owner_state::unlocking:
      return owner.busy();
    case owner_state::held:
      return acquire_again(wanted);
    case owner_state::lost:
      if (owner.may_reenter(wanted.wanted.mode)) {
        auto lost = outcome::lost(owner.loss);
        lost.say(lost.words(), "; unlock it as often as it was acquired");
        return lost;
      }
      break;
    case owner_state::idle:
      break;
  }
  // What was retained is for this acquire, or is given back before it asks.
  if (is_retained() && !may_take_up(wanted, now)) depart(now);
  const bool takes_up = is_retained();
  if (wanted.is_try && !takes_up && (current_ || !waiters_.empty())) {
    // A handle of this client holds the lock or is ahead of us, so the server need not be asked.
    note_taken(wanted);
    wanted.counts().acquire_answered(status::not_acquired);
    probe::wait_start(&owner, owner.lock_name);
    probe::wait_end(&owner, owner.lock_name, static_cast<std::int32_t>(status::not_acquired), 0);
    wanted.finish(outcome::because(status::not_acquired, who_is_ahead()), 0);
    return {};
  }
  // What needs memory comes first: an operation is accepted as a whole or not at all.
  std::list<acquire_operation*> place{&wanted};
  operations_.accept(wanted);
  wanted.began = now;
  wanted.counts().acquire_began();
  probe::wait_start(&owner, owner.lock_name);
  if (!takes_up && (current_ || !waiters_.empty())) note_taken(wanted);
  owner.state = owner_state::acquiring;
  owner.pending = &wanted;
  wanted.place_ = place.begin();
  waiters_.splice(waiters_.end(), place);
  if (takes_up) take_up(now);
  start_next(now);
  return {};
}

// A hold of the owner that it has already: counted here, the server need not know.
outcome gate::acquire_again(acquire_operation& wanted) {
  auto& owner = *wanted.owner;
  if (auto checked = check_held(owner); !checked.ok()) return checked;
  if (auto checked = owner.check_again(wanted.wanted.mode); !checked.ok()) return checked;
  if (owner.hold_count(wanted.wanted.mode) == 0) {
    // It may unlock the whole first, and then goes on holding a part.
    if (auto checked = check_modes(); !checked.ok()) return checked;
  }
  ++owner.hold_count(wanted.wanted.mode);
  wanted.finish({}, owner.token);
  return {};
}

outcome gate::unlock(lock::owner& owner, hold_mode mode, operation* done, time_ns now) {
  if (is_closed_) return client_freed();
  settle(now);
  const bool has_hold = owner.state == owner_state::held || owner.state == owner_state::lost;
  if (has_hold && !owner.has_hold(mode)) {
    return outcome::of(status::not_owner, "this handle holds the lock in the other mode");
  }
  if (owner.state == owner_state::lost) return owner.unlock_lost(mode);
  if (auto checked = check_held(owner); !checked.ok()) return checked;
  if (owner.holds() == 1) {
    end_hold(owner, done, now);
    return {};
  }
  // A writer that has also read goes on reading.
  if (mode == hold_mode::whole && owner.hold_count(mode) == 1) {
    return lower_hold(owner, 1, done, now);
  }
  --owner.hold_count(mode);
  if (done != nullptr) done->finish({}, owner.token);
  return {};
}

void gate::end_hold(lock::owner& owner, operation* done, time_ns now) {
  if (done != nullptr) {
    operations_.accept(*done);
    done->awaits_answer = !owner.unlocks_by_sending;
  }
  owner.hold_counts = {};
  owner.count_hold_end(now);
  probe::release(&owner, owner.lock_name, owner.token, now - owner.held_since);
  holder_ = nullptr;
  owner.state = owner_state::idle;
  if (!extensions_.is_empty()) {
    extensions_.finish(outcome::of(status::not_owner, "the hold was unlocked meanwhile"));
  }
  if (pass_on(now)) {
    owner.counts_of_hold->released(statistics::release::passed);
    if (done != nullptr) operations_.end(*done, {}, owner.token);
    return;
  }
  // Not for whoever goes away: its next acquire may never come.
  if (done != nullptr && retain(owner, now)) {
    owner.counts_of_hold->released(statistics::release::retained);
    operations_.end(*done, {}, owner.token);
    return;
  }
  if (done != nullptr) owner.state = owner_state::unlocking;
  depart(now, {.claim = {},
               .done = done,
               .owner = done != nullptr ? &owner : nullptr,
               .counts = owner.counts_of_hold});
  start_next(now);
}

outcome gate::check_held(const lock::owner& owner, hold_mode mode, time_ns now) {
  settle(now);
  auto checked = check_held(owner);
  if (!checked.ok() || owner.has_hold(mode)) return checked;
  return outcome::of(status::not_owner, "this handle holds the lock in the other mode");
}

// ok when it holds and no other call is at work on it.
outcome gate::check_held(const lock::owner& owner) const {
  if (is_closed_) return client_freed();
  auto checked = owner.check_held();
  if (!checked.ok() || raising_ == nullptr) return checked;
  return outcome::because(status::busy, "another call on this handle is upgrading it; wait for it");
}

outcome gate::extend(lock::owner& owner, std::int64_t lease_ms, operation& done, time_ns now) {
  settle(now);
  if (auto checked = check_held(owner); !checked.ok()) return checked;
  auto terms = current_->terms();
  const auto lease = lease_ms == 0 ? owner.lease_ms : lease_ms;
  const auto target = now + lease * ns_per_ms;
  extensions_.accept(done);
  done.broken_before = current_->broken();
  if (current_->renew(lease, 0, &done, now) == 0) {
    if (has_connection()) {
      operations_.retract(done);
      return world_.lack();
    }
    current_->want_until(target);  // of the renewal that on_up() brings
  }
  terms.lease_ms = std::max(terms.lease_ms, lease);
  terms.until = std::max(terms.until, target);
  current_->amend(terms);
  extensions_.add(done, target);
  return {};
}

time_ns gate::valid_until(const lock::owner& owner) const noexcept {
  return holder_ == &owner && current_ ? current_->valid_until() : 0;
}

// ---- giving up ------------------------------------------------------------------------------

void gate::abandon(operation& given_up, status why, time_ns now) {
  if (auto* const waiter = given_up.as_acquire()) {
    if (waiter->owner->pending == waiter) abandon_acquire(*waiter, why, now);
    return;
  }
  auto how =
      outcome::of(why == status::timed_out ? status::unknown : why,
                  "no answer from the server in time; the lease ends the hold at the latest");
  how.is_ambiguous = true;
  const auto problem = world_.problem();
  if (!problem.ok()) how.say(how.message, "; ", problem.message);
  if (auto* const gone = departures_.of(given_up)) {
    if (why == status::timed_out && !gone->claim->is_leave_sent() && !problem.ok()) how = problem;
    return departures_.tell(*gone, how);
  }
  // The hold stands, and the same may be asked for again.
  how.is_retryable = how.code == status::unknown;
  // What the servers were not asked, or have refused, was not carried out.
  const bool is_known = current_ && !current_->is_unanswered_since(given_up.broken_before);
  if (why == status::timed_out && is_known && !problem.ok()) how = problem;
  if (raising_ == &given_up) return finish_raise(how);
  extensions_.abandon(given_up, how);
}

void gate::abandon_acquire(acquire_operation& given_up, status why, time_ns now) {
  const auto how = give_up_outcome(given_up, why, now);
  const bool was_first = waiters_.front() == &given_up;
  finish(given_up, how, now);
  if (!current_ || holder_ != nullptr) return;
  if (current_->phase() == tenure_phase::asking || current_->phase() == tenure_phase::queued) {
    // Whoever waits behind takes over the place at the server; nobody behind, and it is given up.
    if (!waiters_.empty()) {
      const auto& next = *waiters_.front();
      if (was_first) current_->take_over(terms_of(*next.owner, now), wait_terms_of(next));
      return;
    }
    depart(now);
  }
}

void gate::note_taken(acquire_operation& wanted) noexcept {
  if (std::exchange(wanted.has_found_taken_, true)) return;
  wanted.counts().found_taken();
  ++traffic_.contended;
}

void gate::finish(acquire_operation& ended, const outcome& how, time_ns now) {
  waiters_.erase(ended.place_);
  ended.counts().acquire_ended(how.code, now - ended.began);
  if (how.ok()) traffic_.granted(now - ended.began);
  auto& owner = *ended.owner;
  probe::wait_end(&owner, owner.lock_name, static_cast<std::int32_t>(how.code), now - ended.began);
  owner.pending = nullptr;
  owner.state = owner_state::idle;
  operations_.end(ended, how, how.ok() ? owner.token : 0);
}

void gate::interrupt(lock::owner& owner, bool is_on, time_ns now) {
  owner.is_interrupted = is_on;
  if (is_on && owner.pending != nullptr) abandon(*owner.pending, status::cancelled, now);
}

void gate::forget(lock::owner& owner, time_ns now) {
  if (owner.pending != nullptr) abandon(*owner.pending, status::closed, now);
  if (owner.state == owner_state::held) {
    extensions_.finish(outcome::of(status::closed));
    finish_raise(outcome::of(status::closed));
    const auto mode = owner.has_hold(hold_mode::whole) ? hold_mode::whole : hold_mode::part;
    owner.hold_once(mode);
    unlock(owner, mode, nullptr, now);
  }
  if (is_retained()) depart(now);
  departures_.forget(owner);
  owner.state = owner_state::idle;
}

void gate::close(time_ns now) {
  is_closed_ = true;
  const auto closed = client_freed();
  while (!waiters_.empty()) finish(*waiters_.front(), closed, now);
  extensions_.finish(closed);
  finish_raise(closed);
  departures_.close(now);
  if (!current_) return;
  // Somebody may wait of whom we have not heard yet, and no second question can follow.
  current_->on_wanted();
  if (holder_ != nullptr) {
    holder_->count_hold_end(now);
    std::exchange(holder_, nullptr)->state = owner_state::lost;
  }
  depart(now);
}

// ---- passing on within this client ----------------------------------------------------------

// Only between holds of as much that are renewed alike: another lease has to come from the server.
bool gate::suits(const acquire_operation& next) const noexcept {
  const auto& terms = current_->terms();
  return next.owner->renews && terms.renews && next.owner->lease_ms == terms.lease_ms &&
         next.wanted.weight == current_->weight();
}

bool gate::may_pass(time_ns now) const noexcept {
  if (!suits(*waiters_.front())) return false;
  if (!current_->is_fresh(now) || !current_->is_acknowledged()) return false;
  return !current_->others_wait() || !passes_.is_over(now);
}

bool gate::pass_on(time_ns now) { return !waiters_.empty() && may_pass(now) && pass_to_next(now); }

bool gate::pass_to_next(time_ns now) {
  if (current_->has_token()) {
    passes_.note_pass();
    grant_to_next(now);
    return true;
  }
  // Only the owner may draw tokens, so they are drawn together with a renewal.
  const auto wanted = passes_.tokens_to_draw(current_->others_wait(), now);
  is_refilling_ = current_->renew(current_->terms().lease_ms, wanted, nullptr, now) != 0;
  if (!is_refilling_) return false;
  passes_.note_drawn(wanted, now);
  passes_.note_pass();
  return true;
}

// ---- the tenure's fate ----------------------------------------------------------------------

// Memory may have run out also where nobody can be told but the waiter itself.
void gate::start_next(time_ns now) noexcept {
  while (!current_ && !waiters_.empty()) {
    auto& next = *waiters_.front();
    try {
      departures_.reserve();  // so that the tenure can be left without memory
      current_ = new_tenure(next, now);
    } catch (const std::bad_alloc&) {
      finish(next, outcome::of(status::no_memory), now);
      continue;
    }
    is_refilling_ = false;
    current_->start(is_contended_, &next, now);
  }
}

std::unique_ptr<tenure> gate::new_tenure(const acquire_operation& first, time_ns now) {
  const auto& owner = *first.owner;
  const portion wanted{first.wanted.mode, first.wanted.weight, owner.limit};
  const bool may_retain = owner.retain_ms > 0 && tells_of_waiters();
  auto token = world_.new_owner_token(
      owner.label, server_ttl_ms(grant_ms(owner.lease_ms), owner.drift_ppm), may_retain);
  may_retain_ = may_retain;
  return std::make_unique<tenure>(next_tenure_++, std::move(token), protocol_, wanted,
                                  terms_of(owner, now),
                                  wait_terms_of(first, departures_.are_awaited()), world_);
}

void gate::handle(news what, time_ns now) {
  switch (what) {
    case news::none:
    case news::left:
      break;
    case news::granted:
      passes_.note_drawn(1, now);
      passes_.note_trip(current_->trip_ns());
      passes_.begin_tenure(now);
      grant_to_next(now);
      break;
    case news::not_free:
      current_.reset();
      if (!waiters_.empty()) {
        note_taken(*waiters_.front());
        finish(*waiters_.front(),
               outcome::because(status::not_acquired, "another client holds it or is ahead"), now);
      }
      start_next(now);
      break;
    case news::refused:
      refuse_next(now);
      break;
    case news::renewed:
      note_renewal(true);
      extensions_.finish({}, current_->valid_until());
      if (is_refilling_) grant_to_next(now);
      break;
    case news::renew_failed:
      note_renewal(false);
      extensions_.finish(failure_of_question());
      if (is_refilling_) {
        depart(now);
        start_next(now);
      }
      break;
    case news::raised:
      raised(now);
      break;
    case news::not_raised:
      finish_raise(outcome::of(status::not_acquired, "others hold a part of the lock"));
      break;
    case news::raise_failed:
      finish_raise(failure_of_question());
      break;
    case news::lost:
      lose(now);
      break;
    case news::at_risk:
      if (holder_ != nullptr) listener_.on_at_risk(*holder_, current_->threat());
      break;
  }
}

// What draws tokens for a waiter prolongs nobody's hold.
void gate::note_renewal(bool is_ok) noexcept {
  if (holder_ != nullptr) holder_->counts_of_hold->renewed(is_ok);
}

// What is told of a renewal or an upgrade that got no yes and no no.
outcome gate::failure_of_question() const {
  auto how = current_->details();
  if (how.ok()) {
    how = outcome::of(status::unknown, "the connection broke before the answer");
    how.is_retryable = true;
  }
  how.is_ambiguous = how.code == status::unknown;
  return how;
}

void gate::grant_to_next(time_ns now) {
  // Whoever was to have it may have given up meanwhile, and the next may want another lease.
  const bool is_refill = std::exchange(is_refilling_, false);
  if (waiters_.empty() || !current_->has_token() || (is_refill && !suits(*waiters_.front()))) {
    depart(now);
    start_next(now);
    return;
  }
  auto& next = *waiters_.front();
  auto& owner = *next.owner;
  holder_ = &owner;
  owner.token = current_->take_token();
  passes_.note_handed_out();
  owner.hold_once(next.wanted.mode);
  if (next.has_found_taken_) next.counts().handed_off(!passes_.is_first_holder());
  owner.count_hold(next.wanted.mode, now);
  probe::grant(&owner, owner.lock_name, owner.token);
  finish(next, {}, now);
  owner.state = owner_state::held;
  // The first holder's time counts from the grant, a later one's from now.
  current_->keep(terms_of(owner, passes_.is_first_holder() ? current_->granted_at() : now), now);
}

void gate::refuse_next(time_ns now) {
  auto details = current_->details();
  if (details.ok()) {
    // Whatever was not understood is never taken for a grant (hazard 31).
    details = outcome::of(status::unknown, "the server's answer cannot be understood");
    details.is_ambiguous = true;
  }
  if (waiters_.empty()) return depart(now);
  auto& next = *waiters_.front();
  if (!next.is_try && current_->is_refusal_passing()) {
    current_->retry_later(now);
    return;
  }
  finish(next, details, now);
  depart(now);
  start_next(now);
}

void gate::lose(time_ns now) {
  auto* const loser = std::exchange(holder_, nullptr);
  if (loser != nullptr) {
    loser->state = owner_state::lost;
    loser->loss = current_->loss();
    loser->count_hold_end(now);
    loser->counts_of_hold->hold_lost(loser->loss);
    probe::loss(loser, loser->lock_name, loser->token, static_cast<std::int32_t>(loser->loss),
                now - loser->held_since);
    const auto lost = outcome::lost(loser->loss);
    extensions_.finish(lost);
    finish_raise(lost);
    // Also when the clock was looked at too late to tell of it in time (hazard 20).
    if (!current_->is_risk_told()) listener_.on_at_risk(*loser, loser->loss);
    listener_.on_lost(*loser);
  }
  // By our clock it is over; at the server it may have a little left, which is given back.
  depart(now);
  is_refilling_ = false;
  start_next(now);
}

void gate::depart(time_ns now, departure leaving) {
  retained_until_ = 0;
  leaving.claim = std::move(current_);
  note_departed(departures_.add(std::move(leaving), now));
}

void gate::note_departed(answer result) noexcept {
  if (result == answer::handed_over) is_contended_ = true;
  if (result == answer::released && waiters_.empty()) is_contended_ = false;
}

void gate::settle(time_ns now) {
  if (current_ && current_->phase() == tenure_phase::held && now >= current_->valid_until()) {
    handle(current_->on_timer(now), now);
  }
}

// ---- from the world -------------------------------------------------------------------------

void gate::on_answer(std::uint64_t tenure_id, std::uint32_t serial, const verdict& said,
                     time_ns now) {
  if (current_ && current_->id() == tenure_id) {
    const auto what = current_->on_answer(serial, said, now);
    if (current_->phase() == tenure_phase::queued) {
      is_contended_ = true;
      if (!waiters_.empty()) note_taken(*waiters_.front());
    }
    return handle(what, now);
  }
  note_departed(departures_.on_answer(tenure_id, serial, said, now));
}

void gate::on_grant(std::string_view token, std::int64_t last_token, std::int64_t server_us,
                    bool others_wait, time_ns now) {
  // A grant to a tenure that is leaving needs nothing: its cancel gives the lock back.
  if (!current_ || current_->token() != token) return;
  is_contended_ = true;
  handle(current_->on_grant(last_token, server_us, others_wait, now), now);
}

void gate::on_head(std::string_view token, std::int64_t ttl_ms, time_ns now) {
  if (current_ && current_->token() == token) current_->on_head(ttl_ms, now);
}

void gate::on_wanted(std::string_view token, time_ns now) {
  if (!current_ || current_->token() != token || current_->others_wait()) return;
  current_->on_wanted();
  if (is_retained()) return depart(now);
  passes_.begin(now);
}

void gate::on_forced(std::string_view token, time_ns now) {
  if (!current_ || current_->token() != token) return;
  if (is_retained()) return depart(now);
  current_->on_forced(now);
}

void gate::on_up(time_ns now) {
  // Somebody may have come of whom we have not heard.
  if (is_retained()) depart(now);
  if (current_) current_->on_up(now);
  if (raising_ != nullptr) current_->raise_again(now);
  departures_.on_up(now);
}

time_ns gate::next_timer() const noexcept {
  const auto next = std::min(departures_.next_timer(), operations_.next_deadline());
  if (is_retained()) return std::min(next, retained_until_);
  return current_ ? std::min(next, current_->next_timer()) : next;
}

void gate::on_timer(time_ns now) {
  if (is_retained() && now >= retained_until_) depart(now);
  if (current_) handle(current_->on_timer(now), now);
  note_departed(departures_.on_timer(now));
  while (operations_.next_deadline() <= now) abandon(operations_.first(), status::timed_out, now);
}

}  // namespace mortise::lock
