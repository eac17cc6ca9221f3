// The beginning of a tenure: from its first question to the grant.
#include <algorithm>
#include <utility>

#include "lock/lease.hpp"
#include "lock/tenure.hpp"

namespace mortise::lock {

namespace {

// How a waiter looks again by itself, because a message was lost, or because whoever has the lock
// or is before it is silent (hazard 24). It looks when the present lease ends, the head first; and
// it trusts in that lease for no longer than an interval, as another may have the lock by then. For
// the first few the interval is below what a grant lasts, so that they find their own without a
// message. It grows with the place, so that n waiters cost the server O(log n) looks a second.
constexpr std::int64_t poll_cap_ms = 15'000;
constexpr std::int64_t poll_first_places = 8;
constexpr time_ns poll_slack_ns = 2 * ns_per_ms;
constexpr std::int64_t poll_jitter_ns = 3 * ns_per_ms;
constexpr time_ns poll_each_place_ns = 20 * ns_per_ms;
constexpr std::int64_t poll_places_max = 10'000;
// A refusal that will pass is asked again after this, with full jitter on top.
constexpr time_ns retry_ns = 50 * ns_per_ms;

}  // namespace

news tenure::on_acquire_answer(const open_question& asked, const verdict& said, time_ns now) {
  if (said.what != answer::unsent) was_broken_ = said.what == answer::broken;
  switch (said.what) {
    case answer::granted:
      if (said.last_token < least_token) {
        // The fence counter was lost. It is repaired, by asking by script, before the grant is
        // told.
        ask_again(now);
        return news::none;
      }
      return enter_held(asked.sent, asked.lease_ms, said, now);
    case answer::not_free:
      return on_not_free(asked, said, now);
    case answer::queued:
      phase_ = tenure_phase::queued;
      reference_ns_ = asked.sent;
      reference_us_ = said.server_us;
      place_ = said.place;
      plan_poll(said, now);
      // What the answer knows can be older than a message that came before it (RESP2).
      if (told_head_at_ >= asked.sent) ask_at_ = std::min(ask_at_, head_look_at_);
      return news::none;
    case answer::no_script:
      ask({.what = asked.what, .ttl_ms = asked.ttl_ms, .with_text = true}, now);
      return news::none;
    case answer::broken:
    case answer::unsent:
      return news::none;  // asked again by on_up()
    default:
      details_ = said.details;
      is_refusal_passing_ = said.is_passing;
      return news::refused;
  }
}

news tenure::on_not_free(const open_question& asked, const verdict& said, time_ns now) {
  if (patience_.waits && protocol_.how == wait_method::queue) {
    ask({.what = asked.what == step::try_take ? step::acquire : step::reacquire,
         .ttl_ms = lease_ttl_ms()},
        now);
    return news::none;
  }
  if (patience_.poll_attempts > 0) --patience_.poll_attempts;
  if (patience_.waits && patience_.poll_attempts != 0) {
    phase_ = tenure_phase::queued;
    // The answer can be older than the message (RESP2).
    if (std::exchange(told_free_, false)) {
      ask_again(now);
      return news::none;
    }
    plan_attempt(said, now);
    return news::none;
  }
  phase_ = tenure_phase::over;
  return news::not_free;
}

void tenure::retry_later(time_ns now, time_ns at_least) {
  ask_at_ = now + std::max(retry_ns, at_least) + world_.random_below(retry_ns);
}

void tenure::plan_poll(const verdict& said, time_ns now) noexcept {
  const auto place = said.place < 0 ? 1 : std::min(said.place, poll_places_max);
  const auto interval =
      to_ns(std::min(look_interval_ms * (place / poll_first_places + 1), poll_cap_ms));
  // No key (-2): nobody holds it. A key without expiry (-1) is none that this protocol writes.
  const auto ttl_ms =
      said.ttl_ms == -1 ? poll_cap_ms : std::clamp<std::int64_t>(said.ttl_ms, 0, poll_cap_ms);
  const auto lease_end = to_ns(ttl_ms) + poll_slack_ns + place * poll_each_place_ns +
                         world_.random_below(poll_jitter_ns);
  ask_at_ = now + std::min(lease_end, interval - world_.random_below(interval / 10));
}

// Without a queue: when the present lease ends, or earlier when nobody would tell of a release. The
// interval is spread by half, because those who ask in step all lose but one (seed system S5).
void tenure::plan_attempt(const verdict& said, time_ns now) noexcept {
  const auto interval_ns = to_ns(patience_.poll_interval_ms);
  auto wait = interval_ns / 2 + world_.random_below(interval_ns + 1);
  const auto lease_end =
      to_ns(std::clamp<std::int64_t>(said.ttl_ms, 0, poll_cap_ms)) + poll_slack_ns;
  if (said.ttl_ms >= 0 && protocol_.how == wait_method::channel) wait = std::max(wait, lease_end);
  if (said.ttl_ms >= 0 && protocol_.how == wait_method::polling) wait = std::min(wait, lease_end);
  ask_at_ = now + wait;
}

void tenure::on_free(time_ns now) {
  if (phase_ != tenure_phase::asking && phase_ != tenure_phase::queued) return;
  told_free_ = !open_.empty();
  if (!told_free_) ask_again(now);
}

void tenure::on_head(std::int64_t ttl_ms, time_ns now) {
  if (phase_ != tenure_phase::asking && phase_ != tenure_phase::queued) return;
  verdict hint;
  hint.ttl_ms = ttl_ms;
  hint.place = 0;
  plan_poll(hint, now);
  told_head_at_ = now;
  head_look_at_ = ask_at_;
}

news tenure::on_grant(std::int64_t last_token, std::int64_t server_us, bool others_wait,
                      time_ns now) {
  if (phase_ != tenure_phase::asking && phase_ != tenure_phase::queued) return news::none;
  // Older than an answer which said that we were not the owner: that grant has lapsed. Messages can
  // come late where they have a connection of their own (RESP2).
  if (server_us < reference_us_) return news::none;
  // The grant was made when the server says, which by our clock is not before this: the server
  // carried out our question after we had sent it, and its clock is too fast by the drift at most.
  // Counting from the message's receipt would add the time that this process may have been
  // suspended (hazard 1).
  auto from = reference_ns_;
  if (reference_us_ != 0) {
    // What is more than has passed here is cut off below; cut before, it can't overflow.
    const auto passed_us =
        std::min(server_us - reference_us_, 2 * (now - reference_ns_) / ns_per_us);
    from = std::min(now, from + least_passed_us(passed_us, terms_.drift_ppm) * ns_per_us);
  }
  if (now - from > to_ns(std::min(grant_ms_, terms_.lease_ms)) / 2) {
    // Too little of it can be counted on, so the server is asked, which also renews it.
    ask_again(now);
    return news::none;
  }
  verdict said;
  said.last_token = last_token;
  said.server_us = server_us;
  said.token_count = 1;
  said.others_wait = others_wait;
  const auto what = enter_held(from, grant_ms_, said, now);
  granted_at_ = now;
  return what;
}

}  // namespace mortise::lock
