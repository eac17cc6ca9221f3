#include "lock/gate.hpp"

#include <algorithm>
#include <utility>

#include "base/decimal.hpp"
#include "lock/lease.hpp"

namespace mortise::lock {

namespace {

outcome busy(const owner& who) {
  return outcome::because(
      status::busy, who.state == owner_state::acquiring
                        ? "another call on this handle is acquiring; wait for it, or give each "
                          "concurrent user a handle of its own"
                        : "another call on this handle is unlocking; wait for it, or give each "
                          "concurrent user a handle of its own");
}

}  // namespace

// ---- what users ask for ---------------------------------------------------------------------

outcome gate::acquire(acquire_operation& wanted, time_ns now) {
  if (is_closed_) return client_freed();
  settle(now);
  auto& who = *wanted.who;
  if (who.is_interrupted) return outcome::of(status::cancelled, "this handle is interrupted");
  switch (who.state) {
    case owner_state::acquiring:
    case owner_state::unlocking:
      return busy(who);
    case owner_state::held:
      return acquire_again(wanted);
    case owner_state::lost:
      if (who.may_reenter(wanted.wanted.mode)) {
        auto lost = outcome::lost(who.loss);
        lost.say(lost.words(), "; unlock it as often as it was acquired");
        return lost;
      }
      break;
    case owner_state::idle:
      break;
  }
  if (wanted.is_try && (current_ || !waiters_.empty())) {
    // A handle of this client holds the lock or is ahead of us, so the server need not be asked.
    wanted.finish(outcome::because(status::not_acquired, who_is_ahead()), 0);
    return {};
  }
  // What needs memory comes first: an operation is accepted as a whole or not at all.
  std::list<acquire_operation*> place{&wanted};
  accept(wanted);
  wanted.began = now;
  who.state = owner_state::acquiring;
  who.pending = &wanted;
  wanted.place_ = place.begin();
  waiters_.splice(waiters_.end(), place);
  start_next(now);
  return {};
}

// A hold of the owner that it has already: counted here, the server need not know.
outcome gate::acquire_again(acquire_operation& wanted) {
  auto& who = *wanted.who;
  if (auto checked = check_held(who); !checked.ok()) return checked;
  if (wanted.wanted.mode == hold_mode::whole && who.hold_count(hold_mode::whole) == 0) {
    return outcome::of(status::already_held,
                       "this handle holds a part of the lock; give it back first, or upgrade it");
  }
  if (!who.may_reenter(wanted.wanted.mode)) {
    return outcome::of(status::already_held,
                       "this handle holds the lock; unlock it first, or set reentrant=on");
  }
  if (who.hold_count(wanted.wanted.mode) == 0) {
    // It may unlock the whole first, and then goes on holding a part.
    if (auto checked = check_modes(); !checked.ok()) return checked;
  }
  ++who.hold_count(wanted.wanted.mode);
  wanted.finish({}, who.token);
  return {};
}

outcome gate::unlock(owner& who, hold_mode mode, operation* done, time_ns now) {
  if (is_closed_) return client_freed();
  settle(now);
  const bool has_hold = who.state == owner_state::held || who.state == owner_state::lost;
  if (has_hold && who.hold_count(mode) == 0) {
    return outcome::of(status::not_owner, "this handle holds the lock in the other mode");
  }
  if (who.state == owner_state::lost) {
    --who.hold_count(mode);
    if (!who.has_hold_count()) who.state = owner_state::idle;
    return outcome::lost(who.loss);
  }
  if (auto checked = check_held(who); !checked.ok()) return checked;
  if (who.hold_counts[0] + who.hold_counts[1] > 1) {
    // A writer that has also read goes on reading.
    if (mode == hold_mode::whole && who.hold_count(mode) == 1) {
      return lower_hold(who, 1, done, now);
    }
    --who.hold_count(mode);
    if (done != nullptr) done->finish({}, who.token);
    return {};
  }
  if (done != nullptr) accept(*done);
  who.hold_counts = {};
  holder_ = nullptr;
  who.state = owner_state::idle;
  if (!extensions_.empty()) {
    finish_extensions(outcome::of(status::not_owner, "the hold was unlocked meanwhile"),
                      time_never);
  }
  if (pass_on(now)) {
    if (done != nullptr) end(*done, {}, who.token);
    return {};
  }
  if (done != nullptr) who.state = owner_state::unlocking;
  depart(done, done != nullptr ? &who : nullptr, now);
  start_next(now);
  return {};
}

outcome gate::check_held(const owner& who, hold_mode mode, time_ns now) {
  settle(now);
  auto checked = check_held(who);
  if (!checked.ok() || who.has_hold(mode)) return checked;
  return outcome::of(status::not_owner, "this handle holds the lock in the other mode");
}

// ok when it holds and no other call is at work on it.
outcome gate::check_held(const owner& who) const {
  if (is_closed_) return client_freed();
  switch (who.state) {
    case owner_state::idle:
      return outcome::because(status::not_owner,
                              who.token == 0 ? "nothing was acquired with this handle yet"
                                             : "the last hold of this handle has ended already");
    case owner_state::acquiring:
    case owner_state::unlocking:
      return busy(who);
    case owner_state::lost:
      return outcome::lost(who.loss);
    case owner_state::held:
      break;
  }
  if (raising_ == nullptr) return {};
  return outcome::because(status::busy, "another call on this handle is upgrading it; wait for it");
}

// Why a question could not be sent.
outcome gate::unsent_outcome() const {
  auto problem = world_.problem();
  return problem.ok() ? world_.lack() : problem;
}

outcome gate::extend(owner& who, std::int64_t lease_ms, operation& done, time_ns now) {
  settle(now);
  if (auto checked = check_held(who); !checked.ok()) return checked;
  auto terms = current_->terms();
  const auto lease = lease_ms == 0 ? who.lease_ms : lease_ms;
  const auto target = now + lease * ns_per_ms;
  expect(done);
  if (current_->renew(lease, 0, &done, now) == 0) {
    retract(done);
    return unsent_outcome();
  }
  terms.lease_ms = std::max(terms.lease_ms, lease);
  terms.until = std::max(terms.until, target);
  current_->amend(terms);
  extensions_.push_back({&done, target});
  return {};
}

bool gate::is_held(const owner& who, time_ns now) const noexcept {
  return who.state == owner_state::held && now < valid_until(who);
}

time_ns gate::valid_until(const owner& who) const noexcept {
  return holder_ == &who && current_ ? current_->valid_until() : 0;
}

// ---- giving up ------------------------------------------------------------------------------

void gate::abandon(operation& given_up, status why, time_ns now) {
  if (auto* const waiter = given_up.as_acquire()) {
    if (waiter->who->pending == waiter) abandon_acquire(*waiter, why, now);
    return;
  }
  auto how =
      outcome::of(why == status::timed_out ? status::unknown : why,
                  "no answer from the server in time; the lease ends the hold at the latest");
  how.is_ambiguous = true;
  const auto problem = world_.problem();
  if (!problem.ok()) how.say(how.message, "; ", problem.message);
  for (auto& gone : departures_) {
    if (gone.done != &given_up) continue;
    gone.done = nullptr;
    if (why == status::timed_out && !gone.claim->is_leave_sent() && !problem.ok()) how = problem;
    // From now on the handle may acquire again, which the end of this departure must not undo.
    std::exchange(gone.who, nullptr)->state = owner_state::idle;
    return end(given_up, how, 0);
  }
  // The hold stands, and the same may be asked for again.
  how.is_retryable = how.code == status::unknown;
  if (raising_ == &given_up) return finish_raise(how);
  const auto open = std::find_if(extensions_.begin(), extensions_.end(),
                                 [&](const auto& item) { return item.done == &given_up; });
  if (open == extensions_.end()) return;
  extensions_.erase(open);
  end(given_up, how, 0);
}

outcome gate::give_up_outcome(const acquire_operation& given_up, status why, time_ns now) const {
  if (why != status::timed_out) return outcome::of(why);
  auto problem = world_.problem();
  const bool is_first = !waiters_.empty() && waiters_.front() == &given_up;
  const bool is_in_doubt = is_first && current_ && current_->phase() == tenure_phase::asking &&
                           current_->is_unanswered();
  if (!problem.ok() && !is_in_doubt) return problem;
  if (is_first && current_ && !current_->has_asked()) return world_.lack();
  if (is_first && !last_refusal_.ok()) return last_refusal_;
  if (is_in_doubt) {
    auto unknown = outcome::of(status::unknown,
                               "the server did not answer in time; the lock is being given back");
    unknown.is_ambiguous = true;
    unknown.is_retryable = true;
    return unknown;
  }
  return timed_out(given_up, now);
}

// Who of this client has the lock or comes first; not the server's matter.
const char* gate::who_is_ahead() const noexcept {
  return holder_ != nullptr ? "another handle of this client holds it"
                            : "another handle of this client is ahead";
}

// With the time that was waited and what stood in the way.
outcome gate::timed_out(const acquire_operation& given_up, time_ns now) const {
  const auto at = std::find(waiters_.begin(), waiters_.end(), &given_up);
  const decimal waited_ms((now - given_up.began) / ns_per_ms);
  const decimal ahead(std::distance(waiters_.begin(), at));
  const decimal place(current_ ? current_->place() + 1 : 0);
  auto how = outcome::of(given_up.is_try ? status::not_acquired : status::timed_out);
  if (holder_ != nullptr) {
    how.say("waited ", waited_ms, " ms; ", who_is_ahead());
  } else if (at != waiters_.begin()) {
    how.say("waited ", waited_ms, " ms, behind ", ahead, " other of this client");
  } else if (current_ && current_->place() >= 0) {
    how.say("waited ", waited_ms, " ms; place ", place, " in the queue when last asked");
  } else {
    how.say("waited ", waited_ms, " ms; another client holds it");
  }
  return how;
}

void gate::abandon_acquire(acquire_operation& given_up, status why, time_ns now) {
  const auto how = give_up_outcome(given_up, why, now);
  const bool was_first = waiters_.front() == &given_up;
  finish(given_up, how);
  if (!current_ || holder_ != nullptr) return;
  if (current_->phase() == tenure_phase::asking || current_->phase() == tenure_phase::queued) {
    // Whoever waits behind takes over the place at the server; nobody behind, and it is given up.
    if (!waiters_.empty()) {
      const auto& next = *waiters_.front();
      if (was_first) current_->take_over(terms_of(*next.who, now), patience_of(next));
      return;
    }
    depart(nullptr, nullptr, now);
  }
}

void gate::interrupt(owner& who, bool is_on, time_ns now) {
  who.is_interrupted = is_on;
  if (is_on && who.pending != nullptr) abandon(*who.pending, status::cancelled, now);
}

void gate::forget(owner& who, time_ns now) {
  if (who.pending != nullptr) abandon(*who.pending, status::closed, now);
  if (who.state == owner_state::held) {
    finish_extensions(outcome::of(status::closed), time_never);
    finish_raise(outcome::of(status::closed));
    const auto mode = who.hold_count(hold_mode::whole) > 0 ? hold_mode::whole : hold_mode::part;
    who.hold_counts = {};
    who.hold_count(mode) = 1;
    unlock(who, mode, nullptr, now);
  }
  for (auto& gone : departures_) {
    if (gone.who != &who) continue;
    gone.who = nullptr;
    if (gone.done == nullptr) continue;
    end(*std::exchange(gone.done, nullptr), outcome::of(status::closed), 0);
  }
  who.state = owner_state::idle;
}

void gate::close(time_ns now) {
  is_closed_ = true;
  const auto closed = client_freed();
  while (!waiters_.empty()) finish(*waiters_.front(), closed);
  finish_extensions(closed, time_never);
  finish_raise(closed);
  for (auto& gone : departures_) {
    if (gone.who != nullptr) std::exchange(gone.who, nullptr)->state = owner_state::idle;
    if (gone.done != nullptr) end(*std::exchange(gone.done, nullptr), closed, 0);
    gone.claim->leave_at_once(now);
  }
  if (!current_) return;
  // Somebody may wait of whom we have not heard yet, and no second question can follow.
  current_->on_wanted();
  if (holder_ != nullptr) std::exchange(holder_, nullptr)->state = owner_state::lost;
  depart(nullptr, nullptr, now);
}

// ---- passing on within this client ----------------------------------------------------------

// Only between holds that are renewed alike: another lease has to come from the server.
bool gate::suits_next() const noexcept {
  const auto& who = *waiters_.front()->who;
  const auto& terms = current_->terms();
  return who.renews && terms.renews && who.lease_ms == terms.lease_ms;
}

bool gate::may_pass(time_ns now) const noexcept {
  if (!suits_next() || !current_->is_fresh(now)) return false;
  if (!current_->others_wait()) return true;
  return passes_ < batch_passes && now - batch_start_ < batch_ns;
}

bool gate::pass_on(time_ns now) {
  if (waiters_.empty() || !may_pass(now)) return false;
  if (current_->has_token()) {
    ++passes_;
    grant_to_next(now);
    return true;
  }
  is_refilling_ = draw_ahead(now);
  if (is_refilling_) ++passes_;
  return is_refilling_;
}

// Only the owner may draw tokens, so they are drawn together with a renewal: as many as there is
// credit for and as can be used.
bool gate::draw_ahead(time_ns now) {
  const auto usable =
      current_->others_wait() ? std::int64_t{batch_passes} - passes_ : reserve_tokens;
  const auto wanted = std::clamp<std::int64_t>(credit_ / 2, 1, usable);
  if (current_->renew(current_->terms().lease_ms, wanted, nullptr, now) == 0) return false;
  count_drawn(wanted);
  return true;
}

void gate::count_drawn(std::int64_t tokens) noexcept {
  credit_ = std::max<std::int64_t>(credit_ - 2 * tokens, 0);
}

// Three tokens may be drawn for two that were handed out, so that load alone never makes the
// counter outrun the server's clock (hazard 30), and who passes on without an end soon draws many
// at once.
std::int64_t gate::hand_out_token() noexcept {
  credit_ = std::min(credit_ + 3, 2 * reserve_tokens);
  return current_->take_token();
}

// ---- operations -----------------------------------------------------------------------------

void gate::accept(operation& accepted) {
  if (accepted.deadline != time_never) deadlines_.emplace(accepted.deadline, &accepted);
}

// Accepts what is to be one of the extensions; from here on it needs no more memory.
void gate::expect(operation& accepted) {
  extensions_.reserve(extensions_.size() + 1);
  accept(accepted);
}

// It was not accepted after all.
void gate::retract(operation& rejected) noexcept {
  deadlines_.erase({rejected.deadline, &rejected});
}

void gate::end(operation& ended, const outcome& how, std::int64_t token) {
  if (ended.deadline != time_never) deadlines_.erase({ended.deadline, &ended});
  ended.finish(how, token);
}

void gate::finish(acquire_operation& ended, const outcome& how) {
  waiters_.erase(ended.place_);
  auto& who = *ended.who;
  who.pending = nullptr;
  who.state = owner_state::idle;
  end(ended, how, how.ok() ? who.token : 0);
}

void gate::finish_extensions(const outcome& how, time_ns until) {
  for (std::size_t i = 0; i < extensions_.size();) {
    if (extensions_[i].target > until) {
      ++i;
      continue;
    }
    auto* const done = extensions_[i].done;
    extensions_.erase(extensions_.begin() + static_cast<std::ptrdiff_t>(i));
    end(*done, how, 0);
  }
}

}  // namespace mortise::lock
