#include "deployment/redlock/votes/vote_count.hpp"

#include <algorithm>
#include <limits>

#include "base/text/decimal.hpp"

namespace mortise::quorum {

using lock::answer;
using lock::step;
using lock::step_result;

namespace {

constexpr std::int64_t never_ms = std::numeric_limits<std::int64_t>::max();
// The lease that a server reports for a lock without an owner.
constexpr std::int64_t nobody_ms = -2;

}  // namespace

vote_count::vote_count(step what, std::size_t servers, std::int64_t ballot,
                       bool is_confirming) noexcept
    : what_(what), servers_(servers), ballot_(ballot), is_confirming_(is_confirming) {}

std::optional<step_result> vote_count::count(std::size_t server,
                                             const step_result& reply) noexcept {
  // A repeated reply is one vote.
  if (answered_.test(server)) return std::nullopt;
  answered_.set(server);
  take_answer(server, reply);
  return decide();
}

void vote_count::take_answer(std::size_t server, const step_result& reply) noexcept {
  server_us_ = std::max(server_us_, reply.server_us);
  switch (reply.what) {
    case answer::granted:
      outdone_by_ = std::max(outdone_by_, reply.last_token);
      [[fallthrough]];
    case answer::renewed:
    case answer::released:
    case answer::cancelled:
      agreed_.set(server);
      common_ = reply.what;
      return;
    case answer::not_free:
      token_of_[server] = reply.last_token;
      ms_left_of_[server] = reply.ttl_ms;
      (reply.ttl_ms == nobody_ms ? outrun_ : refused_).set(server);
      vacant_.set(server, reply.ttl_ms == nobody_ms);
      return;
    case answer::not_owner:
      refused_.set(server);
      lacking_.set(server);
      is_replaced_ = is_replaced_ || reply.is_replaced;
      vacant_.set(server, !reply.is_replaced);
      return;
    default:
      // The server has not executed a step that it rejected. Other failed steps may have been
      // executed.
      broken_.set(server, reply.what == answer::broken || reply.what == answer::unknown ||
                              reply.what == answer::unacknowledged);
      denied_.set(server, reply.what == answer::refused && !reply.is_passing);
      wait_ms_of_[server] = reply.wait_ms;
      if (details_.ok()) details_ = reply.details;
      return;
  }
}

std::optional<step_result> vote_count::give_up(time_ns waited) noexcept {
  waited_ = waited;
  return decide();
}

std::optional<step_result> vote_count::decide() noexcept {
  if (is_decided_) return std::nullopt;
  const auto needed = needed_of(servers_);
  const auto open = open_count();
  is_decided_ = true;
  if (agreed_.count() >= needed) return agreement();
  // So many servers refused that the others, with the failed ones, are no quorum.
  if (!is_grantable(what_) && refused_.count() > servers_ - needed) return refusal();
  const bool is_possible = agreed_.count() + open >= needed;
  const bool is_taken = (refused_ & ~lacking_).any() || has_lost_quorum();
  const bool is_lost = is_grantable(what_) && !is_possible && (is_taken || is_outrun());
  // A try ends if another client has a quorum, and is repeated if none has. Until then it waits.
  const bool is_open = what_ == step::try_take && most_for_another() < needed && !is_split();
  if (is_lost && !is_open) return refusal();
  if (!is_possible && !is_lost && (is_grantable(what_) || open == 0)) return failure();
  is_decided_ = false;
  return std::nullopt;
}

bool vote_count::has_lost_quorum() const noexcept {
  return lacking_.count() > servers_ - needed_of(servers_);
}

bool vote_count::is_outrun() const noexcept {
  return (agreed_ | outrun_).count() + open_count() >= needed_of(servers_) && outrun_.any();
}

bool vote_count::is_rest_silent() const noexcept {
  return answered_.count() >= needed_of(servers_) && answered_ == (agreed_ | refused_ | outrun_);
}

step_result vote_count::agreement() const noexcept {
  step_result result;
  result.what = common_;
  result.server_us = server_us_;
  if (is_grantable(what_) || what_ == step::renew) {
    result.last_token = ballot_;
    result.token_count = 1;
    result.others_wait = true;  // votes do not show whether any client waits
  }
  return result;
}

step_result vote_count::refusal() const noexcept {
  step_result result;
  result.server_us = server_us_;
  // An upgrade ends the hold only if most servers have lost their votes (hazard 17).
  if (is_grantable(what_) && !has_lost_quorum()) {
    result.what = answer::not_free;
    result.ttl_ms = ms_until_free();
    return result;
  }
  result.what = answer::not_owner;
  result.is_replaced = is_replaced_;
  return result;
}

step_result vote_count::failure() const noexcept {
  step_result result;
  // A step that some servers executed may count later, with late replies. One that is undone never
  // does.
  const bool may_be_done = agreed_.any() || broken_.any() || !is_answered();
  result.what = may_be_done && !is_grantable(what_) ? answer::broken : answer::unsent;
  result.details = details_;
  // How long too many servers keep rejecting to leave a quorum of the others.
  result.wait_ms = of_quorum(wait_ms_of_, servers_);
  // A repetition is useless if there is no quorum without the servers that rejected the step.
  if (is_grantable(what_) && denied_.count() > servers_ - needed_of(servers_))
    result.what = answer::refused;
  if (!details_.ok() || !is_grantable(what_)) return result;
  const auto answered = (agreed_ | refused_ | outrun_).count();
  result.details =
      outcome::of(status::unreachable, "too few servers have answered in time: ", decimal(answered),
                  " of ", decimal(servers_), " within ", decimal(waited_.value_or(0) / ns_per_ms),
                  " ms, and ", decimal(needed_of(servers_)), " are needed");
  result.details.is_retryable = true;
  return result;
}

std::size_t vote_count::most_for_another() const noexcept {
  std::size_t most = 0;
  for (std::size_t one = 0; one < servers_; ++one) {
    // Clients that propose the same number as this client cannot be distinguished.
    if (!refused_.test(one) || token_of_[one] == ballot_) continue;
    std::size_t same = 0;
    for (std::size_t other = 0; other < servers_; ++other) {
      if (refused_.test(other) && token_of_[other] == token_of_[one]) ++same;
    }
    most = std::max(most, same);
  }
  return most;
}

// Unreachable servers do not count. If they have voted for another client, its hold is topped up.
bool vote_count::is_split() const noexcept {
  return most_for_another() + open_count() < needed_of(servers_);
}

std::size_t vote_count::open_count() const noexcept {
  return waited_ ? 0 : servers_ - answered_.count();
}

// Time until a quorum of the servers is free, without an earlier release.
std::int64_t vote_count::ms_until_free() const noexcept {
  std::array<std::int64_t, most_servers> left{};
  for (std::size_t server = 0; server < servers_; ++server) {
    const bool is_free = agreed_.test(server) || outrun_.test(server);
    const bool is_known = refused_.test(server) && ms_left_of_[server] >= 0;
    left[server] = is_free ? 0 : is_known ? ms_left_of_[server] : never_ms;
  }
  const auto ms = of_quorum(left, servers_);
  return ms == never_ms ? -1 : ms;
}

}  // namespace mortise::quorum
