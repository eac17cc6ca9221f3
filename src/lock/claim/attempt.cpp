#include "lock/claim/attempt.hpp"

#include <algorithm>
#include <utility>

namespace mortise::lock {

namespace {

// The waiter's own checks. They cover lost messages, and silent holders or predecessors (hazard
// 24). The waiter checks when the present lease ends, the head first. It trusts this lease for at
// most one interval, because another client may hold the lock by then. For the first places the
// interval is below the lease of a grant, so these waiters find their grant without a message. The
// interval grows with the place, so n waiters cost the server O(log n) checks a second.
constexpr std::int64_t check_cap_ms = 15'000;
constexpr std::int64_t check_first_places = 8;
constexpr time_ns check_slack_ns = 2 * ns_per_ms;
constexpr std::int64_t check_jitter_ns = 3 * ns_per_ms;
constexpr time_ns check_each_place_ns = 20 * ns_per_ms;
constexpr std::int64_t check_places_max = 10'000;

}  // namespace

// ---- requests ------------------------------------------------------------------------------

void attempt::start(bool directly, const operation* requester, time_ns now) {
  // If the cheap step is also a script, a second request has no benefit.
  const bool is_queueing = terms_.waits && protocol_.wait == wait_method::queue &&
                           (directly || !protocol_.is_plain_string);
  reference_ns_ = now;
  if (requests_.adopts()) {
    requests_.ask({.what = step::adopt, .ttl_ms = requests_.ttl_ms(), .requester = requester}, now,
                  &ask_at_);
    return;
  }
  if (terms_.follows_own && terms_.waits && protocol_.wait != wait_method::queue) {
    // Directly after our own release we would always be first, because no queue keeps the turns. So
    // the attempt starts like one after a refused request.
    is_queued_ = true;
    return plan_poll(-1, now);
  }
  if (const auto window_ns = terms_.expected.first_window(); terms_.waits && window_ns > 0) {
    is_queued_ = true;
    return ask_within(window_ns, now);
  }
  requests_.ask({.what = is_queueing ? step::acquire : step::try_take,
                 .ttl_ms = requests_.ttl_ms(),
                 .requester = requester},
                now, &ask_at_);
}

// Takes the terms of the next waiter, and keeps the known contention.
void attempt::take_over(const lease_terms& lease, const wait_terms& terms) noexcept {
  requests_.set_terms(lease);
  const auto expected = terms_.expected;
  terms_ = terms;
  terms_.expected = expected;
}

// The server may already know the token.
void attempt::ask_again(time_ns now) {
  if (requests_.serial() == 0) reference_ns_ = now;
  const auto queued = terms_.waits ? step::reacquire : step::retake;
  requests_.ask({.what = requests_.adopts() ? step::adopt : queued, .ttl_ms = requests_.ttl_ms()},
                now, &ask_at_);
}

bool attempt::is_late_adoption(const open_request& request, time_ns now) const noexcept {
  return requests_.adopts() && now >= request.sent + to_ns(request.lease_ms);
}

claim_event attempt::on_answer(const open_request& request, const step_result& result,
                               time_ns now) {
  if (result.what != answer::unsent) was_broken_ = result.what == answer::broken;
  switch (result.what) {
    case answer::granted:
      // A late adoption is repeated, because its release would end the hold under the commands that
      // rely on its id (hazard 6).
      if (result.last_token < least_token) return on_small_token(now);
      if (!is_late_adoption(request, now)) return claim_event::granted;
      ask_again(now);
      return claim_event::none;
    case answer::not_free:
      return on_not_free(request, result, now);
    case answer::queued:
      requests_.drop_details();
      is_queued_ = is_taken_ = true;
      reference_ns_ = request.sent;
      reference_us_ = result.server_us;
      place_ = result.place;
      plan_check(result.ttl_ms, result.place, now);
      // The reply can be older than a message that arrived before it (RESP2).
      if (head_reported_at_ >= request.sent) ask_at_ = std::min(ask_at_, head_check_at_);
      return claim_event::none;
    case answer::no_script:
      requests_.ask({.what = request.what, .ttl_ms = request.ttl_ms, .with_text = true}, now,
                    &ask_at_);
      return claim_event::none;
    case answer::broken:
      return claim_event::none;  // on_up() sends it again
    case answer::unsent:
      if (!result.details.ok()) requests_.keep_details(result);
      return claim_event::none;  // on_up() sends it again
    default:
      requests_.keep_details(result);
      return claim_event::refused;
  }
}

// The fence counter was lost. A request by script sets the counter to the server's time before the
// grant is reported. A second small token shows that this time is wrong too (hazard 30).
claim_event attempt::on_small_token(time_ns now) {
  if (!std::exchange(had_small_token_, true)) {
    ask_again(now);
    return claim_event::none;
  }
  step_result wrong;
  wrong.details =
      outcome::of(status::refused,
                  "the server's clock is before 9 September 2001, so that fencing tokens "
                  "would fall; set the server's clock");
  requests_.keep_details(wrong);
  return claim_event::refused;
}

claim_event attempt::on_not_free(const open_request& request, const step_result& result,
                                 time_ns now) {
  requests_.drop_details();
  is_taken_ = true;
  if (terms_.waits && protocol_.wait == wait_method::queue) {
    requests_.ask({.what = request.what == step::try_take ? step::acquire : step::reacquire,
                   .ttl_ms = requests_.ttl_ms()},
                  now, &ask_at_);
    return claim_event::none;
  }
  if (terms_.poll_attempts > 0) --terms_.poll_attempts;
  // No client has the lock while the votes are split, so a try also asks again within its limits.
  const bool asks_again = terms_.waits || result.is_split;
  if (!asks_again || terms_.poll_attempts == 0) return claim_event::not_free;
  is_queued_ = true;
  if (result.is_split || result.look_in_ns > 0) terms_.expected.note_lost(now - request.sent);
  plan_poll(result.ttl_ms, now);
  if (result.look_in_ns > 0) ask_at_ = std::min(ask_at_, now + result.look_in_ns);
  if (std::exchange(is_free_reported_, false)) {
    // The reply can be older than the message (RESP2).
    ask_within(terms_.expected.turn_window(), now);
  } else if (result.is_split) {
    plan_split(now);
  } else {
    terms_.expected.note_taken();
  }
  return claim_event::none;
}

void attempt::ask_within(time_ns window_ns, time_ns now) {
  if (window_ns <= 0) return ask_again(now);
  ask_at_ = std::min(ask_at_, now + requests_.random_below(window_ns));
}

void attempt::plan_split(time_ns now) noexcept {
  const auto pause_ns = terms_.expected.split_pause();
  ask_at_ =
      std::min(ask_at_, now + pause_ns + requests_.random_below(terms_.expected.split_window()));
}

// ---- messages -------------------------------------------------------------------------------

void attempt::on_free(time_ns now) {
  is_free_reported_ = requests_.open() > 0;
  terms_.expected.note_turn();
  if (!is_free_reported_) ask_within(terms_.expected.turn_window(), now);
}

// At most one request at a time, however many such messages arrive.
void attempt::on_false_grant(time_ns now) {
  if (requests_.open() == 0) ask_again(now);
}

void attempt::on_head(std::int64_t ttl_ms, time_ns now) noexcept {
  const auto planned = ask_at_;
  plan_check(ttl_ms, 0, now);
  // Only the first message after a request may delay the check. Any publisher can send more (hazard
  // 32).
  if (head_reported_at_ >= reference_ns_) ask_at_ = std::min(ask_at_, planned);
  head_reported_at_ = now;
  head_check_at_ = ask_at_;
}

std::optional<time_ns> attempt::on_grant(std::int64_t server_us, time_ns now) {
  // The grant is older than a reply that did not name us as owner, so the grant has lapsed.
  // Messages on a separate connection can be late (RESP2).
  if (server_us < reference_us_) return std::nullopt;
  // Converts the server's time of the grant into a lower bound by our clock. The server executed
  // our request after we had sent it, and its clock is too fast by at most the drift. Counting from
  // receipt would add the time of a suspension of this process (hazard 1).
  auto from = reference_ns_;
  if (reference_us_ != 0) {
    // The minimum below is the exact limit. This limit only prevents an overflow.
    const auto passed_us =
        std::min(server_us - reference_us_, 2 * (now - reference_ns_) / ns_per_us);
    from =
        std::min(now, from + least_passed_us(passed_us, requests_.terms().drift_ppm) * ns_per_us);
  }
  const bool is_fresh = now - from <= to_ns(std::min(grant_ms_, requests_.terms().lease_ms)) / 2;
  if (is_fresh && requests_.is_granted_by_message()) return from;
  // Too little of the lease is certain, or no replica may have the grant (hazard 7). A request to
  // the server checks the grant and also renews it.
  ask_again(now);
  return std::nullopt;
}

// ---- time -----------------------------------------------------------------------------------

// Uses the same token, because the attempt is the same. Whatever the server executed before the
// break, the reply reports our state (hazards 15 and 16).
void attempt::on_up(time_ns now) {
  if (requests_.serial() > 0) requests_.give_up_secret();
  if (requests_.open() == 0) ask_again(now);
}

claim_event attempt::on_timer(time_ns now) {
  if (now >= ask_at_) {
    ask_at_ = now + ns_per_s;  // the reply plans the next check
    if (requests_.open() == 0) ask_again(now);
  }
  return claim_event::none;
}

void attempt::plan_check(std::int64_t ttl_ms, std::int64_t place, time_ns now) noexcept {
  place = place < 0 ? 1 : std::min(place, check_places_max);
  const auto slower = std::max<std::int64_t>(place - 1, 0) / check_first_places;
  const auto interval = to_ns(std::min(check_interval_ms * (slower + 1), check_cap_ms));
  // No key (-2): the lock is free. This protocol never writes a key without expiry (-1).
  const auto left_ms =
      ttl_ms == -1 ? check_cap_ms : std::clamp<std::int64_t>(ttl_ms, 0, check_cap_ms);
  const auto lease_end = to_ns(left_ms) + check_slack_ns + place * check_each_place_ns +
                         requests_.random_below(check_jitter_ns);
  ask_at_ = now + std::min(lease_end, interval - requests_.random_below(interval / 10));
}

// Without a queue, the waiter asks when the present lease ends, or earlier if no message reports a
// release. The interval varies by half, because all but one of several simultaneous requests lose
// (seed system S5).
void attempt::plan_poll(std::int64_t ttl_ms, time_ns now) noexcept {
  const auto interval_ns = to_ns(terms_.poll_interval_ms);
  auto wait = interval_ns / 2 + requests_.random_below(interval_ns + 1);
  const auto lease_end = to_ns(std::clamp<std::int64_t>(ttl_ms, 0, check_cap_ms)) + check_slack_ns;
  if (ttl_ms >= 0 && protocol_.wait == wait_method::channel) wait = std::max(wait, lease_end);
  if (ttl_ms >= 0 && protocol_.wait == wait_method::polling) wait = std::min(wait, lease_end);
  ask_at_ = now + wait;
}

}  // namespace mortise::lock
