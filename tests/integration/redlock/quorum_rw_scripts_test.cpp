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
  std::string raise(const std::string& owner, std::int64_t proposal,
                    const std::string& ttl_ms = "60000") {
    return call(scripts::ballot_rw_raise, 5, {owner, ttl_ms, proposed(proposal)});
  }
  bool is_raised(const std::string& owner, std::int64_t proposal) {
    return raise(owner, proposal).front() == '1';
  }
  // "<weight> <proposal> <end of the lease>"
  std::string vote_of(const std::string& owner) { return server.command({"HGET", keys[0], owner}); }
  std::int64_t end_of(const std::string& owner) {
    const auto vote = vote_of(owner);
    return std::stoll(vote.substr(vote.rfind(' ')));
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
  EXPECT_EQ("0\n2", renew("one", writer, 1)) << "it is a reader's";
  EXPECT_TRUE(is_taken("two", reader, 2));
  EXPECT_EQ("0\n3", renew("one", writer, 1)) << "it is a reader's, beside another";
  EXPECT_EQ("1", release("two", 2));
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

// ---- upgrades and downgrades ----------------------------------------------------------------

TEST_F(quorum_rw_scripts, only_a_reader_without_others_is_raised) {
  EXPECT_TRUE(is_taken("one", reader, 1));
  EXPECT_TRUE(is_taken("two", reader, 2));
  const auto before = vote_of("one");
  EXPECT_FALSE(is_raised("one", 3));
  EXPECT_FALSE(is_raised("two", 4)) << "of two that upgrade none waits for the other";
  EXPECT_EQ(before, vote_of("one"));
  EXPECT_EQ("1", release("two", 2));
  EXPECT_TRUE(is_raised("one", 5));
  EXPECT_TRUE(is_raised("one", 5)) << "asked again, as the answer was lost (hazard 15)";
  EXPECT_FALSE(is_taken("two", reader, 6));
  EXPECT_EQ("0", renew("two", reader, 6).substr(0, 1));
  EXPECT_EQ("-1\n0", raise("two", 7)) << "it gives no vote (hazard 17)";
  EXPECT_FALSE(has_vote("two"));
  EXPECT_EQ('1', renew("one", writer, 5).front());
  EXPECT_EQ("1", release("one", 5));
}

// Hazard 30.
TEST_F(quorum_rw_scripts, a_raise_needs_a_proposal_above_all) {
  EXPECT_TRUE(is_taken("one", reader, 1));
  EXPECT_TRUE(is_taken("two", reader, 8));
  EXPECT_EQ("1", release("two", 8));
  const auto refused = raise("one", 8);
  EXPECT_EQ(0U, refused.find("0\n" + proposed(8))) << refused;
  EXPECT_NE(std::string::npos, refused.find("\n-2\n-1")) << refused;
  EXPECT_TRUE(is_raised("one", 9));
  EXPECT_EQ(proposed(9), server.command({"GET", keys[1]}));
  EXPECT_EQ("1", release("one", 9));
  EXPECT_FALSE(is_taken("three", writer, 9));
}

// Hazard 17.
TEST_F(quorum_rw_scripts, a_raised_vote_lasts_as_long_as_the_hold_and_never_shorter) {
  EXPECT_TRUE(is_taken("one", reader, 1));
  const auto end = end_of("one");
  EXPECT_EQ('1', raise("one", 2, "5000").front());
  EXPECT_EQ(end, end_of("one"));
  EXPECT_EQ('1', raise("one", 3, "150000").front());
  EXPECT_GT(end_of("one"), end + 60'000);
  EXPECT_GT(std::stoll(server.command({"PTTL", keys[0]})), 120'000);
  const auto longer = end_of("one");
  EXPECT_EQ('1', renew("one", reader, 4).front());
  EXPECT_EQ(longer, end_of("one")) << "what is lowered is not shortened";
  EXPECT_TRUE(is_taken("one", reader, 5, "again"));
  EXPECT_EQ(longer, end_of("one")) << "a vote that was not lost is not shortened";
}

// Hazard 16.
TEST_F(quorum_rw_scripts, a_late_request_changes_no_mode) {
  EXPECT_TRUE(is_taken("one", reader, 1));
  EXPECT_TRUE(is_raised("one", 5));
  EXPECT_EQ("0\n2", renew("one", reader, 4)) << "a renewal of before the upgrade";
  EXPECT_EQ("0\n2", renew("one", reader, 5));
  EXPECT_FALSE(is_taken("one", reader, 6, "again"));
  EXPECT_EQ('1', renew("one", reader, 7).front());
  EXPECT_EQ(0U, vote_of("one").find("1 " + proposed(7)));
  EXPECT_FALSE(is_raised("one", 6)) << "an upgrade of before the downgrade";
  EXPECT_FALSE(is_taken("one", writer, 6, "again"));
  EXPECT_TRUE(is_taken("two", reader, 8));
}

// The vote that was missing when the others were raised.
TEST_F(quorum_rw_scripts, an_upgraded_hold_asks_again_where_its_vote_is_a_readers) {
  EXPECT_TRUE(is_taken("one", reader, 1));
  EXPECT_TRUE(is_taken("two", reader, 2));
  EXPECT_FALSE(is_taken("one", writer, 3, "again"));
  EXPECT_EQ("1", release("two", 2));
  EXPECT_FALSE(is_taken("one", writer, 2, "again")) << "a later one was granted since";
  EXPECT_TRUE(is_taken("one", writer, 4, "again"));
  EXPECT_EQ('1', renew("one", writer, 4).front());
  EXPECT_FALSE(is_taken("two", reader, 5));
}

// Other readers may be forgotten (hazard 11).
TEST_F(quorum_rw_scripts, in_quarantine_no_vote_is_raised_and_a_lowered_one_is) {
  EXPECT_TRUE(is_taken("one", reader, 1));
  EXPECT_TRUE(is_taken("two", reader, 2));
  EXPECT_EQ("1", release("two", 2));
  server.command({"SET", keys[4], proposed(60'000'000)});
  EXPECT_NE(std::string::npos, raise("one", 3).find("QUARANTINE"));
  server.command({"DEL", keys[4]});
  EXPECT_TRUE(is_raised("one", 3));
  server.command({"SET", keys[4], proposed(60'000'000)});
  EXPECT_EQ('1', renew("one", reader, 4).front());
}

// The end of the quarantine stands for forgotten proposals (hazard 30).
TEST_F(quorum_rw_scripts, a_raise_needs_a_proposal_above_those_that_were_forgotten) {
  EXPECT_TRUE(is_taken("one", reader, -9));
  server.command({"SET", keys[4], proposed(-5)});
  EXPECT_FALSE(is_raised("one", -7));
  EXPECT_TRUE(is_raised("one", -3));
}

TEST_F(quorum_rw_scripts, a_proposal_far_ahead_of_the_clock_raises_nothing) {
  EXPECT_TRUE(is_taken("one", reader, 1));
  EXPECT_NE(std::string::npos, raise("one", 3 * std::int64_t{3'600'000'000}).find("CLOCK"));
  EXPECT_EQ(0U, vote_of("one").find("1 "));
}

TEST_F(quorum_rw_scripts, a_key_of_another_kind_is_not_touched) {
  for (const std::vector<std::string>& made :
       {std::vector<std::string>{"SET", keys[0], "x"}, {"HSET", keys[0], "a", "b"}}) {
    server.command({"DEL", keys[0]});
    server.command(made);
    const auto before = server.command({"DUMP", keys[0]});
    EXPECT_NE(std::string::npos, take("one", reader, 1).find("FOREIGN"));
    EXPECT_EQ("0\n1", renew("one", reader, 1));
    EXPECT_EQ("-1\n0", raise("one", 1));
    EXPECT_EQ("0", release("one", 1));
    EXPECT_NE(std::string::npos, release("one", 1, "force").find("FOREIGN"));
    EXPECT_EQ(before, server.command({"DUMP", keys[0]}));
  }
}

}  // namespace
}  // namespace mortise::testing::quorum_rw_scripts_test
