// What one server of a quorum does with a vote, asked in whatever order a network can bring about.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/call_script.hpp"
#include "support/handles.hpp"
#include "support/server.hpp"

namespace mortise::testing::quorum_scripts_test {
namespace {

const std::vector<std::string> keys = {"{mortise:a}", "{mortise:a}:ballot", "mortise:fence",
                                       "mortise:quarantine"};
constexpr std::int64_t minute_us = 60'000'000;
constexpr std::int64_t hour_us = 60 * minute_us;

class quorum_scripts : public ::testing::Test {
 protected:
  std::string call(const redis::script& script, std::size_t key_count,
                   const std::vector<std::string>& arguments) {
    return call_script(server, script, keys, key_count, arguments);
  }
  // Whether the server votes for this owner.
  bool take(const std::string& owner, std::int64_t proposal, const std::string& ttl_ms = "60000") {
    return call(scripts::ballot_take, 4, {owner, ttl_ms, "take", std::to_string(now_us + proposal)})
               .front() == '1';
  }
  std::string renew(const std::string& owner, std::int64_t proposal) {
    return call(scripts::ballot_renew, 2, {owner, "90000", std::to_string(now_us + proposal)});
  }
  std::string release(const std::string& owner, std::int64_t proposal,
                      const std::string& mode = "quiet") {
    return call(scripts::ballot_release, 2, {owner, "0", mode, std::to_string(now_us + proposal)});
  }
  // A client with a quarantine of a minute connects.
  void join(const std::string& quarantine_ms = "60000") {
    server.command({"EVAL", std::string(scripts::member.text), "3", keys[3], "mortise:quorum",
                    "mortise:member:a", quarantine_ms, "3", "0"});
  }
  // As if the server had run for longer than its quarantine. What stands for forgotten votes stays.
  void end_quarantine(std::int64_t proposal) {
    ASSERT_LT(now_us, std::stoll(server.command({"GET", keys[3]})));
    server.command({"SET", keys[3], std::to_string(now_us + proposal)});
  }
  std::string owner() { return server.command({"GET", keys[0]}); }
  std::int64_t time_left() { return std::stoll(server.command({"PTTL", keys[0]})); }

  test_server server;
  const std::int64_t now_us = wall_now_us();
};

TEST_F(quorum_scripts, a_vote_is_given_again_to_who_has_it_and_to_nobody_else) {
  EXPECT_TRUE(take("one", 1));
  EXPECT_TRUE(take("one", 1)) << "asked again, as the answer was lost (hazard 15)";
  EXPECT_FALSE(take("another", 2));
  EXPECT_EQ("one", owner());
}

// Hazard 17.
TEST_F(quorum_scripts, a_vote_that_is_given_again_is_not_shortened) {
  EXPECT_TRUE(take("one", 1));
  EXPECT_EQ('1', renew("one", 1).front());
  EXPECT_TRUE(take("one", 2, "5000")) << "a top-up of before the renewal";
  EXPECT_GT(time_left(), 60'000);
  EXPECT_TRUE(take("one", 3, "120000"));
  EXPECT_GT(time_left(), 90'000);
}

// Hazard 30.
TEST_F(quorum_scripts, a_vote_needs_a_proposal_above_all_before_it) {
  EXPECT_TRUE(take("one", 5));
  EXPECT_EQ("1", release("one", 5));
  EXPECT_FALSE(take("two", 5));
  EXPECT_FALSE(take("two", 4));
  EXPECT_TRUE(take("two", 6));
}

TEST_F(quorum_scripts, a_proposal_far_ahead_of_the_clock_is_refused) {
  EXPECT_FALSE(take("one", hour_us + hour_us / 60));
  EXPECT_EQ("(nil)", owner());
  EXPECT_TRUE(take("one", hour_us - hour_us / 60));
}

TEST_F(quorum_scripts, the_fence_counter_stands_for_ballots_that_are_gone) {
  server.command({"SET", keys[2], std::to_string(now_us + 50)});
  EXPECT_FALSE(take("one", 50));
  EXPECT_TRUE(take("one", 51));
}

// Hazard 30: also for the top-up of a hold, which began before all that the server has forgotten.
TEST_F(quorum_scripts, a_restarted_server_votes_above_all_that_it_may_have_forgotten) {
  join();
  const auto ends = std::stoll(server.command({"GET", keys[3]}));
  EXPECT_LE(now_us + minute_us, ends) << "the end of the quarantine";
  end_quarantine(-5);
  for (const auto* const mode : {"take", "again"}) {
    EXPECT_EQ(
        '0',
        call(scripts::ballot_take, 4, {"one", "60000", mode, std::to_string(now_us - 6)}).front());
  }
  EXPECT_TRUE(take("one", -4));
}

// An old snapshot has a ballot, but not the latest (hazard 30).
TEST_F(quorum_scripts, a_ballot_of_before_a_restart_does_not_hide_what_was_forgotten) {
  EXPECT_TRUE(take("one", -9));
  EXPECT_EQ("1", release("one", -9));
  join();
  end_quarantine(-5);
  EXPECT_FALSE(take("two", -7));
  EXPECT_EQ("0", release("two", -7)) << "it has no vote";
  server.command({"SET", keys[0], "two", "PX", "60000"});
  EXPECT_FALSE(take("two", -5)) << "its vote is of the snapshot, too";
  EXPECT_TRUE(take("two", -4));
  EXPECT_TRUE(take("two", -4));
}

// The first client may connect when it is over. What was forgotten is forgotten all the same
// (hazard 30).
TEST_F(quorum_scripts, a_quarantine_that_no_client_has_seen_counts) {
  EXPECT_TRUE(take("one", -3 * minute_us));
  EXPECT_EQ("1", release("one", -3 * minute_us));
  join("-60000");  // as if it had run for a minute longer
  EXPECT_FALSE(take("two", -2 * minute_us));
  EXPECT_TRUE(take("two", 0));
  const auto left_ms = std::stoll(server.command({"PTTL", keys[3]}));
  EXPECT_LT(2 * hour_us / 1000 - 2 * minute_us / 1000, left_ms) << "it outlives older ballots";
}

// A release of the round before, on its way for long, meets the vote of this one (hazard 16).
TEST_F(quorum_scripts, a_release_that_was_overtaken_takes_nothing) {
  EXPECT_TRUE(take("one", 1));
  EXPECT_TRUE(take("one", 2));
  EXPECT_EQ("0", release("one", 1));
  EXPECT_EQ("one", owner());
  EXPECT_EQ("1", release("one", 2));
}

TEST_F(quorum_scripts, only_a_forced_release_reports_a_key_of_another_kind) {
  server.command({"HSET", keys[0], "a", "b"});
  EXPECT_EQ("0", release("one", 1));
  EXPECT_NE(std::string::npos, release("one", 1, "force").find("FOREIGN"));
  EXPECT_EQ("1", server.command({"HLEN", keys[0]}));
}

// Hazard 17.
TEST_F(quorum_scripts, a_renewal_is_for_the_owner_only_and_gives_no_vote) {
  EXPECT_EQ("0", renew("one", 1));
  EXPECT_EQ("(nil)", owner());
  EXPECT_TRUE(take("one", 1));
  EXPECT_EQ("0\n1", renew("two", 2));
  EXPECT_LE(time_left(), 60'000);
  EXPECT_EQ('1', renew("one", 1).front());
  EXPECT_GT(time_left(), 60'000);
}

TEST_F(quorum_scripts, in_quarantine_nobody_gets_a_vote_and_who_has_one_keeps_it) {
  EXPECT_TRUE(take("one", 1));
  server.command({"SET", keys[3], std::to_string(now_us + minute_us)});
  EXPECT_FALSE(take("one", 2));
  EXPECT_EQ('1', renew("one", 1).front());
  EXPECT_EQ("1", release("one", 1));
  EXPECT_FALSE(take("two", 3));
}

}  // namespace
}  // namespace mortise::testing::quorum_scripts_test
