// The calls of a gate after their server has stopped serving.
#include "unit/gate_fixture.hpp"

namespace mortise::testing::gate_failover_test {
namespace {

using lock::answer;
using lock::step;

class gate_failover_test : public gate_test {
 protected:
  // The server has refused, its connection ends, and the next one is there.
  void move(time_ns now) {
    answer_last(refused("READONLY You can't write"), now);
    io_.is_up = false;
    io_.is_up = true;
    gate_.on_up(now);
  }
};

TEST_F(gate_failover_test, hazard_28_what_a_replica_refused_is_asked_again_at_the_next_server) {
  acquire_call tried(first_, true);
  ASSERT_TRUE(gate_.acquire(tried, start_ns).ok());
  move(start_ns + ms(1));
  EXPECT_EQ(tried.finished, 0);
  answer_last(granted(), start_ns + ms(2));
  ASSERT_TRUE(tried.result.ok() && tried.finished == 1);

  gate_.on_timer(start_ns + ms(12'000));
  ASSERT_EQ(io_.last().what, step::renew);
  move(start_ns + ms(12'001));
  EXPECT_EQ(io_.last().what, step::renew);
  answer_last(result_of(answer::renewed), start_ns + ms(12'002));
  EXPECT_TRUE(gate_.is_held(first_, start_ns + ms(40'000)));

  other_call unlocked;
  ASSERT_TRUE(
      gate_.unlock(first_, lock::hold_mode::exclusive, &unlocked, start_ns + ms(13'000)).ok());
  move(start_ns + ms(13'001));
  EXPECT_EQ(unlocked.finished, 0);
  answer_last(result_of(answer::released), start_ns + ms(13'002));
  EXPECT_TRUE(unlocked.result.ok() && unlocked.finished == 1);
}

// The earlier acknowledgement is void. Each later request is acknowledged again.
TEST_F(gate_failover_test, hazard_7_a_hold_that_another_server_has_now_waits_for_its_renewal) {
  hold_first();
  gate_.on_timer(start_ns + ms(12'000));
  ASSERT_EQ(io_.last().what, step::renew);
  const auto before = io_.last().serial;
  gate_.on_unacknowledged();
  EXPECT_FALSE(gate_.is_held(first_, start_ns + ms(12'001)));
  EXPECT_TRUE(gate_.lasts(first_, start_ns + ms(12'001))) << "it is not lost";
  answer_last(result_of(answer::renewed), start_ns + ms(12'002));
  EXPECT_FALSE(gate_.is_held(first_, start_ns + ms(12'003)));
  gate_.on_up(start_ns + ms(12'004));
  ASSERT_EQ(io_.last().serial, before + 1);
  answer_last(result_of(answer::renewed), start_ns + ms(12'005));
  EXPECT_TRUE(gate_.is_held(first_, start_ns + ms(12'006)));
}

// A waiter gets the grant of the next server, and relies on no reply of the one before.
TEST_F(gate_failover_test, hazard_7_a_grant_counts_that_was_asked_of_the_server_of_now) {
  ASSERT_TRUE(gate_.acquire(first_call_, start_ns).ok());
  gate_.on_unacknowledged();
  answer_last(granted(), start_ns + ms(1));
  EXPECT_FALSE(gate_.is_held(first_, start_ns + ms(1)));
  ASSERT_TRUE(gate_.unlock(first_, lock::hold_mode::exclusive, nullptr, start_ns + ms(2)).ok());
  answer_last(result_of(answer::released), start_ns + ms(3));

  acquire_call again(first_);
  ASSERT_TRUE(gate_.acquire(again, start_ns + ms(4)).ok());
  const auto lost = io_.last();
  gate_.on_unacknowledged();
  gate_.on_answer(lost.claim_id, lost.serial, result_of(answer::broken), start_ns + ms(5));
  gate_.on_up(start_ns + ms(6));
  answer_last(granted(), start_ns + ms(7));
  EXPECT_TRUE(gate_.is_held(first_, start_ns + ms(7)));
}

// No handle of this client gets a claim that is not acknowledged.
TEST_F(gate_failover_test, hazard_7_what_is_not_acknowledged_is_not_passed_on) {
  hold_first();
  acquire_call waiting(second_);
  ASSERT_TRUE(gate_.acquire(waiting, start_ns + ms(1)).ok());
  gate_.on_unacknowledged();
  ASSERT_TRUE(gate_.unlock(first_, lock::hold_mode::exclusive, nullptr, start_ns + ms(2)).ok());
  EXPECT_EQ(waiting.finished, 0);
  EXPECT_NE(io_.last().what, step::renew);
}

// The pass waits for a renewal that draws its token. The master fails over before its reply.
TEST_F(gate_failover_test, hazard_7_a_renewal_of_before_the_doubt_passes_nothing_on) {
  hold_first();
  acquire_call waiting(second_);
  ASSERT_TRUE(gate_.acquire(waiting, start_ns + ms(1)).ok());
  ASSERT_TRUE(gate_.unlock(first_, lock::hold_mode::exclusive, nullptr, start_ns + ms(2)).ok());
  ASSERT_EQ(io_.last().what, step::renew) << "it draws a token";
  gate_.on_unacknowledged();
  auto drawn = result_of(answer::renewed);
  drawn.last_token = first_token + 1;
  answer_last(drawn, start_ns + ms(3));
  EXPECT_EQ(waiting.finished, 0);
  EXPECT_FALSE(gate_.is_held(second_, start_ns + ms(3)));
}

TEST_F(gate_failover_test, an_extension_that_was_not_carried_out_comes_with_the_next_connection) {
  hold_first();
  other_call refused_one;
  ASSERT_TRUE(gate_.extend(first_, 60'000, refused_one, start_ns + ms(10)).ok());
  move(start_ns + ms(11));
  EXPECT_EQ(refused_one.finished, 0);
  answer_last(result_of(answer::renewed), start_ns + ms(12));
  EXPECT_TRUE(refused_one.result.ok() && refused_one.finished == 1);
  EXPECT_GE(gate_.valid_until(first_), start_ns + ms(60'010));

  io_.is_up = false;
  other_call unsent_one;
  ASSERT_TRUE(gate_.extend(first_, 90'000, unsent_one, start_ns + ms(20)).ok());
  io_.is_up = true;
  gate_.on_up(start_ns + ms(30));
  EXPECT_EQ(unsent_one.finished, 0);
  answer_last(result_of(answer::renewed), start_ns + ms(31));
  EXPECT_TRUE(unsent_one.result.ok() && unsent_one.finished == 1);
  EXPECT_GE(gate_.valid_until(first_), start_ns + ms(90'020));
}

// To the nanosecond: the renewal of a hold that ends at a time asks in milliseconds.
TEST_F(gate_failover_test, an_unsent_extension_of_an_unrenewed_hold_asks_for_no_less) {
  first_.renews = false;
  hold_first();
  io_.is_up = false;
  other_call extended;
  ASSERT_TRUE(gate_.extend(first_, 60'000, extended, start_ns + ms(10) + 1).ok());
  io_.is_up = true;
  gate_.on_up(start_ns + ms(30));
  answer_last(result_of(answer::renewed), start_ns + ms(31));
  EXPECT_TRUE(extended.result.ok() && extended.finished == 1);
}

TEST_F(gate_failover_test, a_call_whose_time_is_up_before_returns_the_reason) {
  ASSERT_TRUE(gate_.acquire(first_call_, start_ns).ok());
  answer_last(refused("READONLY You can't write"), start_ns + ms(1));
  gate_.abandon(first_call_, status::timed_out, start_ns + ms(100));
  EXPECT_EQ(first_call_.result.code, status::refused);
  EXPECT_EQ(first_call_.result.server_text, "READONLY You can't write");

  hold_first();
  io_.is_up = false;
  other_call extended;
  ASSERT_TRUE(gate_.extend(first_, 60'000, extended, start_ns + ms(10)).ok());
  gate_.abandon(extended, status::timed_out, start_ns + ms(3000));
  EXPECT_EQ(extended.result.code, status::unreachable) << "nothing was sent";
  EXPECT_FALSE(extended.result.is_ambiguous);
  EXPECT_TRUE(gate_.is_held(first_, start_ns + ms(3000))) << "the old deadline stands";
}

TEST_F(gate_failover_test, hazard_28_an_extension_whose_connection_broke_may_have_been_made) {
  hold_first();
  other_call extended;
  ASSERT_TRUE(gate_.extend(first_, 60'000, extended, start_ns + ms(10)).ok());
  answer_last(result_of(answer::broken), start_ns + ms(11));
  io_.is_up = false;
  EXPECT_EQ(extended.finished, 0);
  gate_.abandon(extended, status::timed_out, start_ns + ms(3000));
  EXPECT_EQ(extended.result.code, status::unknown);
  EXPECT_TRUE(extended.result.is_ambiguous);
}

TEST_F(gate_failover_test, a_reason_that_has_passed_is_not_reported) {
  ASSERT_TRUE(gate_.acquire(first_call_, start_ns).ok());
  move(start_ns + ms(1));
  answer_last(queued(5000, 3), start_ns + ms(2));
  gate_.abandon(first_call_, status::timed_out, start_ns + ms(100));
  EXPECT_EQ(first_call_.result.code, status::timed_out);
}

TEST_F(gate_failover_test, hazard_14_a_hold_that_the_next_server_does_not_know_is_lost) {
  hold_first();
  io_.is_up = false;
  io_.is_up = true;
  gate_.on_up(start_ns + ms(50));
  ASSERT_EQ(io_.last().what, step::renew);
  EXPECT_TRUE(gate_.is_held(first_, start_ns + ms(51))) << "until the server has said it";
  answer_last(result_of(answer::not_owner), start_ns + ms(52));
  EXPECT_EQ(lost_, &first_);
  EXPECT_FALSE(gate_.is_held(first_, start_ns + ms(52)));
}

TEST_F(gate_failover_test, an_extension_that_waited_for_a_connection_is_a_whole_lease) {
  hold_first();
  io_.is_up = false;
  other_call extended;
  ASSERT_TRUE(gate_.extend(first_, 60'000, extended, start_ns + ms(10)).ok());
  io_.is_up = true;
  gate_.on_up(start_ns + ms(5000));
  answer_last(result_of(answer::renewed), start_ns + ms(5001));
  ASSERT_TRUE(extended.result.ok() && extended.finished == 1);
  const auto count = io_.count();
  while (io_.count() == count) gate_.on_timer(gate_.next_timer());
  EXPECT_EQ(io_.last().ttl_ms, lock::server_ttl_ms(60'000));
}

// A program may stop its work by the old deadline. Other clients then wait for no longer.
TEST_F(gate_failover_test, hazard_28_an_extension_that_was_never_sent_is_not_sent_later) {
  hold_first();
  io_.is_up = false;
  other_call extended;
  ASSERT_TRUE(gate_.extend(first_, 3'600'000, extended, start_ns + ms(10)).ok());
  gate_.abandon(extended, status::timed_out, start_ns + ms(3000));
  ASSERT_EQ(extended.result.code, status::unreachable);
  io_.is_up = true;
  gate_.on_up(start_ns + ms(3010));
  ASSERT_EQ(io_.last().what, step::renew);
  EXPECT_EQ(io_.last().ttl_ms, lock::server_ttl_ms(30'000));
  answer_last(result_of(answer::renewed), start_ns + ms(3011));
  gate_.on_timer(start_ns + ms(15'000));
  ASSERT_EQ(io_.last().what, step::renew);
  EXPECT_EQ(io_.last().ttl_ms, lock::server_ttl_ms(30'000)) << "nor does the lease stay";
}

TEST_F(gate_failover_test, hazard_28_an_extension_in_doubt_is_not_sent_again) {
  hold_first();
  other_call extended;
  ASSERT_TRUE(gate_.extend(first_, 3'600'000, extended, start_ns + ms(10)).ok());
  answer_last(result_of(answer::broken), start_ns + ms(11));
  io_.is_up = false;
  gate_.abandon(extended, status::timed_out, start_ns + ms(3000));
  ASSERT_EQ(extended.result.code, status::unknown);
  io_.is_up = true;
  gate_.on_up(start_ns + ms(3010));
  EXPECT_EQ(io_.last().ttl_ms, lock::server_ttl_ms(30'000));
  answer_last(result_of(answer::renewed), start_ns + ms(3011));
  // The server may have executed it: until its end the release is repeated.
  other_call unlocked;
  ASSERT_TRUE(
      gate_.unlock(first_, lock::hold_mode::exclusive, &unlocked, start_ns + ms(4000)).ok());
  answer_last(result_of(answer::broken), start_ns + ms(4001));
  gate_.on_timer(start_ns + ms(600'000));
  EXPECT_FALSE(gate_.is_idle());
}

TEST_F(gate_failover_test, an_extension_whose_caller_has_given_up_may_succeed) {
  first_.max_hold_ms = -1;
  hold_first();
  other_call extended;
  ASSERT_TRUE(gate_.extend(first_, 3'600'000, extended, start_ns + ms(10)).ok());
  gate_.abandon(extended, status::timed_out, start_ns + ms(3000));
  ASSERT_EQ(extended.result.code, status::unknown);
  answer_last(result_of(answer::renewed), start_ns + ms(3001));
  EXPECT_EQ(gate_.valid_until(first_), start_ns + ms(3'600'010));
  // Its lease then is that of the renewals, so none comes so late that the hold is at risk.
  for (auto now = gate_.next_timer(); now < start_ns + ms(3'600'000); now = gate_.next_timer()) {
    const auto count = io_.count();
    gate_.on_timer(now);
    if (io_.count() > count) answer_last(result_of(answer::renewed), now + ms(1));
  }
  EXPECT_EQ(at_risk_, nullptr);
  EXPECT_EQ(lost_, nullptr);
}

}  // namespace
}  // namespace mortise::testing::gate_failover_test
