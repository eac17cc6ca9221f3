// Traces of an acquisition: each row has an event, the actions that follow, and the next state.
#include "deployment/redlock/votes/acquisition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mortise::quorum {
namespace acquisition_test {
namespace {

using lock::answer;
using lock::step;
using enum acquisition_state;

constexpr std::int64_t lease_ms = 60'000;
constexpr std::int64_t high_token = 1'000'000;
constexpr std::int64_t free_ms = -2;  // the lease of a lock without an owner

constexpr std::array step_names{"try_take",      "acquire", "reacquire", "retake",
                                "adopt",         "restore", "renew",     "raise",
                                "release_alone", "release", "cancel",    "set_value"};
constexpr std::array answer_names{"granted",        "not_free",  "queued",      "renewed",
                                  "not_owner",      "released",  "handed_over", "others_waiting",
                                  "cancelled",      "value_set", "refused",     "no_script",
                                  "unacknowledged", "unknown",   "broken",      "unsent"};

// Plays the transport of an acquisition. Each function is an event, and returns the actions.
class transport {
 public:
  explicit transport(std::size_t servers) : servers_(servers, 1) {}

  std::string request(step what, std::int64_t permits) {
    lock::step_request request;
    request.what = what;
    request.permits = permits;
    request.token = "owner";
    request.ttl_ms = lease_ms;
    if (send(owner_.begin(request, now_))) return sent_;
    return "unreachable" + perform(owner_.on_unreachable(request, now_), nullptr);
  }
  std::string reply(std::size_t number, std::size_t server, const lock::step_result& result) {
    auto& round = number == 0 ? *rounds_.back() : *rounds_.at(number - 1);
    return perform(owner_.on_reply(round, server, result, now_), &round);
  }
  std::string background_reply(step what, std::size_t server, const lock::step_result& result) {
    auto request = owner_.release();
    request.what = what;
    owner_.on_background_reply(server, request, result);
    return {};
  }
  // Whether a request of the round is sent again, to a server that has forgotten its script.
  std::string repeat(std::size_t number) {
    return owner_.is_current(rounds_.at(number - 1)->request) ? "sent again" : "";
  }
  // Whether the proposal of a round is above that of another.
  std::string compare(std::size_t number, std::size_t other) {
    const auto proposal = rounds_.at(number - 1)->request.proposal;
    return proposal > rounds_.at(other - 1)->request.proposal ? "yes" : "no";
  }
  std::string lose(std::string_view servers) {
    unreachable_ = servers;
    return {};
  }
  std::string timeout() {
    if (timeout_at_ == time_never) return "no timeout";
    now_ = std::max(now_, std::exchange(timeout_at_, time_never));
    return perform(owner_.on_timeout(*rounds_.back(), now_), rounds_.back());
  }
  std::string pause(time_ns length) {
    now_ += length;
    return {};
  }
  std::string force() {
    owner_.on_forced();
    return {};
  }
  std::string pending_releases() {
    server_set pending;
    for (std::size_t i = 0; i < servers_.count; ++i) pending.set(i, owner_.lacks_release(i));
    return text_of(pending);
  }
  [[nodiscard]] acquisition_state state() const { return owner_.state(); }

 private:
  // Sends a round to the servers that are reachable. Returns false if they are too few.
  bool send(round& made) {
    rounds_.push_back(&made);
    timeout_at_ = time_never;
    const auto what = made.request.what;
    bool is_possible = true;
    server_set reached;
    for (std::size_t i = 0; i < servers_.count; ++i) {
      if (unreachable_.find(std::to_string(i)) != std::string::npos) {
        is_possible = !owner_.on_unsent(made, i, status::unreachable) && is_possible;
      } else {
        owner_.on_sent(i, what);
        reached.set(i);
      }
    }
    sent_ = step_names.at(static_cast<std::size_t>(what)) + (" to" + text_of(reached));
    return is_possible;
  }
  std::string perform(action next, round* of) {
    timeout_at_ = std::min(timeout_at_, next.timeout_at);
    if (next.is_proposal) {
      if (send(owner_.propose(next.request))) return sent_;
      next = owner_.refuse(*of, *std::move(next.result), now_);
    }
    std::string text;
    if (next.result) text = answer_names.at(static_cast<std::size_t>(next.result->what));
    if (next.servers.none()) return text;
    const auto what = next.request.what;
    for (std::size_t i = 0; i < servers_.count; ++i) {
      if (next.servers.test(i)) owner_.on_sent(i, what);
    }
    const bool is_whole = next.request.permits == lock::exclusive_permits;
    return text + ", " + step_names.at(static_cast<std::size_t>(what)) +
           (is_whole ? " as a writer to" : " to") + text_of(next.servers);
  }
  [[nodiscard]] std::string text_of(const server_set& set) const {
    std::string text;
    for (std::size_t i = 0; i < servers_.count; ++i) {
      if (set.test(i)) text += " " + std::to_string(i);
    }
    return text;
  }

  voters servers_;
  acquisition owner_{servers_};
  time_ns now_ = ns_per_s;
  time_ns timeout_at_ = time_never;
  std::string unreachable_;
  std::string sent_;
  std::vector<round*> rounds_;
};

using event = std::function<std::string(transport&)>;

event request(step what, std::int64_t permits = 1) {
  return [=](transport& play) { return play.request(what, permits); };
}
event is_above(std::size_t round, std::size_t earlier) {
  return [=](transport& play) { return play.compare(round, earlier); };
}
event repetition(std::size_t round) {
  return [=](transport& play) { return play.repeat(round); };
}
event loss_of(std::string_view servers) {
  return [=](transport& play) { return play.lose(servers); };
}
lock::step_result result_of(answer what, std::int64_t token, std::int64_t ttl_ms) {
  lock::step_result result;
  result.what = what;
  result.last_token = token;
  result.ttl_ms = ttl_ms;
  return result;
}
// To the latest round.
event reply(std::size_t server, answer what, std::int64_t token = 0, std::int64_t ttl_ms = 500) {
  return [=](transport& play) { return play.reply(0, server, result_of(what, token, ttl_ms)); };
}
// To a former round.
event late_reply(std::size_t round, std::size_t server, answer what, std::int64_t token = 0,
                 std::int64_t ttl_ms = 500) {
  return [=](transport& play) { return play.reply(round, server, result_of(what, token, ttl_ms)); };
}
// To a writer's renewal, from a server with the vote of the reader that it was.
event weaker_vote(std::size_t server) {
  return [=](transport& play) {
    auto result = result_of(answer::not_owner, 0, 0);
    result.is_weaker = true;
    return play.reply(0, server, result);
  };
}
event background_reply(step request, std::size_t server, answer what) {
  return [=](transport& play) {
    return play.background_reply(request, server, result_of(what, 0, 0));
  };
}
event pause(time_ns length) {
  return [=](transport& play) { return play.pause(length); };
}
const event timeout = &transport::timeout;
const event force = &transport::force;
const event pending_releases = &transport::pending_releases;

struct row {
  event in;
  std::string_view actions;
  acquisition_state state;
};

void run(std::size_t servers, const std::vector<row>& rows) {
  transport play(servers);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    SCOPED_TRACE("row " + std::to_string(i + 1));
    EXPECT_EQ(rows[i].actions, rows[i].in(play));
    EXPECT_EQ(rows[i].state, play.state());
  }
}

TEST(acquisitions, a_majority_grants_and_a_late_vote_is_kept) {
  run(3, {{request(step::try_take), "try_take to 0 1 2", collecting},
          {reply(2, answer::granted), "", collecting},
          {reply(0, answer::granted), "granted", granted},
          {reply(1, answer::granted), "", granted},
          {pending_releases, "", granted}});
}

TEST(acquisitions, a_refusal_is_final_when_no_majority_is_possible) {
  run(5, {{request(step::acquire), "acquire to 0 1 2 3 4", collecting},
          {reply(0, answer::granted), "", collecting},
          {reply(1, answer::not_free, 7), "", collecting},
          {reply(2, answer::not_free, 7), "", collecting},
          {reply(3, answer::not_free, 7), "not_free, release_alone to 0 4", returning}});
}

TEST(acquisitions, votes_are_returned_after_a_failure_until_the_servers_confirm) {
  run(3, {{request(step::try_take), "try_take to 0 1 2", collecting},
          {reply(0, answer::granted), "", collecting},
          {reply(1, answer::not_free, 7), "", collecting},
          {reply(2, answer::not_free, 7), "not_free, release_alone to 0", returning},
          {background_reply(step::release_alone, 0, answer::broken), "", returning},
          {pending_releases, " 0", returning},
          {background_reply(step::release_alone, 0, answer::released), "", returning},
          {pending_releases, "", returning}});
}

TEST(acquisitions, a_vote_after_the_timeout_counts_for_no_owner_and_is_returned) {
  run(3, {{request(step::try_take), "try_take to 0 1 2", collecting},
          {reply(1, answer::granted), "", collecting},
          {timeout, "unsent, release_alone to 0 1 2", returning},
          {reply(0, answer::granted), "", returning},
          {reply(2, answer::not_free, 7), "", returning},
          {background_reply(step::release_alone, 0, answer::refused), "", returning},
          {background_reply(step::release_alone, 1, answer::released), "", returning},
          {pending_releases, "", returning}});
}

TEST(acquisitions, with_too_few_servers_the_votes_of_the_others_are_returned) {
  run(3, {{loss_of("0 2"), "", idle},
          {request(step::try_take), "unreachable, release_alone to 1", returning},
          {loss_of("0 1 2"), "", returning},
          {request(step::release), "unreachable", returning},
          {loss_of(""), "", returning},
          {request(step::reacquire), "acquire to 0 1 2", collecting}});
}

TEST(acquisitions, a_higher_token_of_a_free_server_causes_a_higher_proposal) {
  run(3, {{request(step::try_take), "try_take to 0 1 2", collecting},
          {reply(0, answer::not_free, high_token, free_ms), "", collecting},
          {reply(1, answer::not_free, high_token, free_ms), "try_take to 0 1 2", collecting},
          {late_reply(1, 2, answer::not_free, high_token, free_ms), "", collecting},
          {reply(1, answer::granted), "", collecting},
          {reply(2, answer::granted), "granted", granted},
          {reply(0, answer::not_free, 2 * high_token, free_ms), ", reacquire to 0", granted}});
}

TEST(acquisitions, the_fifth_proposal_is_the_last) {
  std::vector<row> rows{{request(step::try_take), "try_take to 0 1 2", collecting}};
  for (int proposal = 1; proposal <= 5; ++proposal) {
    const bool is_last = proposal == 5;
    const auto token = proposal * high_token;
    rows.push_back({reply(0, answer::not_free, token, free_ms), "", collecting});
    rows.push_back({reply(1, answer::not_free, token, free_ms),
                    is_last ? "not_free, release_alone to 2" : "try_take to 0 1 2",
                    is_last ? returning : collecting});
  }
  run(3, rows);
}

TEST(acquisitions, a_proposal_that_reaches_too_few_servers_ends_in_a_refusal) {
  run(3, {{request(step::try_take), "try_take to 0 1 2", collecting},
          {reply(0, answer::not_free, high_token, free_ms), "", collecting},
          {loss_of("0 1"), "", collecting},
          {reply(1, answer::not_free, high_token, free_ms), "not_free, release_alone to 2",
           returning}});
}

// Hazard 30.
TEST(acquisitions, a_reader_confirms_a_proposal_above_all_tokens_of_its_voters) {
  run(3, {{request(step::try_take), "try_take to 0 1 2", collecting},
          {reply(0, answer::granted), "", collecting},
          {reply(1, answer::granted, high_token), "try_take to 0 1 2", confirming},
          {late_reply(1, 2, answer::granted, high_token), "", confirming},
          {reply(0, answer::granted, 2 * high_token), "", confirming},
          {reply(2, answer::granted), "granted", granted}});
}

TEST(acquisitions, a_reader_without_a_confirmation_is_refused) {
  run(3, {{request(step::try_take), "try_take to 0 1 2", collecting},
          {reply(0, answer::granted), "", collecting},
          {reply(1, answer::granted, high_token), "try_take to 0 1 2", confirming},
          {reply(0, answer::broken), "", confirming},
          {timeout, "unsent, release_alone to 0 1 2", returning}});
}

TEST(acquisitions, a_reader_that_cannot_ask_for_a_confirmation_is_refused) {
  run(3, {{request(step::try_take), "try_take to 0 1 2", collecting},
          {reply(0, answer::granted), "", collecting},
          {loss_of("0 1"), "", collecting},
          {reply(1, answer::granted, high_token), "unsent, release_alone to 0 1 2", returning}});
}

// Hazard 17.
TEST(acquisitions, a_lost_vote_is_requested_again_only_when_a_majority_has_renewed) {
  run(3, {{request(step::acquire), "acquire to 0 1 2", collecting},
          {reply(0, answer::granted), "", collecting},
          {reply(1, answer::granted), "granted", granted},
          {reply(2, answer::granted), "", granted},
          {request(step::renew), "renew to 0 1 2", granted},
          {reply(0, answer::not_owner), "", granted},
          {reply(1, answer::renewed), "", granted},
          {reply(2, answer::renewed), "renewed, reacquire to 0", granted},
          {request(step::renew), "renew to 0 1 2", granted},
          {reply(0, answer::not_owner), "", granted},
          {reply(1, answer::not_owner), "not_owner", granted},
          {reply(2, answer::renewed), "", granted}});
}

// The hung server loses its vote with the lease. The two others are a majority.
TEST(acquisitions, a_lost_vote_is_requested_again_while_another_server_hangs) {
  run(3, {{request(step::acquire), "acquire to 0 1 2", collecting},
          {reply(0, answer::granted), "", collecting},
          {reply(1, answer::granted), "granted", granted},
          {reply(2, answer::granted), "", granted},
          {pause(to_ns(lease_ms) / 3), "", granted},
          {request(step::renew), "renew to 0 1 2", granted},
          {reply(0, answer::not_owner), "", granted},
          {timeout, "", granted},
          {reply(1, answer::renewed), "", granted},
          {timeout, "broken, reacquire to 0", granted},
          {background_reply(step::reacquire, 0, answer::granted), "", granted},
          {request(step::renew), "renew to 0 1 2", granted},
          {reply(0, answer::renewed), "", granted},
          {reply(1, answer::renewed), "renewed", granted},
          {late_reply(2, 2, answer::not_owner), "", granted},
          {reply(2, answer::not_owner), ", reacquire to 2", granted}});
}

// Hazard 17. Each server is replaced by an empty one. One after the other gives its vote again if
// the client asks while another connection is made again. So the hold ends although two servers of
// three live. Two that have lost the vote at the same time end the hold at once.
TEST(acquisitions, a_lost_vote_is_not_requested_again_while_another_server_is_disconnected) {
  const std::vector<row> grant{{request(step::acquire), "acquire to 0 1 2", collecting},
                               {reply(0, answer::granted), "", collecting},
                               {reply(1, answer::granted), "granted", granted},
                               {reply(2, answer::granted), "", granted}};
  auto disconnected = grant;
  disconnected.insert(disconnected.end(), {{loss_of("2"), "", granted},
                                           {request(step::renew), "renew to 0 1", granted},
                                           {reply(0, answer::not_owner), "", granted},
                                           {reply(1, answer::renewed), "broken", granted},
                                           {loss_of(""), "", granted},
                                           {request(step::renew), "renew to 0 1 2", granted},
                                           {reply(0, answer::not_owner), "", granted},
                                           {reply(2, answer::not_owner), "not_owner", granted}});
  run(3, disconnected);
  auto broken = grant;
  broken.insert(broken.end(), {{request(step::renew), "renew to 0 1 2", granted},
                               {reply(0, answer::not_owner), "", granted},
                               {reply(1, answer::broken), "", granted},
                               {timeout, "", granted},
                               {reply(2, answer::renewed), "broken", granted}});
  run(3, broken);
}

// Hazard 17.
TEST(acquisitions, a_hold_that_is_over_gets_no_vote_again_while_a_server_hangs) {
  const std::vector<row> grant{{request(step::acquire), "acquire to 0 1 2", collecting},
                               {reply(0, answer::granted), "", collecting},
                               {reply(1, answer::granted), "granted", granted}};
  const std::vector<row> hang{{request(step::renew), "renew to 0 1 2", granted},
                              {reply(0, answer::not_owner), "", granted},
                              {reply(1, answer::renewed), "", granted},
                              {timeout, "broken", granted}};
  auto lapsed = grant;
  lapsed.push_back({pause(to_ns(lease_ms) - 100 * ns_per_ms), "", granted});
  lapsed.insert(lapsed.end(), hang.begin(), hang.end());
  run(3, lapsed);
  auto lost = grant;
  lost.insert(lost.end(), {{request(step::renew), "renew to 0 1 2", granted},
                           {reply(0, answer::not_owner), "", granted},
                           {reply(2, answer::not_owner), "not_owner", granted}});
  lost.insert(lost.end(), hang.begin(), hang.end());
  run(3, lost);
  auto forced = grant;
  forced.push_back({force, "", granted});
  forced.insert(forced.end(), hang.begin(), hang.end());
  run(3, forced);
}

TEST(acquisitions, a_server_that_answers_after_the_lease_is_not_asked_again) {
  run(3, {{request(step::try_take), "try_take to 0 1 2", collecting},
          {reply(0, answer::granted), "", collecting},
          {reply(1, answer::granted), "granted", granted},
          {pause(to_ns(lease_ms)), "", granted},
          {reply(2, answer::not_free, high_token, free_ms), "", granted}});
}

TEST(acquisitions, a_vote_that_is_missing_is_not_requested_after_the_release) {
  run(3, {{request(step::try_take), "try_take to 0 1 2", collecting},
          {reply(0, answer::granted), "", collecting},
          {reply(2, answer::granted), "granted", granted},
          {request(step::release), "release to 0 1 2", returning},
          {late_reply(1, 1, answer::not_free, high_token, free_ms), "", returning}});
}

TEST(acquisitions, a_forced_release_ends_the_requests_for_lost_votes) {
  run(3, {{request(step::try_take), "try_take to 0 1 2", collecting},
          {reply(0, answer::granted), "", collecting},
          {reply(1, answer::granted), "granted", granted},
          {force, "", granted},
          {reply(2, answer::not_free, high_token, free_ms), "", granted}});
}

// ---- upgrades and downgrades ----------------------------------------------------------------

// A reader with all votes.
std::vector<row> reader_with(std::vector<row> rows) {
  std::vector<row> all = {{request(step::try_take), "try_take to 0 1 2", collecting},
                          {reply(0, answer::granted), "", collecting},
                          {reply(1, answer::granted), "granted", granted},
                          {reply(2, answer::granted), "", granted}};
  all.insert(all.end(), rows.begin(), rows.end());
  return all;
}

TEST(acquisitions, a_majority_of_raised_votes_is_an_upgrade) {
  run(3, reader_with(
             {{request(step::raise), "raise to 0 1 2", granted},
              {reply(0, answer::granted), "", granted},
              {reply(2, answer::granted), "granted", granted},
              {reply(1, answer::not_free, 7), "", granted},
              {request(step::release, lock::exclusive_permits), "release to 0 1 2", returning}}));
}

// Hazard 17: the votes of the reader stay.
TEST(acquisitions, an_upgrade_without_a_majority_is_undone_where_it_may_have_been_executed) {
  run(3, reader_with({{request(step::raise), "raise to 0 1 2", granted},
                      {reply(0, answer::granted), "", granted},
                      {reply(1, answer::not_free, 7), "", granted},
                      {reply(2, answer::not_free, 7), "not_free, renew to 0", granted},
                      {pending_releases, "", granted},
                      {request(step::renew), "renew to 0 1 2", granted},
                      {reply(0, answer::renewed), "", granted},
                      {reply(1, answer::renewed), "renewed", granted}}));
  run(3, reader_with({{request(step::raise), "raise to 0 1 2", granted},
                      {reply(0, answer::not_free, 7), "", granted},
                      {timeout, "not_free, renew to 1 2", granted},
                      {reply(1, answer::granted), "", granted},
                      {reply(2, answer::granted), "", granted}}));
  run(3, reader_with({{request(step::raise), "raise to 0 1 2", granted},
                      {reply(0, answer::granted), "", granted},
                      {reply(1, answer::broken), "", granted},
                      {reply(2, answer::unsent), "unsent, renew to 0 1", granted}}));
  run(3, reader_with({{loss_of("12"), "", granted},
                      {request(step::raise), "unreachable, renew to 0", granted}}));
  // Too few servers can be reached for a higher proposal.
  run(3, reader_with({{request(step::raise), "raise to 0 1 2", granted},
                      {reply(0, answer::not_free, high_token, free_ms), "", granted},
                      {loss_of("12"), "", granted},
                      {reply(1, answer::not_free, high_token, free_ms), "not_free, renew to 0 2",
                       granted}}));
}

TEST(acquisitions, a_higher_proposal_follows_an_upgrade_that_was_outrun) {
  run(3, reader_with({{request(step::raise), "raise to 0 1 2", granted},
                      {reply(0, answer::granted), "", granted},
                      {reply(1, answer::not_free, high_token, free_ms), "", granted},
                      {reply(2, answer::not_free, high_token, free_ms), "raise to 0 1 2", granted},
                      {reply(0, answer::granted), "", granted},
                      {reply(1, answer::granted), "granted", granted}}));
}

// The renewal has undone it at each server, in order. A further proposal would not be undone.
TEST(acquisitions, a_renewal_of_the_reader_ends_an_upgrade) {
  run(3, reader_with(
             {{request(step::raise), "raise to 0 1 2", granted},
              {request(step::renew), "renew to 0 1 2", granted},
              {late_reply(2, 0, answer::not_free, high_token, free_ms), "", granted},
              {late_reply(2, 1, answer::not_free, high_token, free_ms), "not_free", granted}}));
}

// Hazard 16: servers that have forgotten the script get it, but not across a change of the mode.
TEST(acquisitions, a_renewal_is_not_repeated_after_a_change_of_the_mode) {
  const auto whole = lock::exclusive_permits;
  run(3, reader_with({{request(step::renew), "renew to 0 1 2", granted},
                      {repetition(2), "sent again", granted},
                      {request(step::raise), "raise to 0 1 2", granted},
                      {repetition(2), "", granted},
                      {repetition(3), "sent again", granted},
                      {reply(0, answer::granted), "", granted},
                      {reply(1, answer::granted), "granted", granted},
                      {request(step::renew, whole), "renew to 0 1 2", granted},
                      {repetition(4), "sent again", granted},
                      {request(step::renew), "renew to 0 1 2", granted},
                      {repetition(3), "", granted},
                      {repetition(4), "", granted},
                      {repetition(5), "sent again", granted}}));
}

// Hazard 16: the caller has given up the upgrade. No vote is requested after the release.
TEST(acquisitions, a_release_during_an_upgrade_ends_it) {
  run(3, reader_with({{request(step::raise), "raise to 0 1 2", granted},
                      {request(step::cancel), "cancel to 0 1 2", returning},
                      {late_reply(2, 0, answer::not_owner), "", returning},
                      {late_reply(2, 1, answer::granted), "", returning},
                      {late_reply(2, 2, answer::granted), "granted", returning}}));
}

// The caller has given up the first one. Otherwise one could undo what the other has granted
// (hazard 17).
TEST(acquisitions, the_last_of_several_upgrades_decides) {
  run(3, reader_with({{request(step::raise), "raise to 0 1 2", granted},
                      {request(step::raise), "raise to 0 1 2", granted},
                      {late_reply(2, 0, answer::granted), "", granted},
                      {late_reply(2, 1, answer::granted), "unsent", granted},
                      {reply(0, answer::granted), "", granted},
                      {reply(1, answer::granted), "granted", granted}}));
  run(3, reader_with({{request(step::raise), "raise to 0 1 2", granted},
                      {request(step::raise), "raise to 0 1 2", granted},
                      {late_reply(2, 0, answer::not_free, 7), "", granted},
                      {late_reply(2, 1, answer::not_free, 7), "unsent", granted},
                      {reply(0, answer::granted), "", granted},
                      {reply(1, answer::granted), "granted", granted}}));
}

// Hazard 16: the servers ignore late requests by the lower proposal.
TEST(acquisitions, a_change_of_the_mode_has_a_higher_proposal) {
  run(3, reader_with({{request(step::renew), "renew to 0 1 2", granted},
                      {is_above(2, 1), "no", granted},
                      {request(step::raise), "raise to 0 1 2", granted},
                      {is_above(3, 2), "yes", granted},
                      {request(step::renew), "renew to 0 1 2", granted},
                      {is_above(4, 3), "yes", granted}}));
}

// Hazard 17.
TEST(acquisitions, an_upgrade_of_a_hold_that_most_servers_have_forgotten_is_a_loss) {
  run(3, reader_with({{request(step::raise), "raise to 0 1 2", granted},
                      {reply(0, answer::not_owner), "", granted},
                      {reply(1, answer::not_owner), "not_owner, renew to 2", granted},
                      {reply(2, answer::not_owner), "", granted}}));
  // One of them is asked again.
  run(3,
      reader_with({{request(step::raise), "raise to 0 1 2", granted},
                   {reply(0, answer::not_owner), "", granted},
                   {reply(1, answer::granted), "", granted},
                   {reply(2, answer::granted), "granted, reacquire as a writer to 0", granted}}));
}

TEST(acquisitions, a_late_reply_of_before_an_upgrade_gives_no_vote_for_a_writer) {
  run(3,
      reader_with({{request(step::renew), "renew to 0 1 2", granted},
                   {reply(0, answer::renewed), "", granted},
                   {reply(1, answer::renewed), "renewed", granted},
                   {request(step::raise), "raise to 0 1 2", granted},
                   {late_reply(2, 2, answer::not_owner), "", granted},
                   {reply(2, answer::not_owner), "", granted},
                   {reply(0, answer::granted), "", granted},
                   {reply(1, answer::granted), "granted, reacquire as a writer to 2", granted}}));
}

TEST(acquisitions, a_vote_that_was_not_raised_is_kept_and_asked_for_again) {
  const auto whole = lock::exclusive_permits;
  run(3, reader_with({{request(step::raise), "raise to 0 1 2", granted},
                      {reply(0, answer::granted), "", granted},
                      {reply(1, answer::granted), "granted", granted},
                      {reply(2, answer::unsent), "", granted},
                      {request(step::renew, whole), "renew to 0 1 2", granted},
                      {weaker_vote(2), "", granted},
                      {reply(0, answer::renewed), "", granted},
                      {reply(1, answer::renewed), "renewed, reacquire as a writer to 2", granted},
                      {background_reply(step::reacquire, 2, answer::broken), "", granted},
                      {request(step::release, whole), "release to 0 1 2", returning},
                      {reply(0, answer::released), "", returning},
                      {reply(1, answer::released), "released", returning},
                      {reply(2, answer::broken), "", returning},
                      {pending_releases, " 2", returning}}));
}

// Hazard 16.
TEST(acquisitions, a_canceled_request_makes_no_proposal_and_returns_its_votes) {
  run(3, {{request(step::acquire), "acquire to 0 1 2", collecting},
          {request(step::cancel), "cancel to 0 1 2", returning},
          {late_reply(1, 0, answer::not_free, high_token, free_ms), "", returning},
          {late_reply(1, 1, answer::not_free, high_token, free_ms), "not_free, cancel to 2",
           returning},
          {late_reply(1, 2, answer::granted), "", returning},
          {reply(2, answer::broken), "", returning},
          {background_reply(step::cancel, 2, answer::broken), "", returning},
          {pending_releases, " 2", returning}});
}

}  // namespace
}  // namespace acquisition_test
}  // namespace mortise::quorum
