#include "lock/claim/claim.hpp"

#include <utility>

namespace mortise::lock {

claim::claim(std::uint64_t id, std::string token, const protocol_facts& protocol,
             const lock::amount& requested, const lease_terms& terms, const wait_terms& wait,
             lock_io& io)
    : requests_(id, std::move(token), requested, terms, io),
      phase_(std::in_place_type<lock::attempt>, requests_, protocol, wait) {}

claim_event claim::end_after(claim_event what) noexcept {
  is_over_ = is_over_ || what == claim_event::not_free || what == claim_event::lost ||
             what == claim_event::released;
  return what;
}

claim_event claim::on_answer(std::uint32_t serial, const step_result& result, time_ns now) {
  const auto request = requests_.close(serial, result);
  if (!request || is_over_) return claim_event::none;
  if (result.what != answer::broken && result.what != answer::unsent)
    trip_ns_ = now - request->sent;
  if (request->what == step::set_value) return on_value_answer(*request, result, now);
  const auto what =
      std::visit([&](auto& phase) { return phase.on_answer(*request, result, now); }, phase_);
  if (what == claim_event::granted || what == claim_event::renewed) {
    others_wait_ = others_wait_ || result.others_wait;
    if (unacknowledged_since_ && serial > *unacknowledged_since_) unacknowledged_since_.reset();
  }
  if (what == claim_event::renewed) value_.on_renewed(now);
  if (what != claim_event::granted) return end_after(what);
  return begin_hold(request->sent, request->lease_ms, result, now);
}

// A server that no longer has the hold stores no value for it (hazard 17). A renewal shows whether
// the hold is lost, and is followed by the value if it is not.
claim_event claim::on_value_answer(const open_request& request, const step_result& result,
                                   time_ns now) {
  if (hold() == nullptr) return claim_event::none;
  if (result.what == answer::not_owner) hold()->check_survival(now);
  return value_.on_answer(request, result, now);
}

claim_event claim::on_grant(std::int64_t last_token, std::int64_t server_us, bool others_wait,
                            time_ns now) {
  if (attempt() == nullptr) return claim_event::none;
  const auto from = attempt()->on_grant(server_us, now);
  if (!from) return claim_event::none;
  step_result result;
  result.last_token = last_token;
  result.server_us = server_us;
  result.token_count = 1;
  others_wait_ = others_wait_ || others_wait;
  const auto what = begin_hold(*from, attempt()->grant_ms(), result, now);
  hold()->count_from(now);
  return what;
}

claim_event claim::begin_hold(time_ns from, std::int64_t lease_ms, const step_result& result,
                              time_ns now) {
  next_contention_ = attempt()->next_contention();
  auto& hold = phase_.emplace<lock::hold>(requests_);
  return end_after(hold.begin(from, lease_ms, result, now));
}

void claim::on_up(time_ns now) {
  std::visit([&](auto& phase) { phase.on_up(now); }, phase_);
}

time_ns claim::next_timer() const noexcept {
  return std::visit([](const auto& phase) { return phase.next_timer(); }, phase_);
}

claim_event claim::on_timer(time_ns now) {
  return end_after(std::visit([&](auto& phase) { return phase.on_timer(now); }, phase_));
}

void claim::release(const operation* requester, time_ns now) {
  if (release_phase() != nullptr) return;
  const auto* const held = hold();
  is_over_ = held == nullptr && requests_.left_no_trace();
  if (is_over_) return;
  // A check that a message has overtaken may still enqueue us if the grant has lapsed by then.
  const bool may_queue =
      (held != nullptr && held->may_be_queued()) || requests_.open() > requests_.open(step::renew);
  // An adoption that no holder awaits is undone, also if it is executed late. A release would end
  // the hold under the commands that rely on its id (hazards 15 and 16).
  auto what = held == nullptr && requests_.adopts() ? step::restore : step::cancel;
  if (held != nullptr && !may_queue) what = others_wait_ ? step::release : step::release_alone;
  const auto held_until = held == nullptr ? 0 : held->valid_until();
  const auto lasts_until = held == nullptr ? 0 : held->requested_until();
  value_.remove(now);
  phase_.emplace<lock::release_phase>(requests_, what, held_until, lasts_until, requester, now);
}

claim_phase claim::phase() const noexcept {
  if (is_over_) return claim_phase::over;
  if (const auto* const attempt = std::get_if<lock::attempt>(&phase_)) {
    return attempt->is_queued() ? claim_phase::queued : claim_phase::asking;
  }
  return std::holds_alternative<lock::hold>(phase_) ? claim_phase::held : claim_phase::releasing;
}

outcome claim::failure_of_request() const {
  auto result = requests_.details();
  if (result.ok()) {
    result = outcome::of(status::unknown, "the connection broke before the answer");
    result.is_retryable = true;
  }
  result.is_ambiguous = result.code == status::unknown;
  return result;
}

bool claim::is_settled(time_ns now) const noexcept {
  const auto* const held = std::get_if<lock::hold>(&phase_);
  return held != nullptr && now < held->rests_until() && is_acknowledged() && !others_wait_ &&
         !held->may_be_queued() && !held->is_force_reported() &&
         requests_.open() == requests_.open(step::renew) && !value_.exists();
}

}  // namespace mortise::lock
