// How the claim of a claim queue begins and ends, and which waiter gets it next.
#include <algorithm>
#include <new>
#include <utility>

#include "base/probe.hpp"
#include "lock/queue/claim_queue.hpp"
#include "lock/queue/queue_terms.hpp"

namespace mortise::lock {

// ---- passing on within this client ----------------------------------------------------------

// A pass needs the same permits and the same renewals, because another lease must come from the
// server.
bool claim_queue::suits(const acquire_operation& next) const noexcept {
  const auto& terms = current_->terms();
  return next.owner->renews && terms.renews && next.owner->lease_ms == terms.lease_ms &&
         next.amount.permits == current_->permits() && next.owner->capacity == current_->capacity();
}

bool claim_queue::may_pass(time_ns now) const noexcept {
  if (!suits(*waiters_.front())) return false;
  if (!current_->is_fresh(now) || !current_->is_acknowledged()) return false;
  return !current_->others_wait() || !passes_.is_over(now);
}

bool claim_queue::pass_on(time_ns now) {
  return !waiters_.empty() && may_pass(now) && pass_to_next(now);
}

bool claim_queue::pass_to_next(time_ns now) {
  if (has_token()) {
    passes_.note_pass();
    grant_to_next(now);
    return true;
  }
  // Only the owner may draw tokens, so a renewal draws them.
  const auto tokens = passes_.tokens_to_draw(current_->others_wait(), now);
  is_refilling_ = current_->renew(current_->terms().lease_ms, tokens, nullptr, now) != 0;
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
      gate_.pending_releases.reserve(
          gate_.queues);  // so that the release of each claim needs no memory
      current_ = new_claim(next, now);
    } catch (const std::bad_alloc&) {
      finish(next, outcome::of(status::no_memory), now);
      continue;
    }
    is_refilling_ = false;
    current_->start(gate_.is_contended, &next, now);
  }
}

std::unique_ptr<lock::claim> claim_queue::new_claim(const acquire_operation& first, time_ns now) {
  const auto& owner = *first.owner;
  const lock::amount requested{first.amount.mode, first.amount.permits, owner.capacity};
  const auto reuse = reuse_of(first);
  auto token = gate_.io.new_owner_token(
      owner.label, server_ttl_ms(grant_ms(owner.lease_ms), owner.drift_ppm), reuse);
  may_retain_ = reuse == claim_reuse::retained;
  is_shared_ = may_share(first);
  shared_token_ = 0;
  return std::make_unique<lock::claim>(
      gate_.next_claim++, std::move(token), gate_.protocol, requested, terms_of(owner, now),
      wait_terms_of(first, gate_.pending_releases.are_awaited(), gate_.expected), gate_.io);
}

void claim_queue::handle(claim_event what, time_ns now) {
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
      current_.reset();
      if (!waiters_.empty()) {
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
      note_renewal(true);
      extensions_.finish({}, current_->valid_until());
      if (is_refilling_) grant_to_next(now);
      break;
    case claim_event::renew_failed:
      note_renewal(false);
      extensions_.finish(failure_of_request());
      if (is_refilling_) {
        release_claim(now);
        start_next(now);
      }
      break;
    case claim_event::raised:
      raised(now);
      break;
    case claim_event::not_raised:
      finish_raise(outcome::of(status::not_acquired, "other holders share the lock"));
      break;
    case claim_event::raise_failed:
      finish_raise(failure_of_request());
      break;
    case claim_event::lost:
      lose(now);
      break;
    case claim_event::at_risk:
      report_risk();
      break;
  }
}

// A renewal that draws tokens for a waiter extends no hold. Readers that share a claim count one
// renewal once.
void claim_queue::note_renewal(bool is_ok) noexcept {
  if (auto* const holder = holders_.first()) holder->counts_of_hold->renewed(is_ok);
}

void claim_queue::report_risk() noexcept {
  holders_.each(
      [&](lock::owner& holder) { gate_.listener.on_at_risk(holder, current_->threat()); });
}

// The result of a renewal or an upgrade with an inconclusive reply, or with none.
outcome claim_queue::failure_of_request() const {
  auto result = current_->details();
  if (result.ok()) {
    result = outcome::of(status::unknown, "the connection broke before the answer");
    result.is_retryable = true;
  }
  result.is_ambiguous = result.code == status::unknown;
  return result;
}

void claim_queue::grant_to_next(time_ns now) {
  // The intended waiter may have given up meanwhile, and the next waiter may need another lease.
  const bool is_refill = std::exchange(is_refilling_, false);
  if (waiters_.empty() || !has_token() || (is_refill && !suits(*waiters_.front()))) {
    release_claim(now);
    start_next(now);
    return;
  }
  // The first holder's time counts from the servers' grant, a later holder's time from now.
  const auto from = passes_.is_first_holder() ? current_->granted_at() : now;
  grant(*waiters_.front(), from, now);
  // Readers that have waited together start together.
  while (is_shared_ && !waiters_.empty() && suits(*waiters_.front())) {
    grant(*waiters_.front(), from, now);
  }
}

void claim_queue::grant(acquire_operation& next, time_ns from, time_ns now) {
  auto& owner = *next.owner;
  owner.token = next_token();
  ++owner.hold_number;
  passes_.note_handed_out();
  owner.hold_once(next.amount.mode);
  if (next.has_found_taken_) next.counts().handed_off(!passes_.is_first_holder());
  owner.count_hold(next.amount.mode, now);
  probe::grant(&owner, owner.lock_name, owner.token);
  finish(next, {}, now);
  hold_on(owner, terms_of(owner, from), now);
}

void claim_queue::refuse_next(time_ns now) {
  auto details = current_->details();
  if (details.ok()) {
    // A reply that cannot be parsed is never a grant (hazard 31).
    details = outcome::of(status::unknown, "cannot parse the server's reply");
    details.is_ambiguous = true;
  }
  if (waiters_.empty()) return release_claim(now);
  auto& next = *waiters_.front();
  if (!next.is_try && current_->is_refusal_passing()) {
    current_->retry_later(now);
    return;
  }
  finish(next, details, now);
  release_claim(now);
  start_next(now);
}

void claim_queue::lose(time_ns now) {
  const auto why = current_->loss();
  // The risk is also reported if the clock was read too late for a timely report (hazard 20).
  const bool is_risk_reported = current_->is_risk_reported();
  holders_.each([&](lock::owner& loser) { lose_one(loser, why, is_risk_reported, now); });
  // By our clock the lease is over. The server may keep the lock a little longer, so the
  // lock is released.
  release_claim(now);
  is_refilling_ = false;
  start_next(now);
}

void claim_queue::lose_one(lock::owner& loser, reason why, bool is_risk_reported, time_ns now) {
  holders_.remove(loser);
  loser.enter(owner_state::lost);
  loser.loss = why;
  loser.count_hold_end(now);
  loser.counts_of_hold->hold_lost(why);
  probe::loss(&loser, loser.lock_name, loser.token, static_cast<std::int32_t>(why),
              now - loser.held_since);
  end_calls_of(loser, outcome::lost(why));
  if (!is_risk_reported) gate_.listener.on_at_risk(loser, why);
  gate_.listener.on_lost(loser);
}

void claim_queue::release_claim(time_ns now, pending_release release) {
  retained_until_ = 0;
  next_end_ = time_never;
  is_joined_ = false;
  release.claim = std::move(current_);
  gate_.note_released(gate_.pending_releases.add(std::move(release), now));
}

void claim_queue::settle(time_ns now) {
  if (!current_ || current_->phase() != claim_phase::held) return;
  if (now >= current_->valid_until()) return handle(current_->on_timer(now), now);
  if (now >= next_end_) end_holds_in_time(now);
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
  }
  handle(what, now);
  // A renewal in flight reports waiters like "W" (hazard 24).
  if (is_retained() && current_->others_wait()) release_claim(now);
}

void claim_queue::on_grant(std::int64_t last_token, std::int64_t server_us, bool others_wait,
                           time_ns now) {
  gate_.is_contended = true;
  handle(current_->on_grant(last_token, server_us, others_wait, now), now);
}

void claim_queue::on_waiter(time_ns now) {
  if (current_->others_wait()) return;
  current_->on_waiter();
  if (is_retained()) return release_claim(now);
  passes_.begin(now);
}

void claim_queue::on_forced(time_ns now) {
  if (is_retained()) return release_claim(now);
  current_->on_forced(now);
}

void claim_queue::on_up(time_ns now) {
  // A waiter may have come whose message was lost.
  end_retention(now);
  if (current_) current_->on_up(now);
  if (raising_ != nullptr) current_->raise_again(now);
}

time_ns claim_queue::next_timer() const noexcept {
  if (is_retained()) return retained_until_;
  return current_ ? std::min(current_->next_timer(), next_end_) : time_never;
}

void claim_queue::on_timer(time_ns now) {
  if (is_retained() && now >= retained_until_) release_claim(now);
  if (current_) handle(current_->on_timer(now), now);
  if (current_ && now >= next_end_) end_holds_in_time(now);
}

}  // namespace mortise::lock
