// What a client knows of the servers of its quorum: their tokens and clocks, and their delays.
#include "deployment/redlock/votes/voters.hpp"

#include <gtest/gtest.h>

namespace mortise::quorum {
namespace {

TEST(voters, a_slow_minority_does_not_change_the_delay_of_a_quorum) {
  voters servers(3, 1);
  EXPECT_EQ(0, servers.delay_of_quorum());
  servers.note_delay(0, 10);
  servers.note_delay(1, 500);
  servers.note_delay(2, 20);
  EXPECT_EQ(20, servers.delay_of_quorum());
}

TEST(voters, delays_rise_at_once_and_fall_slowly) {
  voters servers(1, 1);
  servers.note_delay(0, 800);
  servers.note_delay(0, 0);
  EXPECT_EQ(700, servers.delay_of_quorum());
  servers.note_delay(0, 900);
  EXPECT_EQ(900, servers.delay_of_quorum());
}

TEST(voters, patience_grows_with_the_delay_of_a_quorum_up_to_a_quarter_of_the_lease) {
  voters servers(1, 1);
  EXPECT_EQ(50 * ns_per_ms, servers.patience(ns_per_s));
  servers.note_delay(0, 100 * ns_per_ms);
  EXPECT_EQ(200 * ns_per_ms, servers.patience(ns_per_s));
  servers.note_delay(0, ns_per_s);
  EXPECT_EQ(250 * ns_per_ms, servers.patience(ns_per_s));
}

TEST(voters, tokens_are_above_all_that_are_known) {
  voters servers(3, 1);
  EXPECT_EQ(1, servers.next_token(0));
  for (const std::size_t server : {0U, 1U}) servers.note_time(server, 1000, 0);
  EXPECT_EQ(1000, servers.next_token(0));
  EXPECT_EQ(1001, servers.next_token(0));
  servers.note_token(1, 5000);
  EXPECT_EQ(5001, servers.next_token(0));
  servers.note_own(6000);
  EXPECT_EQ(6010, servers.next_token(0, 10));
}

TEST(voters, tokens_follow_the_middle_one_of_the_servers_clocks) {
  voters servers(3, 1);
  servers.note_time(0, 10'000, ns_per_ms);
  servers.note_time(1, 3'600'000'000, ns_per_ms);
  EXPECT_EQ(11'000, servers.next_token(2 * ns_per_ms)) << "the lower of two";
  servers.note_time(2, 12'000, ns_per_ms);
  EXPECT_EQ(13'000, servers.next_token(2 * ns_per_ms));
}

// Its token would keep others from the votes of those two until their clocks are right.
TEST(voters, tokens_do_not_follow_clocks_of_a_minority_that_answers_first) {
  voters servers(5, 1);
  constexpr std::int64_t ahead_us = 10'800'000'000;
  for (const std::size_t server : {0U, 1U}) {
    servers.note_time(server, ahead_us, 0);
    EXPECT_GT(ahead_us, servers.next_token(0));
  }
  for (const std::size_t server : {2U, 3U, 4U}) {
    servers.note_time(server, 1'000'000, 0);
    servers.note_token(0, ahead_us);
    EXPECT_GT(2'000'000, servers.next_token(0));
  }
}

// They are higher than the others would ever accept.
TEST(voters, tokens_do_not_follow_tokens_of_a_clock_that_is_far_ahead) {
  constexpr std::int64_t hour_us = 3'600'000'000;
  voters servers(3, 1);
  servers.note_time(2, 4 * hour_us, 0);
  for (const std::size_t server : {0U, 1U}) servers.note_time(server, hour_us, 0);
  servers.note_token(2, 4 * hour_us);
  EXPECT_EQ(hour_us, servers.next_token(0));
  servers.note_token(1, hour_us + hour_us / 2);
  EXPECT_EQ(hour_us + hour_us / 2 + 1, servers.next_token(0)) << "this one they accept";
}

}  // namespace
}  // namespace mortise::quorum
