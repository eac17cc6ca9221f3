// What a hold may not do between a message about its forced release and the server's reply.
#include "unit/gate_fixture.hpp"

namespace mortise::testing::gate_force_test {
namespace {

using lock::answer;
using lock::hold_mode;
using lock::step;

// A local waiter exists, and tokens for it, when a message reports a forced release.
class gate_force_test : public gate_test {
 protected:
  void unlock_during_the_check() {
    ASSERT_TRUE(gate_.acquire(first_call_, start_ns).ok());
    answer_last(granted(first_token, many_tokens), start_ns + ms(1));
    ASSERT_TRUE(gate_.acquire(second_call_, start_ns + ms(2)).ok());
    gate_.on_forced(io_.last().token, start_ns + ms(3));
    check_ = io_.last();
    ASSERT_EQ(check_.what, step::renew);
    other_call unlocked;
    ASSERT_TRUE(gate_.unlock(first_, hold_mode::exclusive, &unlocked, start_ns + ms(4)).ok());
    EXPECT_TRUE(unlocked.result.ok());
    EXPECT_EQ(second_call_.finished, 0);
  }
  void answer_check(answer what) {
    gate_.on_answer(check_.claim_id, check_.serial, result_of(what), start_ns + ms(5));
  }
  sent_request check_{};
};

// Otherwise the next local waiter would work next to the new owner of the lock.
TEST_F(gate_force_test, hazard_17_a_reported_force_is_checked_before_the_next_waiter_holds) {
  unlock_during_the_check();
  answer_check(answer::not_owner);
  EXPECT_EQ(second_call_.finished, 0);
  EXPECT_NE(io_.last().token, check_.token) << "the waiter requests the lock itself";
  answer_last(granted(first_token + 1000), start_ns + ms(6));
  EXPECT_TRUE(second_call_.result.ok());
}

TEST_F(gate_force_test, hazard_32_a_false_report_of_force_costs_a_pass_one_request) {
  unlock_during_the_check();
  const auto count = io_.count();
  answer_check(answer::renewed);
  EXPECT_EQ(second_call_.finished, 1);
  EXPECT_TRUE(gate_.is_held(second_, start_ns + ms(5)));
  EXPECT_EQ(io_.count(), count);
  EXPECT_EQ(io_.last().token, check_.token) << "of the same claim";
}

// The reply may be older than the forced release. To wait for another one could take without end,
// if false reports follow each other (hazard 32).
TEST_F(gate_force_test, hazard_17_a_renewal_from_before_a_report_of_force_passes_nothing_on) {
  hold_first();
  ASSERT_TRUE(gate_.acquire(second_call_, start_ns + ms(2)).ok());
  other_call unlocked;
  ASSERT_TRUE(gate_.unlock(first_, hold_mode::exclusive, &unlocked, start_ns + ms(3)).ok());
  ASSERT_EQ(io_.last().what, step::renew) << "the pass draws a token";
  const auto claim = io_.last().token;
  gate_.on_forced(claim, start_ns + ms(4));
  auto drawn = result_of(answer::renewed);
  drawn.last_token = first_token + 1000;
  answer_last(drawn, start_ns + ms(5));
  EXPECT_EQ(second_call_.finished, 0);
  EXPECT_NE(io_.last().token, claim) << "the waiter requests the lock itself";
  answer_last(granted(first_token + 2000), start_ns + ms(6));
  EXPECT_TRUE(second_call_.result.ok());
}

}  // namespace
}  // namespace mortise::testing::gate_force_test
