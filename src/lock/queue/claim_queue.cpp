#include "lock/queue/claim_queue.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "base/text/decimal.hpp"
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
  gate_.journal.wait_began(acquire);
  if (!takes_up && !holds_now && (current_ || !waiters_.empty())) note_taken(acquire);
  owner.enter(owner_state::acquiring);
  owner.pending = &acquire;
  owner.queue = this;
  acquire.place_ = place.begin();
  waiters_.splice(waiters_.end(), place);
  if (holds_now) {
    grant(acquire, now, now);
  } else if (takes_up) {
    // Works like a pass: the hold has its own fencing token and deadline, and counts as a new hold.
    // Readers get the token of the claim.
    retention_.end();
    if (!pass_to_next(now)) release_claim(now);
  }
  start_next(now);
  report_contention();
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
  gate_.journal.released(owner, now);
  owner.hold_counts = {};
  owner.count_hold_end(now);
  holders_.remove(owner);
  owner.enter(done != nullptr ? owner_state::unlocking : owner_state::idle);
  end_calls_of(owner, outcome::of(status::not_owner, "the hold was unlocked meanwhile"));
  // The claim stays with this client: with its other readers, or with the next waiter.
  const bool is_passed = !holders_.is_empty() || (may_pass(now) && pass_to_next(now));
  // No retention for a freed handle, because its next acquire may never come.
  const bool is_idle_handle = done != nullptr && waiters_.empty();
  const bool is_kept = !is_passed && is_idle_handle && retention_.begin(owner, *current_, now);
  if (is_kept) gate_.journal.changed(event_kind::retained, owner, now);
  if (is_passed || is_kept) {
    owner.enter(owner_state::idle);
    owner.counts_of_hold->released(is_passed ? statistics::release::passed
                                             : statistics::release::retained);
    if (done != nullptr) gate_.operations.end(*done, {}, owner.token);
    return;
  }
  replace_claim(now, {.claim = {},
                      .done = done,
                      .owner = done != nullptr ? &owner : nullptr,
                      .counts = owner.counts_of_hold});
}

outcome claim_queue::check_free() const {
  if (!calls_.has(sole_call::upgrade)) return {};
  return outcome::because(status::busy, "another call on this handle is upgrading it; wait for it");
}

outcome claim_queue::extend(lock::owner& owner, std::int64_t lease_ms, operation& done,
                            time_ns now) {
  const auto lease = lease_ms == 0 ? owner.lease_ms : lease_ms;
  calls_.accept(done, current_->requests().broken());
  if (hold().renew(lease, 0, &done, now) == 0 && gate_.has_connection()) {
    gate_.operations.retract(done);
    return gate_.io.lack();
  }
  calls_.add(done, owner, now + lease * ns_per_ms, lease);
  note_targets();  // without a connection, for the renewal that on_up() sends
  return {};
}

// Only an extension that the server has executed changes the terms. After a failure the old
// deadline stands (hazard 28).
void claim_queue::keep_extended(lock::owner& holder, std::int64_t lease_ms, time_ns target) {
  auto terms = current_->requests().terms();
  terms.lease_ms = std::max(terms.lease_ms, lease_ms);
  terms.end.extend(target);
  holder.joint.end.extend(target);
  current_->requests().set_terms(terms);
}

// ---- giving up ------------------------------------------------------------------------------

void claim_queue::abandon(operation& given_up, outcome result, status why, const outcome& problem) {
  // The hold stands, and the caller may repeat the call.
  result.is_retryable = result.code == status::unknown;
  // A request that was not sent, or was refused, was not executed.
  const bool is_known = current_ && open_requests_for(given_up) == 0 &&
                        current_->requests().broken() == given_up.broken_before;
  if (why == status::timed_out && is_known && !problem.ok()) result = problem;
  calls_.abandon(given_up, result);
  note_targets();
}

void claim_queue::abandon_acquire(acquire_operation& given_up, status why, time_ns now) {
  end_acquire(given_up, give_up_outcome(given_up, why, now), now);
}

void claim_queue::end_acquire(acquire_operation& given_up, const outcome& result, time_ns now) {
  const bool was_first = waiters_.front() == &given_up;
  finish(given_up, result, now);
  if (attempt() == nullptr) return;
  // The next waiter takes over the place at the server. Without a next waiter, the place is
  // released. A hold that another process has exported is not for the next waiter (hazard 17).
  if (waiters_.empty()) return release_claim(now);
  if (was_first && current_->requests().adopts()) return replace_claim(now);
  const auto& next = *waiters_.front();
  if (was_first) attempt()->take_over(terms_of(*next.owner, now), wait_terms_of(next));
}

void claim_queue::note_taken(acquire_operation& acquire) noexcept {
  if (std::exchange(acquire.has_found_taken_, true)) return;
  acquire.counts().found_taken();
  ++gate_.traffic.contended;
  if (!acquire.is_try) gate_.journal.found_taken(acquire);
}

void claim_queue::finish(acquire_operation& ended, const outcome& result, time_ns now) {
  waiters_.erase(ended.place_);
  ended.counts().acquire_ended(result.code, now - ended.began);
  if (result.ok()) gate_.traffic.granted(now - ended.began);
  auto& owner = *ended.owner;
  gate_.journal.wait_ended(ended, result.code, now);
  owner.pending = nullptr;
  owner.enter(result.ok() ? owner_state::held : owner_state::idle);
  gate_.operations.end(ended, result, result.ok() ? owner.token : 0);
}

void claim_queue::close(time_ns now) {
  const auto closed = client_freed();
  while (!waiters_.empty()) finish(*waiters_.front(), closed, now);
  calls_.finish(closed);
  for (const auto kind : {sole_call::upgrade, sole_call::value}) calls_.finish(kind, closed);
  if (!current_) return;
  // A waiter may exist that is not known yet, and no second request can follow.
  current_->on_waiter();
  holders_.each([&](lock::owner& holder) {
    holder.is_freed = true;
    gate_.journal.released(holder, now);
    holder.count_hold_end(now);
    holders_.remove(holder);
    holder.enter(owner_state::lost);
  });
  release_claim(now);
}

outcome claim_queue::give_up_outcome(const acquire_operation& given_up, status why,
                                     time_ns now) const {
  if (why != status::timed_out) return outcome::of(why);
  auto problem = gate_.io.problem();
  const bool is_first = !waiters_.empty() && waiters_.front() == &given_up;
  const bool is_in_doubt = is_first && attempt() != nullptr && attempt()->awaits_first_reply() &&
                           attempt()->is_unanswered();
  if (!problem.ok() && !is_in_doubt) return problem;
  if (is_first && current_) {
    const auto& requests = current_->requests();
    if (requests.serial() == 0 && !is_queued()) return gate_.io.lack();
    if (!requests.details().ok()) return requests.details();
  }
  if (!is_in_doubt) return timed_out(given_up, now);
  auto unknown = outcome::of(
      status::unknown, "the server did not answer in time; ",
      given_up.adopts() ? "the id is being made valid again" : "the lock is being released");
  unknown.is_ambiguous = true;
  unknown.is_retryable = true;
  return unknown;
}

// Names the time waited and the obstacle.
outcome claim_queue::timed_out(const acquire_operation& given_up, time_ns now) const {
  const auto at = std::find(waiters_.begin(), waiters_.end(), &given_up);
  const decimal waited_ms((now - given_up.began) / ns_per_ms);
  const decimal ahead(std::distance(waiters_.begin(), at));
  const auto number = attempt() != nullptr ? attempt()->place() + 1 : 0;
  const decimal place(number);
  auto result = outcome::of(given_up.is_try ? status::not_acquired : status::timed_out);
  if (!holders_.is_empty()) {
    result.say("waited ", waited_ms, " ms; ", obstacle());
  } else if (at != waiters_.begin()) {
    result.say("waited ", waited_ms, " ms; waiters of this client ahead: ", ahead);
  } else if (number > 0) {
    result.say("waited ", waited_ms, " ms; place ", place, " in the queue when last checked");
  } else {
    const bool is_own = attempt() != nullptr && attempt()->awaits_first_reply();
    result.say("waited ", waited_ms, " ms; ",
               is_own ? "this client has just released it" : "another client holds it");
  }
  return result;
}

// ---- passing on within this client ----------------------------------------------------------

// A pass needs the same permits and the same renewals, because another lease must come from the
// server. The server may have the longer lease of an extension that is open or in doubt.
bool claim_queue::suits(const acquire_operation& next, time_ns now) const noexcept {
  const auto& terms = current_->requests().terms();
  const auto& amount = current_->requests().amount();
  const auto* const held = current_->hold();
  if (held != nullptr && held->requested_until() > now + to_ns(terms.lease_ms)) return false;
  return next.owner->renews && terms.renews && next.owner->lease_ms == terms.lease_ms &&
         next.amount.permits == amount.permits && next.owner->capacity == amount.capacity;
}

// A hold by a retained claim must be as good as a hold from the servers.
bool claim_queue::may_take_up(const acquire_operation& next, time_ns now) const noexcept {
  return is_retained() && suits(next, now) && now < retention_.until() && current_->is_settled(now);
}

bool claim_queue::admits(const acquire_operation& reader, time_ns now) const noexcept {
  if (!sharing_.is_on() || !current_ || !may_share(*reader.owner) || !suits(reader, now))
    return false;
  if (!holders_.is_empty()) return !calls_.has(sole_call::upgrade) && current_->is_settled(now);
  // Joins the waiters. A try needs its result at once, and so sends its own request.
  const bool is_requested = current_->phase() != claim_phase::held && !current_->others_wait();
  return is_requested && !reader.is_try && !waiters_.empty() && !waiters_.front()->is_try;
}

bool claim_queue::may_pass(time_ns now) const noexcept {
  if (waiters_.empty() || !suits(*waiters_.front(), now)) return false;
  // The servers would show the value of this holder as that of the next one.
  if (current_->value().exists()) return false;
  if (now >= hold().margin() || !current_->is_acknowledged()) return false;
  return !current_->others_wait() || !passes_.is_over(now);
}

bool claim_queue::pass_to_next(time_ns now) {
  // After a report of a forced release the next holder begins with the reply to a request, because
  // another client may already hold the lock (hazard 17). A false report costs no more (hazard 32).
  if (sharing_.has_token(hold()) && !hold().is_force_reported()) {
    passes_.note_pass();
    grant_to_next(now);
    return true;
  }
  // Only the owner may draw tokens, so a renewal draws them.
  const auto tokens = passes_.tokens_to_draw(current_->others_wait(), now);
  const auto lease_ms = current_->requests().terms().lease_ms;
  is_refilling_ = hold().renew(lease_ms, tokens, nullptr, now) != 0;
  if (!is_refilling_) return false;
  passes_.note_drawn(tokens, now);
  passes_.note_pass();
  return true;
}

// ---- the course of the claim ---------------------------------------------------------------

// An allocation can also fail in an event, where only the waiter can get the error.
void claim_queue::start_next(time_ns now) noexcept {
  while (!current_ && !waiters_.empty()) {
    auto& next = *waiters_.front();
    try {
      // So that the release of each claim needs no memory.
      gate_.pending_releases.reserve(gate_.queues);
      current_ = new_claim(next, now);
    } catch (const std::bad_alloc&) {
      finish(next, outcome::of(status::no_memory), now);
      continue;
    }
    attempt()->start(gate_.is_contended, &next, now);
  }
}

std::unique_ptr<lock::claim> claim_queue::new_claim(const acquire_operation& first, time_ns now) {
  const auto& owner = *first.owner;
  const lock::amount requested{first.amount.mode, first.amount.permits, owner.capacity};
  retention_.begin_claim(owner);
  sharing_.begin_claim(first);
  const auto reuse = retention_.is_possible()                       ? claim_reuse::retained
                     : sharing_.is_on() || owner.reports_contention ? claim_reuse::shared
                                                                    : claim_reuse::none;
  auto token = gate_.io.new_owner_token(
      owner.label, server_ttl_ms(grant_ms(owner.lease_ms), owner.drift_ppm), reuse);
  auto claim = std::make_unique<lock::claim>(
      gate_.next_claim++, std::move(token), gate_.protocol, requested, terms_of(owner, now),
      wait_terms_of(first, gate_.pending_releases.are_awaited(), gate_.expected), gate_.io);
  claim->requests().adopt(first.adopted);
  return claim;
}

void claim_queue::renewed(time_ns now) {
  note_renewal(true);
  calls_.finish_renewed(hold().valid_until(),
                        [&](lock::owner& holder, std::int64_t lease_ms, time_ns target) {
                          keep_extended(holder, lease_ms, target);
                          gate_.journal.changed(event_kind::extended, holder, now);
                        });
  // A quorum that did not decide an upgrade is asked again, also if this renewal came first.
  if (calls_.has(sole_call::upgrade)) hold().raise_again(now);
  if (!is_refilling_) return;
  // The renewal may be older than the doubt about the claim (hazard 7), or than a report of a
  // forced release. The waiter does not wait for further replies, because false reports could
  // follow each other without end (hazard 32).
  const bool is_sure = current_->is_acknowledged() && !hold().is_force_reported();
  is_sure ? grant_to_next(now) : replace_claim(now);
}

void claim_queue::handle(claim_event what, time_ns now) {
  bool is_repeated = false;
  switch (what) {
    case claim_event::none:
    case claim_event::released:
      break;
    case claim_event::granted:
      gate_.expected = current_->next_contention();
      passes_.note_drawn(1, now);
      passes_.note_trip(current_->trip_ns());
      passes_.begin_claim(now);
      grant_to_next(now);
      break;
    case claim_event::not_free:
      // The holder may be an earlier claim of this client, whose release was repeated after the try
      // because the server did not know the script. So the try is also repeated, once.
      is_repeated = gate_.pending_releases.are_before(current_->id()) && !waiters_.empty() &&
                    !std::exchange(waiters_.front()->is_repeated_, true);
      current_.reset();
      if (!waiters_.empty() && !is_repeated) {
        note_taken(*waiters_.front());
        finish(*waiters_.front(),
               outcome::because(status::not_acquired, "another client holds it or is ahead"), now);
      }
      start_next(now);
      break;
    case claim_event::refused:
      refuse_next(now);
      break;
    case claim_event::renewed:
      renewed(now);
      break;
    case claim_event::renew_failed:
      note_renewal(false);
      // A call whose own request is open, or that a later renewal covers, has not failed.
      calls_.finish(current_->failure_of_request(), hold().refused_until(),
                    current_->requests().latest_target());
      note_targets();
      if (is_refilling_) replace_claim(now);
      break;
    case claim_event::raised:
      raised(now);
      break;
    case claim_event::not_raised:
      calls_.finish(sole_call::upgrade,
                    outcome::of(status::not_acquired, "other holders share the lock"));
      break;
    case claim_event::raise_failed:
      calls_.finish(sole_call::upgrade, current_->failure_of_request());
      break;
    case claim_event::value_set:
      calls_.finish(sole_call::value, {});
      break;
    case claim_event::value_failed:
      calls_.finish(sole_call::value, current_->failure_of_request());
      break;
    case claim_event::lost:
      lose(now);
      break;
    case claim_event::at_risk:
      holders_.each(
          [&](lock::owner& holder) { gate_.listener.on_at_risk(holder, hold().threat()); });
      break;
  }
}

void claim_queue::grant_to_next(time_ns now) {
  // The intended waiter may have given up meanwhile, and the next waiter may need another lease.
  const bool is_refill = std::exchange(is_refilling_, false);
  if (waiters_.empty() || !sharing_.has_token(hold()) ||
      (is_refill && !suits(*waiters_.front(), now))) {
    return replace_claim(now);
  }
  // The first holder's time counts from the servers' grant, a later holder's time from now.
  const auto from = passes_.is_first_holder() ? hold().granted_at() : now;
  grant(*waiters_.front(), from, now);
  // Readers that have waited together start together.
  while (sharing_.is_on() && !waiters_.empty() && suits(*waiters_.front(), now)) {
    grant(*waiters_.front(), from, now);
  }
  report_contention();
}

void claim_queue::grant(acquire_operation& next, time_ns from, time_ns now) {
  auto& owner = *next.owner;
  owner.token = sharing_.next_token(hold());
  owner.thread = next.thread;
  ++owner.hold_number;
  owner.is_contention_due = owner.reports_contention;
  passes_.note_handed_out();
  owner.hold_once(next.amount.mode);
  if (next.has_found_taken_) next.counts().handed_off(!passes_.is_first_holder());
  owner.count_hold(next.amount.mode, now);
  gate_.journal.granted(next, !passes_.is_first_holder(), now);
  auto terms = terms_of(owner, from);
  if (next.is_of_multi) terms.end.stalled = time_never;
  finish(next, {}, now);
  terms.end = sharing_.join(owner, terms.end, holders_, *current_);
  holders_.add(owner);
  hold().keep(terms, now);
  set_value_of(owner, now);
}

// It is a hint: all waiters may have given up, and any publisher can send the message (hazard 32).
void claim_queue::report_contention() noexcept {
  if (!current_ || !is_wanted()) return;
  holders_.each([&](lock::owner& holder) {
    if (std::exchange(holder.is_contention_due, false)) gate_.listener.on_contended(holder);
  });
}

void claim_queue::refuse_next(time_ns now) {
  auto details = current_->requests().details();
  if (details.ok()) {
    // A reply that cannot be parsed is never a grant (hazard 31).
    details = outcome::of(status::unknown, "cannot parse the server's reply");
    details.is_ambiguous = true;
  }
  if (!waiters_.empty()) {
    auto& next = *waiters_.front();
    if (!next.is_try && current_->requests().is_refusal_passing()) {
      return attempt()->retry_later(now);
    }
    finish(next, details, now);
  }
  replace_claim(now);
}

void claim_queue::lose(time_ns now) {
  const auto why = hold().loss();
  // The risk is also reported if the clock was read too late for a timely report (hazard 20).
  const bool is_risk_reported = hold().is_risk_reported();
  holders_.each([&](lock::owner& loser) { lose_one(loser, why, is_risk_reported, now); });
  // By our clock the lease is over. The server may keep the lock a little longer, so the
  // lock is released.
  replace_claim(now);
}

void claim_queue::lose_one(lock::owner& loser, reason why, bool is_risk_reported, time_ns now) {
  holders_.remove(loser);
  loser.enter(owner_state::lost);
  loser.loss = why;
  loser.count_hold_end(now);
  loser.counts_of_hold->hold_lost(why);
  gate_.journal.lost(loser, why, now);
  end_calls_of(loser, outcome::lost(why));
  if (!is_risk_reported) gate_.listener.on_at_risk(loser, why);
  gate_.listener.on_lost(loser);
}

void claim_queue::release_claim(time_ns now, pending_release release) {
  is_refilling_ = false;
  if (is_retained()) gate_.journal.returned(now);
  retention_.end();
  sharing_.end_claim();
  release.claim = std::move(current_);
  gate_.note_released(gate_.pending_releases.add(std::move(release), now));
}

void claim_queue::replace_claim(time_ns now, pending_release release) {
  release_claim(now, std::move(release));
  start_next(now);
}

void claim_queue::settle(time_ns now) {
  if (!current_ || current_->phase() != claim_phase::held) return;
  if (now >= hold().valid_until()) return handle(current_->on_timer(now), now);
  if (now >= sharing_.next_end()) end_holds_in_time(now);
}

void claim_queue::end_holds_in_time(time_ns now) {
  sharing_.end_holds(holders_, *current_, now, [&](lock::owner& holder) {
    lose_one(holder, holder.joint.end.why(), holder.joint.is_end_reported, now);
  });
  if (holders_.is_empty()) replace_claim(now);
}

// ---- events ---------------------------------------------------------------------------------

void claim_queue::on_answer(std::uint32_t serial, const step_result& result, time_ns now) {
  const bool is_first_answer = current_->phase() == claim_phase::asking;
  const auto what = current_->on_answer(serial, result, now);
  // A contended lock is likely to be contended again, until it is found free.
  if (is_first_answer && what == claim_event::granted) gate_.is_contended = current_->others_wait();
  if (what == claim_event::not_free) gate_.is_contended = true;
  if (current_->phase() == claim_phase::queued) {
    gate_.is_contended = true;
    if (!waiters_.empty()) note_taken(*waiters_.front());
    if (is_first_answer && !waiters_.empty()) {
      gate_.journal.queued(*waiters_.front(), attempt()->place(), now);
    }
  }
  handle(what, now);
  // A renewal in flight reports waiters like "W" (hazard 24).
  if (current_ && is_retained() && current_->others_wait()) release_claim(now);
  report_contention();
}

void claim_queue::on_grant(std::int64_t last_token, std::int64_t server_us, bool others_wait,
                           time_ns now) {
  gate_.is_contended = true;
  handle(current_->on_grant(last_token, server_us, others_wait, now), now);
}

void claim_queue::on_waiter(time_ns now) {
  const bool was_known = current_->others_wait();
  current_->on_waiter();
  report_contention();
  if (was_known) return;
  if (is_retained()) return release_claim(now);
  passes_.begin(now);
}

void claim_queue::on_forced(time_ns now) {
  if (is_retained()) return release_claim(now);
  if (auto* const held = current_->hold()) held->on_forced(now);
}

void claim_queue::on_up(time_ns now) {
  // A waiter may have come whose message was lost.
  end_retention(now);
  if (!current_) return;
  current_->on_up(now);
  if (calls_.has(sole_call::upgrade)) hold().raise_again(now);
}

time_ns claim_queue::next_timer() const noexcept {
  if (is_retained()) return retention_.until();
  return current_ ? std::min(current_->next_timer(), sharing_.next_end()) : time_never;
}

void claim_queue::on_timer(time_ns now) {
  if (is_retained() && now >= retention_.until()) release_claim(now);
  if (current_) handle(current_->on_timer(now), now);
  if (current_ && now >= sharing_.next_end()) end_holds_in_time(now);
}

}  // namespace mortise::lock
