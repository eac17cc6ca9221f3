// What one server of a quorum does with the votes of readers and writers, asked in whatever order a
// network can bring about.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "lock/amount.hpp"
#include "support/call_script.hpp"
#include "support/handles.hpp"
#include "support/server.hpp"

namespace mortise::testing::quorum_rw_scripts_test {
namespace {

const std::vector<std::string> keys = {"{mortise:a}", "{mortise:a}:ballot", "{mortise:a}:writer",
                                       "mortise:fence", "mortise:quarantine"};
const std::string reader = "1";
const std::string writer = std::to_string(lock::exclusive_permits);

class quorum_rw_scripts : public ::testing::Test {
 protected:
  std::string call(const redis::script& script, std::size_t key_count,
                   const std::vector<std::string>& arguments) {
    return call_script(server, script, keys, key_count, arguments);
  }
  [[nodiscard]] std::string proposed(std::int64_t proposal) const {
    return std::to_string(now_us + proposal);
  }
  std::string take(const std::string& owner, const std::string& permits, std::int64_t proposal,
                   const std::string& mode = "take") {
    return call(scripts::ballot_rw_take, 5, {owner, "60000", mode, permits, proposed(proposal)});
  }
  bool is_taken(const std::string& owner, const std::string& permits, std::int64_t proposal,
                const std::string& mode = "take") {
    return take(owner, permits, proposal, mode).front() == '1';
  }
  std::string renew(const std::string& owner, const std::string& permits, std::int64_t proposal) {
    return call(scripts::ballot_rw_renew, 2, {owner, "90000", "0", permits, proposed(proposal)});
  }
  std::string release(const std::string& owner, std::int64_t proposal,
                      const std::string& mode = "quiet") {
    return call(scripts::ballot_rw_release, 3, {owner, "0", mode, reader, proposed(proposal)});
  }
  bool has_vote(const std::string& owner) {
    return server.command({"HEXISTS", keys[0], owner}) == "1";
  }

  test_server server;
  const std::int64_t now_us = wall_now_us();
};

TEST_F(quorum_rw_scripts, readers_do_not_exclude_each_other_and_a_writer_excludes_all) {
  EXPECT_TRUE(is_taken("one", reader, 1));
  EXPECT_TRUE(is_taken("two", reader, 2));
  EXPECT_FALSE(is_taken("three", writer, 3));
  EXPECT_EQ("1", release("one", 1));
  EXPECT_FALSE(is_taken("three", writer, 3));
  EXPECT_EQ("1", release("two", 2));
  EXPECT_TRUE(is_taken("three", writer, 3));
  EXPECT_TRUE(is_taken("three", writer, 3)) << "asked again, as the answer was lost (hazard 15)";
  EXPECT_FALSE(is_taken("four", writer, 4));
  EXPECT_FALSE(is_taken("five", reader, 5));
}

// Hazard 30.
TEST_F(quorum_rw_scripts, a_writer_needs_a_proposal_above_all_and_a_reader_gets_the_highest) {
  EXPECT_TRUE(is_taken("one", writer, 5));
  EXPECT_EQ("1", release("one", 5));
  for (const std::int64_t proposal : {4, 5}) {
    const auto vote = take("two", reader, proposal);
    EXPECT_EQ(0U, vote.find("1\n" + proposed(6))) << vote;
    EXPECT_EQ("1", release("two", proposal));
  }
  EXPECT_FALSE(is_taken("three", writer, 5));
  EXPECT_TRUE(is_taken("three", writer, 6));
}

TEST_F(quorum_rw_scripts, a_reader_that_says_a_higher_proposal_lifts_the_ballot) {
  EXPECT_TRUE(is_taken("one", reader, 5));
  EXPECT_TRUE(is_taken("one", reader, 9));
  EXPECT_EQ(proposed(9), server.command({"GET", keys[1]}));
  EXPECT_EQ("0", release("one", 5)) << "the release of the round before (hazard 16)";
  EXPECT_EQ("1", release("one", 9));
  EXPECT_FALSE(is_taken("two", writer, 9));
}

// A late request takes nothing from the round that its owner is in now (hazard 16).
TEST_F(quorum_rw_scripts, the_question_of_an_earlier_round_changes_nothing) {
  EXPECT_TRUE(is_taken("one", reader, 5));
  EXPECT_FALSE(is_taken("one", reader, 4));
  EXPECT_EQ("0", release("one", 4));
  EXPECT_TRUE(has_vote("one"));
}

// Hazard 17.
TEST_F(quorum_rw_scripts, a_renewal_is_for_the_owner_only_and_gives_no_vote) {
  EXPECT_EQ("0", renew("one", reader, 1));
  EXPECT_FALSE(has_vote("one"));
  EXPECT_TRUE(is_taken("one", reader, 1));
  EXPECT_EQ("0", renew("two", reader, 2)) << "readers leave room for it";
  EXPECT_EQ("0\n1", renew("two", writer, 2));
  EXPECT_EQ("0", renew("one", writer, 1)) << "it is a reader's";
  EXPECT_FALSE(is_taken("one", writer, 2, "again"));
  EXPECT_EQ('1', renew("one", reader, 1).front());
  EXPECT_GT(std::stoll(server.command({"PTTL", keys[0]})), 60'000);
}

TEST_F(quorum_rw_scripts, a_lease_that_is_over_excludes_nobody_and_is_not_prolonged) {
  const auto over = std::to_string(now_us / 1000 - 1);
  EXPECT_TRUE(is_taken("one", reader, 1));
  server.command({"HSET", keys[0], "one", "1 " + proposed(1) + " " + over});
  EXPECT_EQ("0", renew("one", reader, 1));
  EXPECT_TRUE(is_taken("two", writer, 2));
  EXPECT_FALSE(has_vote("one"));
}

// Hazard 30.
TEST_F(quorum_rw_scripts, the_fence_counter_stands_for_ballots_that_are_gone) {
  server.command({"SET", keys[3], proposed(7)});
  for (const std::string mode : {"take", "again"}) {
    const auto vote = take("one", reader, 5, mode);
    EXPECT_EQ(0U, vote.find("1\n" + proposed(8))) << vote;
    EXPECT_EQ("1", release("one", 5));
    server.command({"DEL", keys[1]});
    EXPECT_FALSE(is_taken("two", writer, 7, mode));
    EXPECT_TRUE(is_taken("two", writer, 8, mode));
    EXPECT_EQ("1", release("two", 8));
    server.command({"DEL", keys[1]});
  }
}

// What it noted then would be hours ahead of everybody when its clock is right again (hazard 4).
TEST_F(quorum_rw_scripts, a_server_that_is_hours_ahead_of_a_reader_notes_no_proposal) {
  constexpr std::int64_t hour_us = 3'600'000'000;
  EXPECT_FALSE(is_taken("one", reader, -3 * hour_us));
  EXPECT_FALSE(has_vote("one"));
  EXPECT_EQ("(nil)", server.command({"GET", keys[1]}));
  EXPECT_TRUE(is_taken("one", reader, -hour_us / 2));
}

TEST_F(quorum_rw_scripts, a_top_up_is_given_beside_readers_only) {
  EXPECT_TRUE(is_taken("two", reader, 9));
  EXPECT_TRUE(is_taken("one", reader, 5, "again")) << "others have come since";
  EXPECT_EQ(proposed(9), server.command({"GET", keys[1]}));
  EXPECT_FALSE(is_taken("three", writer, 20, "again"));
  release("one", 5);
  release("two", 9);
  EXPECT_FALSE(is_taken("three", writer, 9, "again")) << "a later one was granted since";
  EXPECT_TRUE(is_taken("three", writer, 10, "again"));
}

TEST_F(quorum_rw_scripts, a_writer_that_waits_holds_back_readers_until_it_leaves) {
  EXPECT_TRUE(is_taken("one", reader, 1));
  EXPECT_FALSE(is_taken("two", writer, 2));
  EXPECT_TRUE(is_taken("three", reader, 3)) << "who only tries does not wait";
  EXPECT_FALSE(is_taken("two", writer, 4, "wait"));
  EXPECT_FALSE(is_taken("four", reader, 5));
  EXPECT_TRUE(is_taken("one", reader, 6)) << "it reads already";
  EXPECT_TRUE(is_taken("five", reader, 7, "again")) << "it holds already";
  EXPECT_EQ("0", release("six", 8, "leave"));
  EXPECT_FALSE(is_taken("four", reader, 9));
  EXPECT_EQ("0", release("two", 10, "leave"));
  EXPECT_TRUE(is_taken("four", reader, 11));
}

// Where it was refused, and others have voted for it since.
TEST_F(quorum_rw_scripts, a_writer_that_gives_the_lock_back_holds_nobody_back_any_more) {
  EXPECT_TRUE(is_taken("one", reader, 1));
  EXPECT_FALSE(is_taken("two", writer, 2, "wait"));
  EXPECT_EQ("1", release("one", 1));
  EXPECT_EQ("0", release("two", 2, "quiet"));
  EXPECT_FALSE(is_taken("three", reader, 3)) << "it asks on";
  EXPECT_EQ("0", release("two", 4, "tell"));
  EXPECT_TRUE(is_taken("three", reader, 5));
}

TEST_F(quorum_rw_scripts, in_quarantine_nobody_gets_a_vote_and_who_has_one_keeps_it) {
  EXPECT_TRUE(is_taken("one", reader, 1));
  server.command({"SET", keys[4], proposed(60'000'000)});
  EXPECT_FALSE(is_taken("two", reader, 2));
  EXPECT_EQ('1', renew("one", reader, 1).front());
  EXPECT_EQ("1", release("one", 1));
  EXPECT_FALSE(is_taken("two", writer, 3));
}

// A ballot can be one of an old snapshot (hazard 30).
TEST_F(quorum_rw_scripts, a_ballot_of_before_a_restart_does_not_hide_what_was_forgotten) {
  EXPECT_TRUE(is_taken("one", writer, -9));
  EXPECT_EQ("1", release("one", -9));
  server.command({"SET", keys[4], proposed(-5)});
  EXPECT_FALSE(is_taken("two", writer, -7));
  EXPECT_NE(std::string::npos, take("two", reader, -7).find(proposed(-4))) << "it has to be higher";
  EXPECT_EQ("1", release("two", -7));
  EXPECT_TRUE(is_taken("two", writer, -3));
}

TEST_F(quorum_rw_scripts, a_key_of_another_kind_is_not_touched) {
  for (const std::vector<std::string>& made :
       {std::vector<std::string>{"SET", keys[0], "x"}, {"HSET", keys[0], "a", "b"}}) {
    server.command({"DEL", keys[0]});
    server.command(made);
    const auto before = server.command({"DUMP", keys[0]});
    EXPECT_NE(std::string::npos, take("one", reader, 1).find("FOREIGN"));
    EXPECT_EQ("0\n1", renew("one", reader, 1));
    EXPECT_EQ("0", release("one", 1));
    EXPECT_EQ(before, server.command({"DUMP", keys[0]}));
  }
}

}  // namespace
}  // namespace mortise::testing::quorum_rw_scripts_test
