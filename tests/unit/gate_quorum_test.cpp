// A gate whose lock is granted by a quorum of servers. They have no queue and know no waiters.
#include <gtest/gtest.h>

#include "unit/gate_fixture.hpp"

namespace mortise::testing::gate_quorum_test {
namespace {

using lock::answer;
using lock::step;

class gate_quorum_test : public gate_test {
 public:
  gate_quorum_test() : gate_test(protocol::ballot()) {}

 protected:
  // As a quorum grants: others may wait.
  void hold_first() {
    ASSERT_TRUE(gate_.acquire(first_call_, start_ns).ok());
    answer_last(granted(first_token, 1, true), start_ns + ms(1));
    ASSERT_TRUE(gate_.is_held(first_, start_ns + ms(1)));
  }
  // Gives back what `first_` holds, past the time for passes.
  void unlock_first_at(time_ns now) {
    ASSERT_TRUE(gate_.unlock(first_, lock::hold_mode::exclusive, nullptr, now).ok());
    ASSERT_EQ(io_.last().what, step::release);
  }
};

TEST_F(gate_quorum_test, handles_of_a_client_never_split_the_votes) {
  ASSERT_TRUE(gate_.acquire(first_call_, start_ns).ok());
  ASSERT_TRUE(gate_.acquire(second_call_, start_ns).ok());
  EXPECT_EQ(io_.count(), 1U);
}

TEST_F(gate_quorum_test, a_pass_has_a_token_that_a_quorum_has_voted_for) {
  hold_first();
  gate_.acquire(second_call_, start_ns + ms(2));
  ASSERT_TRUE(gate_.unlock(first_, lock::hold_mode::exclusive, nullptr, start_ns + ms(3)).ok());
  EXPECT_EQ(io_.last().what, step::renew);
  EXPECT_GT(io_.last().reserve, 0);
  EXPECT_EQ(second_call_.finished, 0);
  auto drawn = result_of(answer::renewed);
  drawn.last_token = first_token + 1000;
  answer_last(drawn, start_ns + ms(4));
  EXPECT_EQ(second_call_.result.code, status::ok);
  EXPECT_GT(second_call_.given, first_call_.given);
}

// A round right behind the release, on the same connections, would always win.
TEST_F(gate_quorum_test, behind_its_own_release_a_client_lets_others_ask_first) {
  hold_first();
  gate_.acquire(second_call_, start_ns + ms(2));
  unlock_first_at(start_ns + ms(11));
  EXPECT_TRUE(gate_.is_queued()) << "so that it listens";
  const auto count = io_.count();
  gate_.on_free(start_ns + ms(12));
  ASSERT_EQ(io_.count(), count + 1);
  answer_last(granted(first_token + 1), start_ns + ms(13));
  EXPECT_TRUE(gate_.is_held(second_, start_ns + ms(13)));
}

// A gate that backs off knows of no holder and reports none, even with an open request.
TEST_F(gate_quorum_test, hazard_15_who_stood_back_does_not_tell_of_others_it_knows_nothing_of) {
  hold_first();
  gate_.acquire(second_call_, start_ns + ms(2));
  unlock_first_at(start_ns + ms(11));
  const auto release = io_.last();
  gate_.abandon(second_call_, status::timed_out, start_ns + ms(12));
  EXPECT_EQ(second_call_.result.code, status::timed_out);
  EXPECT_EQ(std::string::npos, second_call_.result.message.find("another client"))
      << second_call_.result.message;

  acquire_call third(second_);
  gate_.acquire(third, start_ns + ms(13));
  gate_.on_timer(gate_.next_timer());
  ASSERT_GT(io_.last().serial, 0U);
  ASSERT_NE(io_.last().claim_id, release.claim_id);
  gate_.abandon(third, status::timed_out, start_ns + ms(500));
  EXPECT_EQ(third.result.code, status::unknown) << third.result.message;
}

TEST_F(gate_quorum_test, nobody_stands_back_for_ever) {
  hold_first();
  gate_.acquire(second_call_, start_ns + ms(2));
  unlock_first_at(start_ns + ms(11));
  const auto count = io_.count();
  ASSERT_LT(gate_.next_timer(), start_ns + ms(11) + ns_per_s);
  gate_.on_timer(gate_.next_timer());
  ASSERT_EQ(io_.count(), count + 1);
  EXPECT_NE(io_.last().token, io_.requests.front().token);
}

TEST_F(gate_quorum_test, who_gives_up_while_it_stands_back_has_waited) {
  hold_first();
  gate_.acquire(second_call_, start_ns + ms(2));
  unlock_first_at(start_ns + ms(11));
  const auto count = io_.count();
  gate_.abandon(second_call_, status::timed_out, start_ns + ms(20));
  EXPECT_EQ(second_call_.result.code, status::timed_out);
  EXPECT_EQ(io_.count(), count) << "there is nothing to take back";
}

// The client may see too few servers to distinguish a holder from a split.
TEST_F(gate_quorum_test, a_try_whose_votes_stay_split_asks_a_few_times_only) {
  acquire_call tries(first_, true);
  gate_.acquire(tries, start_ns);
  auto split = result_of(answer::not_free);
  split.is_split = true;
  auto now = start_ns;
  int count = 1;
  for (answer_last(split, now += ms(1)); tries.finished == 0; answer_last(split, now += ms(1))) {
    ASSERT_LT(++count, 20);
    gate_.on_timer(now = gate_.next_timer());
  }
  EXPECT_EQ(tries.result.code, status::not_acquired);
}

// No client has it, so "another client holds it" would be wrong.
TEST_F(gate_quorum_test, a_try_whose_votes_were_split_asks_again) {
  acquire_call tries(first_, true);
  gate_.acquire(tries, start_ns);
  auto split = result_of(answer::not_free);
  split.is_split = true;
  for (int i = 1; i < 5; ++i) {
    answer_last(split, start_ns + ms(10 * i));
    ASSERT_EQ(tries.finished, 0);
    ASSERT_GT(start_ns + ms(10 * i) + 2 * ns_per_s, gate_.next_timer());
    gate_.on_timer(gate_.next_timer());
    EXPECT_EQ(io_.last().what, step::retake);
  }
  answer_last(result_of(answer::not_free), start_ns + ms(100));
  EXPECT_EQ(tries.result.code, status::not_acquired);
}

TEST_F(gate_quorum_test, a_try_whose_votes_stay_split_is_not_acquired) {
  acquire_call tries(first_, true);
  gate_.acquire(tries, start_ns);
  auto split = result_of(answer::not_free);
  split.is_split = true;
  answer_last(split, start_ns + ms(1));
  gate_.abandon(tries, status::timed_out, start_ns + ns_per_s);
  EXPECT_EQ(tries.result.code, status::not_acquired);
}

TEST_F(gate_quorum_test, who_had_to_wait_for_many_lets_others_ask_first) {
  gate_.acquire(first_call_, start_ns);
  auto taken = result_of(answer::not_free);
  taken.look_in_ns = 2 * ns_per_s;
  auto now = start_ns + ms(200);
  answer_last(taken, now);
  for (int turn = 0; turn < 20; ++turn) {
    gate_.on_free(now += ms(500));
    if (gate_.next_timer() < time_never) gate_.on_timer(now = std::max(now, gate_.next_timer()));
    answer_last(turn < 19 ? taken : granted(), now += ms(200));
  }
  ASSERT_TRUE(gate_.is_held(first_, now));
  ASSERT_TRUE(gate_.unlock(first_, lock::hold_mode::exclusive, nullptr, now).ok());
  answer_last(result_of(answer::released), now += ms(200));
  const auto count = io_.count();
  acquire_call again(first_);
  gate_.acquire(again, now);
  EXPECT_EQ(io_.count(), count);
  EXPECT_TRUE(gate_.is_queued()) << "so that it listens";
  ASSERT_GE(now + 2 * ns_per_s, gate_.next_timer());
  gate_.on_timer(gate_.next_timer());
  EXPECT_EQ(io_.count(), count + 1);
}

TEST_F(gate_quorum_test, a_try_does_not_stand_back) {
  hold_first();
  unlock_first_at(start_ns + ms(11));
  acquire_call tries(second_, true);
  gate_.acquire(tries, start_ns + ms(12));
  EXPECT_EQ(io_.last().what, step::try_take);
}

}  // namespace
}  // namespace mortise::testing::gate_quorum_test
