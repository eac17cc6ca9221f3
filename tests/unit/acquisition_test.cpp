// How votes become a grant, are renewed and are returned.
#include "unit/acquisition_fixture.hpp"

namespace mortise::quorum::acquisition_test {
namespace {

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

// The last message counts. A renewal that was sent before the end of the forced release proves
// nothing (hazard 17).
TEST(acquisitions, hazard_17_a_lost_vote_is_requested_again_after_an_unsuccessful_forced_release) {
  const auto renew_without = [](std::string_view actions) {
    return std::vector<row>{{request(step::renew), "renew to 0 1 2", granted},
                            {reply(0, answer::not_owner), "", granted},
                            {reply(1, answer::renewed), "", granted},
                            {reply(2, answer::renewed), actions, granted}};
  };
  std::vector<row> rows{{request(step::acquire), "acquire to 0 1 2", collecting},
                        {reply(0, answer::granted), "", collecting},
                        {reply(1, answer::granted), "granted", granted},
                        {reply(2, answer::granted), "", granted},
                        {force, "", granted},
                        {pause(longest_force_ns / 2), "", granted},
                        {force, "", granted}};
  const auto add = [&](const std::vector<row>& more) {
    rows.insert(rows.end(), more.begin(), more.end());
  };
  add({{pause(longest_force_ns - ns_per_ms), "", granted}});
  add(renew_without("renewed"));
  add({{request(step::renew), "renew to 0 1 2", granted},
       {pause(ns_per_ms), "", granted},
       {reply(1, answer::renewed), "", granted},
       {reply(2, answer::renewed), "renewed", granted},
       {reply(0, answer::not_owner), "", granted}});
  add(renew_without("renewed, reacquire to 0"));
  add({{force, "", granted}});
  add(renew_without("renewed"));
  run(3, rows);
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
}  // namespace mortise::quorum::acquisition_test
