#include "deployment/redlock/votes/acquisition.hpp"

#include <algorithm>
#include <utility>

#include "deployment/redlock/votes/delivery.hpp"
#include "lock/amount.hpp"

namespace mortise::quorum {

using lock::answer;
using lock::step;
using lock::step_request;
using lock::step_result;

namespace {

// The number of proposals of one request before it fails.
constexpr int most_proposals = 5;
// The longest pause between two requests of a waiter. A late release message can be taken for the
// next one. The next message then comes too early to be acted on, or too late (hazard 24).
constexpr time_ns longest_look_ns = 2 * ns_per_s;
// The longest pause of a waiting writer, so that readers are held back. WRITER_LIFE in the scripts
// is three times as long.
constexpr time_ns writer_look_ns = ns_per_s;
// The first delay of a retry after too few replies. It doubles with each failure, up to a ninth of
// the lease. So at least three tries of a renewal fit before its margin (hazard 18). A waiter sends
// as often as without failures.
constexpr time_ns retry_ns = 50 * ns_per_ms;
constexpr std::int64_t tries_in_a_lease = 9;
// Retries that are due at nearly the same time are reported together.
constexpr time_ns retry_grain_ns = 10 * ns_per_ms;

}  // namespace

// ---- requests -------------------------------------------------------------------------------

round& acquisition::begin(const step_request& request, time_ns now) {
  token_ = request.token;
  retry_at_ = time_never;
  proposals_ = 0;
  return propose(next_request(request, now));
}

round& acquisition::propose(const step_request& request) {
  ++proposals_;
  const bool is_confirming = state_ == acquisition_state::confirming;
  rounds_.push_back(
      {request, vote_count(request.what, voters_.count, request.proposal, is_confirming)});
  return rounds_.back();
}

step_request acquisition::next_request(step_request request, time_ns now) noexcept {
  if (is_take(request.what)) {
    // `reacquire` is also a round like the first. A repeated request to one server is a top-up.
    const bool waits = request.what == step::acquire || request.what == step::reacquire;
    request.what = waits ? step::acquire : step::try_take;
    // Each round has its own proposal. A late release of an earlier round does not affect this one
    // (hazard 16).
    propose_higher(now);
    state_ = acquisition_state::collecting;
    held_until_ = 0;
    release_ = step::release_alone;
  } else if (request.reserve > 0) {
    propose_higher(now, request.reserve);
  } else if (request.what == step::raise ||
             (request.what == step::renew && request.permits < weight_)) {
    // A change of the mode also has a proposal of its own. A late request of before it changes
    // nothing after it (hazard 16).
    propose_higher(now);
  } else if (is_release(request.what)) {
    // Waiters may exist that no server knows.
    if (request.what == step::release_alone) request.what = step::release;
    state_ = acquisition_state::returning;
    release_ = request.what;
  }
  if (request.what == step::raise) {
    weight_ = lock::exclusive_permits;
    upgrade_ = proposal_;
  } else if (!is_release(request.what)) {
    weight_ = request.permits;
  }
  request.proposal = proposal_;
  request.sent_at = now;
  lapses_at_ = std::max(lapses_at_, now + to_ns(request.ttl_ms));
  return request;
}

void acquisition::propose_higher(time_ns now, std::int64_t tokens) noexcept {
  proposal_ = std::max(proposal_ + tokens, voters_.next_token(now, tokens));
}

bool acquisition::on_unsent(round& current, std::size_t server, status error) noexcept {
  step_result unsent;
  unsent.what = answer::unsent;
  unsent.details = outcome::of(error);
  return current.votes.count(server, unsent).has_value();
}

action acquisition::on_unreachable(const step_request& request, time_ns now) noexcept {
  plan_retry(request, 0, now);
  if (request.what == step::raise) return lower(request, now);
  return is_take(request.what) ? give_back() : action();
}

// ---- replies --------------------------------------------------------------------------------

action acquisition::on_reply(round& current, std::size_t server, const step_result& reply,
                             time_ns now) noexcept {
  const auto& request = current.request;
  voters_.note_reply(server, reply, request.sent_at, now);
  auto result = current.votes.count(server, counted_as(server, request.what, reply, now));
  on_background_reply(server, request, reply);
  const bool is_first = current.first_reply == 0;
  if (is_first) current.first_reply = now;
  auto next = decide(current, std::move(result), now);
  if (is_first || request.what == step::renew) next.timeout_at = timeout_at(current);
  return next;
}

// How a reply counts in the vote count.
step_result acquisition::counted_as(std::size_t server, step what, const step_result& reply,
                                    time_ns now) const noexcept {
  auto counted = reply;
  if (reply.what == answer::granted && !voters_.is_credible(reply.last_token, now)) {
    // The server's clock is wrong. Its votes for readers are useless, because no proposal is above
    // the token that it reports.
    counted = {};
    counted.what = answer::refused;
    counted.is_passing = true;
  }
  // A server without a vote of this client has released it.
  if (is_release(what) && reply.what == answer::not_owner && !votes_.may_have(server)) {
    counted.what = what == step::cancel ? answer::cancelled : answer::released;
  }
  return counted;
}

action acquisition::on_timeout(round& current, time_ns now) noexcept {
  const auto waited = now - current.request.sent_at;
  if (is_grantable(current.request.what)) {
    return decide(current, current.votes.give_up(waited), now);
  }
  // While a connection is made again, its server may have been replaced by one without the vote.
  // Servers that are replaced one after the other would get their votes again one after the other,
  // although most servers have lost them (hazard 17).
  if (!current.votes.is_rest_silent()) return {};
  auto result = current.votes.give_up(waited);
  if (!result) return {};
  return complete(top_up(current, now), current, *std::move(result), now);
}

time_ns acquisition::timeout_at(const round& current) const noexcept {
  const auto what = current.request.what;
  const bool is_limited = is_grantable(what) || (what == step::renew && current.votes.has_vacant());
  if (current.first_reply == 0 || !is_limited) return time_never;
  return current.first_reply + voters_.patience(to_ns(current.request.ttl_ms));
}

// After each reply and at the timeout. Late replies give no result, but may report vacant servers.
action acquisition::decide(round& current, std::optional<step_result> result,
                           time_ns now) noexcept {
  if (!result) return current.has_quorum ? top_up(current, now) : action();
  if (current.request.what == step::raise && current.request.proposal != upgrade_) {
    // A later upgrade of the same hold decides. Neither does this one grant what the later one may
    // undo, nor does it undo what that may grant (hazard 17).
    step_result superseded;
    superseded.what = answer::unsent;
    action next;
    next.result = std::move(superseded);
    return next;
  }
  if (is_grantable(current.request.what) && result->what != answer::granted) {
    return miss(current, *std::move(result), now);
  }
  if (result->what == answer::granted && current.votes.is_outdone()) {
    // A quorum has voted, and some of its servers know readers with higher tokens. The next
    // proposal is above all of these. Once a quorum knows it, the token is above all earlier
    // grants.
    result->what = answer::unsent;
    return propose_again(current, acquisition_state::confirming, *std::move(result), now);
  }
  if (result->what == answer::granted && is_kept()) state_ = acquisition_state::granted;
  current.has_quorum = result->what == answer::granted || result->what == answer::renewed;
  if (current.has_quorum) {
    note_quorum(current.request);
    return complete(top_up(current, now), current, *std::move(result), now);
  }
  if (result->what == answer::not_owner) held_until_ = 0;
  return complete({}, current, *std::move(result), now);
}

void acquisition::note_quorum(const step_request& request) noexcept {
  // A forced release that has ended by then did not take most votes (hazard 17).
  if (request.sent_at >= forced_until_) forced_until_ = 0;
  held_until_ = std::max(held_until_, request.sent_at + to_ns(request.ttl_ms));
}

// Without the votes of a quorum: other proposals were higher, or the round is lost.
action acquisition::miss(const round& current, step_result result, time_ns now) noexcept {
  if (!current.votes.is_outrun() || proposals_ >= most_proposals) {
    return refuse(current, std::move(result), now);
  }
  const bool is_upgrade = current.request.what == step::raise;
  const auto next = is_upgrade ? acquisition_state::granted : acquisition_state::collecting;
  return propose_again(current, next, std::move(result), now);
}

// Repeats the request with a higher token. Not if its votes were given up meanwhile, because these
// new votes would never be released (hazard 16). Not if a renewal has undone the upgrade meanwhile.
action acquisition::propose_again(const round& former, acquisition_state next, step_result result,
                                  time_ns now) noexcept {
  const bool is_undone = former.request.what == step::raise && !is_exclusive();
  if (!is_kept() || is_undone) return refuse(former, std::move(result), now);
  const auto request = next_request(former.request, now);
  const bool is_confirming = next == acquisition_state::confirming;
  if (is_confirming && !former.votes.is_above_all(request.proposal)) {
    return refuse(former, std::move(result), now);
  }
  state_ = next;
  return {.result = std::move(result), .request = request, .is_proposal = true};
}

action acquisition::refuse(const round& lost, step_result result, time_ns now) noexcept {
  if (lost.request.what == step::raise) {
    if (result.what == answer::not_owner) held_until_ = 0;
    auto undo = lower(lost.request, now);
    return complete(std::move(undo), lost, std::move(result), now);
  }
  if (result.what == answer::not_free) {
    result.is_split = lost.votes.is_split();
    const auto shorter = voters_.random() % static_cast<std::uint64_t>(longest_look_ns / 10);
    result.look_in_ns = longest_look_ns - static_cast<time_ns>(shorter);
  }
  if (lost.request.what == step::acquire && lost.request.permits == lock::exclusive_permits) {
    result.look_in_ns = std::min(result.look_in_ns, writer_look_ns);
    result.is_noted = true;
  }
  return complete(give_back(), lost, std::move(result), now);
}

// At once, because others wait for these votes. Also if no server has granted its vote yet.
action acquisition::give_back() noexcept {
  state_ = acquisition_state::returning;
  action next;
  next.request = release();
  for (std::size_t server = 0; server < voters_.count; ++server) {
    next.servers.set(server, votes_.may_have(server));
  }
  return next;
}

// Undoes an upgrade that no quorum has granted, at the servers that may have raised their votes.
// They keep the votes of the reader and their leases (hazard 17). If a server is unreachable now,
// the next renewal does this.
action acquisition::lower(const step_request& lost, time_ns now) noexcept {
  // A later renewal has undone it already, or a release ends all votes.
  if (!is_exclusive() || state_ != acquisition_state::granted) return {};
  weight_ = lost.permits;
  propose_higher(now);
  action next;
  next.request = lost;
  next.request.what = step::renew;
  next.request.ttl_ms = std::max<std::int64_t>(lost.ttl_ms - (now - lost.sent_at) / ns_per_ms, 1);
  next.request.proposal = proposal_;
  for (const auto& each : rounds_) {
    if (each.request.what == step::raise) next.servers |= each.votes.may_agree();
  }
  return next;
}

step_request acquisition::with_text(step_request request, time_ns now) const noexcept {
  request.with_text = true;
  if (request.what == step::renew) {
    const auto left = lapses_at_ - now;
    request.ttl_ms = std::max(request.ttl_ms, (left + ns_per_ms - 1) / ns_per_ms);
  }
  return request;
}

step_request acquisition::release() const noexcept {
  step_request request;
  request.what = release_;
  request.token = token_;
  request.proposal = proposal_;
  return request;
}

// Requests the votes of vacant servers for the rest of the lease that a quorum has granted. Such a
// vote never counts in the round that found it missing, and a hold that is over gets none (hazard
// 17). Its proposal is new, because the server may have forgotten a vote above the old one (hazard
// 30).
action acquisition::top_up(round& current, time_ns now) noexcept {
  if (forced_until_ != 0 || state_ != acquisition_state::granted) return {};
  // A late reply of before a change of the mode. The next renewal finds the lost vote again.
  const bool is_upgrade = current.request.what == step::raise;
  if (!is_upgrade && current.request.permits != weight_) return {};
  action next;
  next.request = current.request;
  next.request.what = step::reacquire;
  next.request.permits = weight_;
  next.request.ttl_ms = (held_until_ - now) / ns_per_ms - 1;
  if (next.request.ttl_ms <= 0) return {};
  next.servers = current.votes.take_vacant();
  if (next.servers.none()) return {};
  propose_higher(now);
  next.request.proposal = proposal_;
  return next;
}

action acquisition::complete(action next, const round& ended, step_result result,
                             time_ns now) noexcept {
  if (result.what == answer::broken || result.what == answer::unsent) {
    plan_retry(ended.request, result.wait_ms, now);
  } else {
    failures_ = 0;
  }
  next.result = std::move(result);
  return next;
}

void acquisition::plan_retry(const step_request& request, std::int64_t wait_ms,
                             time_ns now) noexcept {
  const auto ninth = to_ns(request.ttl_ms) / tries_in_a_lease;
  const auto most = request.what == step::renew  ? ninth
                    : is_grantable(request.what) ? std::min(ninth, longest_look_ns)
                                                 : longest_look_ns;
  const auto delay = spread_delay(retry_ns, failures_++, most, voters_.random());
  retry_at_ = ((now + to_ns(wait_ms) + delay) / retry_grain_ns + 1) * retry_grain_ns;
}

}  // namespace mortise::quorum
