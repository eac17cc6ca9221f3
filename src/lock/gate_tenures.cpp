// The other half of the gate: what happens to its tenures, and what the world tells.
#include <algorithm>
#include <new>
#include <utility>

#include "lock/gate.hpp"
#include "lock/lease.hpp"

namespace mortise::lock {

// ---- the tenure's fate ----------------------------------------------------------------------

lease_terms gate::terms_of(const owner& who, time_ns from) noexcept {
  lease_terms terms;
  terms.lease_ms = who.lease_ms;
  terms.renews = who.renews;
  terms.drift_ppm = who.drift_ppm;
  if (!who.renews) {
    terms.until = from + who.lease_ms * ns_per_ms;
  } else if (who.max_hold_ms >= 0) {
    terms.until = from + who.max_hold_ms * ns_per_ms;
  }
  return terms;
}

patience gate::patience_of(const acquire_operation& wanted) noexcept {
  return {!wanted.is_try, wanted.who->poll_interval_ms, wanted.who->poll_attempts};
}

// Memory may have run out also where nobody can be told but the waiter itself.
void gate::start_next(time_ns now) noexcept {
  while (!current_ && !waiters_.empty()) {
    try {
      start(*waiters_.front(), now);
    } catch (const std::bad_alloc&) {
      finish(*waiters_.front(), outcome::of(status::no_memory));
    }
  }
}

void gate::start(acquire_operation& next, time_ns now) {
  const auto& who = *next.who;
  departures_.reserve(departures_.size() + 1);  // so that it can be left without memory
  auto token =
      world_.new_owner_token(who.label, server_ttl_ms(grant_ms(who.lease_ms), who.drift_ppm));
  current_ = std::make_unique<tenure>(next_tenure_++, std::move(token), protocol_,
                                      claim{next.wanted.weight, who.limit, who.lifetimes_ms},
                                      terms_of(who, now), patience_of(next), world_);
  is_refilling_ = false;
  last_refusal_ = {};
  current_->start(is_contended_, &next, now);
}

void gate::handle(news what, time_ns now) {
  switch (what) {
    case news::none:
    case news::left:
      break;
    case news::granted:
      count_drawn(1);
      passes_ = 0;
      batch_start_ = now;
      grant_to_next(now);
      break;
    case news::not_free:
      current_.reset();
      if (!waiters_.empty())
        finish(*waiters_.front(),
               outcome::because(status::not_acquired, "another client holds it or is ahead"));
      start_next(now);
      break;
    case news::refused:
      refuse_next(now);
      break;
    case news::renewed:
      finish_extensions({}, current_->valid_until());
      if (is_refilling_) grant_to_next(now);
      break;
    case news::renew_failed:
      finish_extensions(failure_of_question(), time_never);
      if (is_refilling_) {
        depart(nullptr, nullptr, now);
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
  if (waiters_.empty() || !current_->has_token() || (is_refill && !suits_next())) {
    depart(nullptr, nullptr, now);
    start_next(now);
    return;
  }
  auto& next = *waiters_.front();
  auto& who = *next.who;
  holder_ = &who;
  who.token = hand_out_token();
  who.hold_counts = {};
  who.hold_count(next.wanted.mode) = 1;
  finish(next, {});
  who.state = owner_state::held;
  // The first holder's time counts from the grant, a later one's from now.
  current_->keep(terms_of(who, passes_ == 0 ? current_->granted_at() : now), now);
}

void gate::refuse_next(time_ns now) {
  auto details = current_->details();
  if (details.ok()) {
    // Whatever was not understood is never taken for a grant (hazard 31).
    details = outcome::of(status::unknown, "the server's answer cannot be understood");
    details.is_ambiguous = true;
  }
  if (waiters_.empty()) return depart(nullptr, nullptr, now);
  auto& next = *waiters_.front();
  if (!next.is_try && current_->is_refusal_passing()) {
    last_refusal_ = details;
    current_->retry_later(now);
    return;
  }
  finish(next, details);
  depart(nullptr, nullptr, now);
  start_next(now);
}

void gate::lose(time_ns now) {
  auto* const loser = std::exchange(holder_, nullptr);
  if (loser != nullptr) {
    loser->state = owner_state::lost;
    loser->loss = current_->loss();
    const auto lost = outcome::lost(loser->loss);
    finish_extensions(lost, time_never);
    finish_raise(lost);
    // Also when the clock was looked at too late to tell of it in time (hazard 20).
    if (!current_->is_risk_told()) listener_.on_at_risk(*loser, loser->loss);
    listener_.on_lost(*loser);
  }
  // By our clock it is over; at the server it may have a little left, which is given back.
  depart(nullptr, nullptr, now);
  is_refilling_ = false;
  start_next(now);
}

void gate::settle(time_ns now) {
  if (current_ && current_->phase() == tenure_phase::held && now >= current_->valid_until()) {
    handle(current_->on_timer(now), now);
  }
}

// ---- departures -----------------------------------------------------------------------------

void gate::depart(operation* done, owner* who, time_ns now) {
  auto claim = std::move(current_);
  claim->leave(done, now);
  departures_.push_back({std::move(claim), done, who});
  drop_departed();
}

void gate::finish_departure(departure& gone) {
  const auto result = gone.claim->leave_result();
  if (result == answer::handed_over) is_contended_ = true;
  if (result == answer::released && waiters_.empty()) is_contended_ = false;
  if (gone.who != nullptr) std::exchange(gone.who, nullptr)->state = owner_state::idle;
  if (gone.done == nullptr) return;
  outcome how;
  switch (result) {
    case answer::released:
    case answer::handed_over:
    case answer::cancelled:
      break;
    case answer::not_owner:
      how = outcome::lost(reason::server_lost);
      break;
    default:
      how = gone.claim->details();
      if (how.ok()) how = outcome::of(status::unknown, "the server did not answer");
      how.is_ambiguous = how.code == status::unknown;
      break;
  }
  end(*std::exchange(gone.done, nullptr), how, 0);
}

void gate::drop_departed() {
  for (std::size_t i = 0; i < departures_.size();) {
    if (departures_[i].claim->phase() != tenure_phase::over) {
      ++i;
      continue;
    }
    finish_departure(departures_[i]);
    departures_.erase(departures_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

// ---- from the world -------------------------------------------------------------------------

void gate::on_answer(std::uint64_t tenure_id, std::uint32_t serial, const verdict& said,
                     time_ns now) {
  if (current_ && current_->id() == tenure_id) {
    const auto what = current_->on_answer(serial, said, now);
    if (current_->phase() == tenure_phase::queued) is_contended_ = true;
    return handle(what, now);
  }
  for (auto& gone : departures_) {
    if (gone.claim->id() != tenure_id) continue;
    // A refused departure goes on by itself, but whoever waits for it is told.
    if (gone.claim->on_answer(serial, said, now) == news::refused) finish_departure(gone);
    return drop_departed();
  }
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
  passes_ = 0;
  batch_start_ = now;
}

void gate::on_free(time_ns now) {
  if (current_) current_->on_free(now);
}

void gate::on_up(time_ns now) {
  if (current_) current_->on_up(now);
  for (auto& gone : departures_) gone.claim->on_up(now);
}

time_ns gate::next_timer() const noexcept {
  auto next = current_ ? current_->next_timer() : time_never;
  for (const auto& gone : departures_) next = std::min(next, gone.claim->next_timer());
  if (!deadlines_.empty()) next = std::min(next, deadlines_.begin()->first);
  return next;
}

void gate::on_timer(time_ns now) {
  if (current_) handle(current_->on_timer(now), now);
  for (auto& gone : departures_) gone.claim->on_timer(now);
  drop_departed();
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    abandon(*deadlines_.begin()->second, status::timed_out, now);
  }
}

}  // namespace mortise::lock
