// How a line's tenure begins, what becomes of it, and to whom it goes next.
#include <algorithm>
#include <new>
#include <utility>

#include "base/probe.hpp"
#include "lock/line.hpp"
#include "lock/line_terms.hpp"

namespace mortise::lock {

// ---- passing on within this client ----------------------------------------------------------

// Only between holds of as much that are renewed alike: another lease has to come from the server.
bool line::suits(const acquire_operation& next) const noexcept {
  const auto& terms = current_->terms();
  return next.owner->renews && terms.renews && next.owner->lease_ms == terms.lease_ms &&
         next.wanted.weight == current_->weight() && next.owner->limit == current_->limit();
}

bool line::may_pass(time_ns now) const noexcept {
  if (!suits(*waiters_.front())) return false;
  if (!current_->is_fresh(now) || !current_->is_acknowledged()) return false;
  return !current_->others_wait() || !passes_.is_over(now);
}

bool line::pass_on(time_ns now) { return !waiters_.empty() && may_pass(now) && pass_to_next(now); }

bool line::pass_to_next(time_ns now) {
  if (has_token()) {
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
void line::start_next(time_ns now) noexcept {
  while (!current_ && !waiters_.empty()) {
    auto& next = *waiters_.front();
    try {
      gate_.departures.reserve(gate_.lines);  // so that each tenure can be left without memory
      current_ = new_tenure(next, now);
    } catch (const std::bad_alloc&) {
      finish(next, outcome::of(status::no_memory), now);
      continue;
    }
    is_refilling_ = false;
    current_->start(gate_.is_contended, &next, now);
  }
}

std::unique_ptr<tenure> line::new_tenure(const acquire_operation& first, time_ns now) {
  const auto& owner = *first.owner;
  const portion wanted{first.wanted.mode, first.wanted.weight, owner.limit};
  const auto reuse = reuse_of(first);
  auto token = gate_.world.new_owner_token(
      owner.label, server_ttl_ms(grant_ms(owner.lease_ms), owner.drift_ppm), reuse);
  may_retain_ = reuse == claim_reuse::retained;
  is_shared_ = may_share(first);
  shared_token_ = 0;
  return std::make_unique<tenure>(
      gate_.next_tenure++, std::move(token), gate_.protocol, wanted, terms_of(owner, now),
      wait_terms_of(first, gate_.departures.are_awaited(), gate_.expected), gate_.world);
}

void line::handle(news what, time_ns now) {
  switch (what) {
    case news::none:
    case news::left:
      break;
    case news::granted:
      gate_.expected = current_->next_contention();
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
      finish_raise(outcome::of(status::not_acquired, "other holders share the lock"));
      break;
    case news::raise_failed:
      finish_raise(failure_of_question());
      break;
    case news::lost:
      lose(now);
      break;
    case news::at_risk:
      tell_risk();
      break;
  }
}

// What draws tokens for a waiter prolongs nobody's hold. One renewal is counted once, also for
// readers who hold together.
void line::note_renewal(bool is_ok) noexcept {
  if (auto* const holder = holders_.first()) holder->counts_of_hold->renewed(is_ok);
}

void line::tell_risk() noexcept {
  holders_.each(
      [&](lock::owner& holder) { gate_.listener.on_at_risk(holder, current_->threat()); });
}

// What is told of a renewal or an upgrade that got no yes and no no.
outcome line::failure_of_question() const {
  auto how = current_->details();
  if (how.ok()) {
    how = outcome::of(status::unknown, "the connection broke before the answer");
    how.is_retryable = true;
  }
  how.is_ambiguous = how.code == status::unknown;
  return how;
}

void line::grant_to_next(time_ns now) {
  // Whoever was to have it may have given up meanwhile, and the next may want another lease.
  const bool is_refill = std::exchange(is_refilling_, false);
  if (waiters_.empty() || !has_token() || (is_refill && !suits(*waiters_.front()))) {
    depart(now);
    start_next(now);
    return;
  }
  // The time of who has it from the servers counts from their grant, a later one's from now.
  const auto from = passes_.is_first_holder() ? current_->granted_at() : now;
  grant(*waiters_.front(), from, now);
  // Readers who have waited together begin together.
  while (is_shared_ && !waiters_.empty() && suits(*waiters_.front())) {
    grant(*waiters_.front(), from, now);
  }
}

void line::grant(acquire_operation& next, time_ns from, time_ns now) {
  auto& owner = *next.owner;
  owner.token = next_token();
  ++owner.hold_number;
  passes_.note_handed_out();
  owner.hold_once(next.wanted.mode);
  if (next.has_found_taken_) next.counts().handed_off(!passes_.is_first_holder());
  owner.count_hold(next.wanted.mode, now);
  probe::grant(&owner, owner.lock_name, owner.token);
  finish(next, {}, now);
  owner.state = owner_state::held;
  hold_on(owner, terms_of(owner, from), now);
}

void line::refuse_next(time_ns now) {
  auto details = current_->details();
  if (details.ok()) {
    // Whatever was not understood is never taken for a grant (hazard 31).
    details = outcome::of(status::unknown, "cannot parse the server's reply");
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

void line::lose(time_ns now) {
  const auto why = current_->loss();
  // Also when the clock was looked at too late to tell of it in time (hazard 20).
  const bool is_risk_told = current_->is_risk_told();
  holders_.each([&](lock::owner& loser) { lose_one(loser, why, is_risk_told, now); });
  // By our clock it is over; at the server it may have a little left, which is given back.
  depart(now);
  is_refilling_ = false;
  start_next(now);
}

void line::lose_one(lock::owner& loser, reason why, bool is_risk_told, time_ns now) {
  holders_.remove(loser);
  loser.in = nullptr;
  loser.state = owner_state::lost;
  loser.loss = why;
  loser.count_hold_end(now);
  loser.counts_of_hold->hold_lost(why);
  probe::loss(&loser, loser.lock_name, loser.token, static_cast<std::int32_t>(why),
              now - loser.held_since);
  end_calls_of(loser, outcome::lost(why));
  if (!is_risk_told) gate_.listener.on_at_risk(loser, why);
  gate_.listener.on_lost(loser);
}

void line::depart(time_ns now, departure leaving) {
  retained_until_ = 0;
  next_end_ = time_never;
  is_joined_ = false;
  leaving.claim = std::move(current_);
  gate_.note_departed(gate_.departures.add(std::move(leaving), now));
}

void line::settle(time_ns now) {
  if (!current_ || current_->phase() != tenure_phase::held) return;
  if (now >= current_->valid_until()) return handle(current_->on_timer(now), now);
  if (now >= next_end_) end_holds_in_time(now);
}

// ---- from the world -------------------------------------------------------------------------

void line::on_answer(std::uint32_t serial, const step_result& said, time_ns now) {
  const bool is_first_answer = current_->phase() == tenure_phase::asking;
  const auto what = current_->on_answer(serial, said, now);
  // Whoever had to wait is likely to have to again, until the lock is found free.
  if (is_first_answer && what == news::granted) gate_.is_contended = current_->others_wait();
  if (what == news::not_free) gate_.is_contended = true;
  if (current_->phase() == tenure_phase::queued) {
    gate_.is_contended = true;
    if (!waiters_.empty()) note_taken(*waiters_.front());
  }
  handle(what, now);
  // A renewal that was on its way says what "W" would have said (hazard 24).
  if (is_retained() && current_->others_wait()) depart(now);
}

void line::on_grant(std::int64_t last_token, std::int64_t server_us, bool others_wait,
                    time_ns now) {
  gate_.is_contended = true;
  handle(current_->on_grant(last_token, server_us, others_wait, now), now);
}

void line::on_wanted(time_ns now) {
  if (current_->others_wait()) return;
  current_->on_wanted();
  if (is_retained()) return depart(now);
  passes_.begin(now);
}

void line::on_forced(time_ns now) {
  if (is_retained()) return depart(now);
  current_->on_forced(now);
}

void line::on_up(time_ns now) {
  // Somebody may have come of whom we have not heard.
  end_retention(now);
  if (current_) current_->on_up(now);
  if (raising_ != nullptr) current_->raise_again(now);
}

time_ns line::next_timer() const noexcept {
  if (is_retained()) return retained_until_;
  return current_ ? std::min(current_->next_timer(), next_end_) : time_never;
}

void line::on_timer(time_ns now) {
  if (is_retained() && now >= retained_until_) depart(now);
  if (current_) handle(current_->on_timer(now), now);
  if (current_ && now >= next_end_) end_holds_in_time(now);
}

}  // namespace mortise::lock
