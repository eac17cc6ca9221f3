// The common result of the replies of a quorum's servers.
#include "deployment/redlock/votes/vote_count.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace mortise::quorum {
namespace {

using lock::answer;
using lock::step;
using lock::step_result;

step_result result_of(answer what, std::int64_t ttl_ms = 0, std::int64_t token = 0) {
  step_result result;
  result.what = what;
  result.ttl_ms = ttl_ms;
  result.last_token = token;
  return result;
}

// The result after each reply.
std::vector<std::optional<step_result>> feed(vote_count& votes,
                                             const std::vector<step_result>& answers) {
  std::vector<std::optional<step_result>> results;
  for (std::size_t server = 0; server < answers.size(); ++server) {
    results.push_back(votes.count(server, answers[server]));
  }
  return results;
}

TEST(vote_count, more_than_half_of_all_is_a_quorum) {
  for (std::size_t servers = 1; servers <= most_servers; ++servers) {
    EXPECT_GT(2 * needed_of(servers), servers);
    EXPECT_LE(2 * (needed_of(servers) - 1), servers);
  }
}

TEST(vote_count, an_upgrade_is_refused_by_other_holders_and_lost_without_most_votes) {
  const auto yes = result_of(answer::granted, 0, 7);
  const auto no = result_of(answer::not_free, 500, 3);
  const auto missing = result_of(answer::not_owner);
  const auto failed = result_of(answer::unsent);
  const auto result = [&](const std::vector<step_result>& answers) {
    vote_count votes(step::raise, answers.size(), 7);
    for (const auto& each : feed(votes, answers)) {
      if (each) return each->what;
    }
    return answer::unknown;
  };
  EXPECT_EQ(answer::granted, result({no, yes, yes}));
  EXPECT_EQ(answer::not_free, result({yes, no, no}));
  EXPECT_EQ(answer::not_free, result({no, missing, yes}));
  // Hazard 17: one server that has forgotten its vote ends no hold, and most of them do.
  EXPECT_EQ(answer::unsent, result({missing, yes, failed}));
  EXPECT_EQ(answer::not_owner, result({missing, yes, missing}));
  EXPECT_EQ(answer::unsent, result({yes, failed, failed})) << "it is undone, so it is not unknown";
  vote_count votes(step::raise, 4, 7);
  votes.count(0, yes);
  votes.count(1, no);
  votes.count(2, failed);
  EXPECT_EQ("1001", votes.may_agree().to_string().substr(most_servers - 4));
}

TEST(vote_count, a_quorum_is_enough_and_the_others_are_not_waited_for) {
  vote_count votes(step::try_take, 5, 7);
  const auto yes = result_of(answer::granted);
  const auto results = feed(votes, {yes, result_of(answer::unsent), yes, yes, yes});
  EXPECT_FALSE(results[0] || results[1] || results[2]);
  ASSERT_TRUE(results[3]);
  EXPECT_EQ(answer::granted, results[3]->what);
  EXPECT_EQ(7, results[3]->last_token);
  EXPECT_FALSE(results[4]) << "it was told already";
}

// Two of four are no quorum (hazard 25). No server of a quorum knows the waiters, so a client that
// passes the lock on must stop some time.
TEST(vote_count, a_quorum_reports_that_others_may_wait) {
  for (const auto& [what, yes] :
       {std::pair{step::try_take, answer::granted}, std::pair{step::renew, answer::renewed}}) {
    vote_count votes(what, 3, 1);
    votes.count(0, result_of(yes));
    const auto result = votes.count(1, result_of(yes));
    ASSERT_TRUE(result);
    EXPECT_TRUE(result->others_wait);
  }
}

TEST(vote_count, half_of_an_even_number_is_none) {
  vote_count votes(step::try_take, 4, 7);
  const auto yes = result_of(answer::granted);
  const auto no = result_of(answer::not_free, 500, 3);
  const auto results = feed(votes, {yes, yes, no, no});
  EXPECT_FALSE(results[2]);
  ASSERT_TRUE(results[3]);
  EXPECT_EQ(answer::not_free, results[3]->what);
}

TEST(vote_count, an_answer_that_comes_twice_is_one) {
  vote_count votes(step::try_take, 3, 7);
  EXPECT_FALSE(votes.count(0, result_of(answer::granted)));
  EXPECT_FALSE(votes.count(0, result_of(answer::granted)));
  EXPECT_TRUE(votes.count(1, result_of(answer::granted)));
}

TEST(vote_count, who_does_not_answer_counts_as_one_of_all) {
  vote_count votes(step::try_take, 3, 7);
  votes.count(0, result_of(answer::granted));
  const auto result = votes.give_up(250 * ns_per_ms);
  ASSERT_TRUE(result);
  EXPECT_EQ(answer::unsent, result->what) << "the votes of a round are given back";
  EXPECT_EQ(status::unreachable, result->details.code);
  EXPECT_FALSE(votes.count(1, result_of(answer::granted))) << "a late vote grants nothing";
}

TEST(vote_count, the_lease_to_wait_for_is_the_one_whose_end_frees_a_quorum) {
  vote_count votes(step::try_take, 5, 7);
  const auto results =
      feed(votes, {result_of(answer::not_free, 300, 3), result_of(answer::not_free, 100, 3),
                   result_of(answer::not_free, 200, 3)});
  ASSERT_TRUE(results[2]);
  EXPECT_EQ(300, results[2]->ttl_ms);
  EXPECT_FALSE(votes.is_split());
}

TEST(vote_count, split_votes_are_reported) {
  vote_count votes(step::try_take, 5, 7);
  const auto yes = result_of(answer::granted);
  feed(votes, {yes, yes, result_of(answer::not_free, 100, 3), result_of(answer::not_free, 100, 4),
               result_of(answer::not_free, 100, 4)});
  EXPECT_TRUE(votes.is_split());
}

// An unreachable server may have voted for another owner, but it does not keep a client from asking
// again.
TEST(vote_count, votes_of_the_servers_that_are_left_can_be_split) {
  vote_count votes(step::try_take, 3, 7);
  feed(votes, {result_of(answer::granted), result_of(answer::not_free, 100, 3),
               result_of(answer::unsent)});
  EXPECT_TRUE(votes.is_split());
  vote_count others(step::try_take, 5, 7);
  feed(others, {result_of(answer::not_free, 100, 3), result_of(answer::not_free, 100, 3),
                result_of(answer::not_free, 100, 4)});
  EXPECT_FALSE(others.is_split()) << "two may vote for one of them";
}

// The first no could be of one that has no quorum either.
TEST(vote_count, a_try_is_lost_when_it_is_known_whether_another_has_a_quorum) {
  const auto gone = result_of(answer::unsent);
  vote_count split(step::try_take, 3, 7);
  const auto later =
      feed(split, {gone, result_of(answer::not_free, 100, 3), result_of(answer::granted)});
  EXPECT_FALSE(later[1]);
  ASSERT_TRUE(later[2]);
  EXPECT_TRUE(split.is_split());
  vote_count lost(step::try_take, 3, 7);
  const auto known =
      feed(lost, {gone, result_of(answer::not_free, 100, 3), result_of(answer::not_free, 100, 3)});
  ASSERT_TRUE(known[2]);
  EXPECT_FALSE(lost.is_split());
  vote_count silent(step::try_take, 3, 7);
  silent.count(0, result_of(answer::not_free, 100, 3));
  silent.count(1, gone);
  EXPECT_TRUE(silent.give_up(250 * ns_per_ms)) << "a server that hangs is not waited for";
}

TEST(vote_count, a_proposal_below_the_tokens_of_free_servers_is_outrun) {
  vote_count votes(step::try_take, 3, 7);
  const auto results =
      feed(votes, {result_of(answer::not_free, -2, 9), result_of(answer::not_free, -2, 8)});
  ASSERT_TRUE(results[1]);
  EXPECT_TRUE(votes.is_outrun());

  vote_count held(step::try_take, 3, 7);
  feed(held, {result_of(answer::not_free, 100, 9), result_of(answer::not_free, 100, 9)});
  EXPECT_FALSE(held.is_outrun()) << "a higher one would not succeed either";
}

// Hazard 17.
TEST(vote_count, a_renewal_needs_a_quorum_and_a_loss_needs_one_that_says_so) {
  const auto yes = result_of(answer::renewed);
  const auto no = result_of(answer::not_owner);
  vote_count renewed(step::renew, 5, 7);
  EXPECT_EQ(answer::renewed, feed(renewed, {yes, no, no, yes, yes})[4]->what);
  EXPECT_EQ(0b110U, renewed.take_vacant().to_ulong());
  vote_count lost(step::renew, 5, 7);
  EXPECT_EQ(answer::not_owner, feed(lost, {no, yes, no, no})[3]->what);
  vote_count unclear(step::renew, 5, 7);
  const auto broken = result_of(answer::broken);
  const auto results = feed(unclear, {yes, yes, no, broken, broken});
  EXPECT_FALSE(results[3]);
  EXPECT_EQ(answer::broken, results[4]->what) << "neither";
}

TEST(vote_count, a_vote_that_another_has_is_not_vacant) {
  vote_count votes(step::renew, 3, 7);
  auto replaced = result_of(answer::not_owner);
  replaced.is_replaced = true;
  votes.count(0, replaced);
  EXPECT_TRUE(votes.take_vacant().none());
}

TEST(vote_count, a_release_is_over_when_a_quorum_has_confirmed_it) {
  vote_count votes(step::release, 3, 7);
  EXPECT_EQ(answer::released,
            feed(votes, {result_of(answer::released), result_of(answer::not_owner),
                         result_of(answer::released)})[2]
                ->what);
}

TEST(vote_count, what_a_quorum_refuses_is_refused_at_once) {
  auto denied = result_of(answer::refused);
  denied.details = outcome::of(status::refused, "no");
  auto passing = denied;
  passing.is_passing = true;
  vote_count votes(step::try_take, 3, 7);
  const auto results = feed(votes, {denied, denied});
  ASSERT_TRUE(results[1]);
  EXPECT_EQ(answer::refused, results[1]->what);
  EXPECT_EQ(status::refused, results[1]->details.code);
  vote_count others(step::try_take, 3, 7);
  const auto later = feed(others, {passing, denied});
  ASSERT_TRUE(later[1]);
  EXPECT_EQ(answer::unsent, later[1]->what) << "it is worth asking again";
}

TEST(vote_count, without_servers_nothing_was_carried_out) {
  vote_count votes(step::try_take, 3, 7);
  const auto gone = result_of(answer::unsent);
  EXPECT_EQ(answer::unsent, feed(votes, {gone, gone, gone})[1]->what);
}

// In each order of the replies there is one result, and a grant only with a quorum.
TEST(vote_count, has_one_result) {
  std::mt19937_64 chance(1);  // NOLINT: the same each time
  const std::vector<step_result> words = {
      result_of(answer::granted),         result_of(answer::not_free, 10, 3),
      result_of(answer::not_free, -2, 9), result_of(answer::broken),
      result_of(answer::unsent),          result_of(answer::unknown),
      result_of(answer::refused)};
  for (int i = 0; i < 20'000; ++i) {
    const auto servers = 1 + chance() % 7;
    vote_count votes(step::try_take, servers, 7);
    std::size_t yes = 0;
    std::size_t results = 0;
    for (std::size_t server = 0; server < servers; ++server) {
      const auto& word = words[chance() % words.size()];
      yes += word.what == answer::granted ? 1 : 0;
      const auto result = votes.count(server, word);
      if (!result) continue;
      ++results;
      EXPECT_EQ(result->what == answer::granted, yes >= needed_of(servers));
    }
    EXPECT_EQ(1U, results);
  }
}

// No owner has it, so none is named.
TEST(vote_count, who_is_outrun_where_too_few_answer_could_not_ask) {
  vote_count votes(step::try_take, 5, 1);
  for (const std::size_t server : {0U, 1U}) {
    EXPECT_FALSE(votes.count(server, result_of(answer::not_free, -2, 9)));
  }
  const auto result = votes.give_up(250 * ns_per_ms);
  ASSERT_TRUE(result);
  EXPECT_EQ(answer::unsent, result->what);
  EXPECT_EQ(status::unreachable, result->details.code);
}

// The second of three: until then too many refuse.
TEST(vote_count, those_that_refuse_for_a_time_are_waited_for_until_a_quorum_can_vote) {
  vote_count votes(step::try_take, 3, 1);
  auto refusal = result_of(answer::refused);
  refusal.is_passing = true;
  refusal.wait_ms = 500;
  EXPECT_FALSE(votes.count(1, refusal));
  refusal.wait_ms = 300;
  const auto result = votes.count(2, refusal);
  ASSERT_TRUE(result);
  EXPECT_EQ(answer::unsent, result->what);
  EXPECT_EQ(300, result->wait_ms);
}

TEST(vote_count, servers_without_a_connection_are_not_silent) {
  vote_count votes(step::renew, 5, 1);
  feed(votes, {result_of(answer::renewed), result_of(answer::not_owner)});
  EXPECT_FALSE(votes.is_rest_silent()) << "too few have replied";
  votes.count(2, result_of(answer::renewed));
  EXPECT_TRUE(votes.is_rest_silent());
  for (const auto failed : {answer::broken, answer::unsent, answer::refused}) {
    auto others = votes;
    others.count(3, result_of(failed));
    EXPECT_FALSE(others.is_rest_silent());
  }
}

}  // namespace
}  // namespace mortise::quorum
