// Unlocks that end when they are sent (`release=sent`).
#include "unit/gate_fixture.hpp"

namespace mortise::testing::gate_sent_test {
namespace {

using lock::answer;
using lock::step;

class gate_sent_test : public gate_test {
 protected:
  explicit gate_sent_test(const protocol::table& rules = protocol::queued()) : gate_test(rules) {
    first_.unlocks_by_sending = true;
  }
  // The first has acquired and unlocked, and the unlock has ended.
  void unlock_first() {
    hold_first();
    ASSERT_TRUE(
        gate_.unlock(first_, lock::hold_mode::exclusive, &unlocked_, start_ns + ms(2)).ok());
    ASSERT_EQ(unlocked_.finished, 1);
    ASSERT_EQ(unlocked_.result.code, status::ok);
    ASSERT_EQ(io_.last().what, step::release_alone);
  }
  other_call unlocked_;
};

TEST_F(gate_sent_test, an_unlock_ends_before_its_answer_and_the_handle_goes_on_behind_it) {
  unlock_first();
  const auto released = io_.last();
  EXPECT_FALSE(gate_.is_held(first_, start_ns + ms(2)));
  acquire_call again(first_);
  ASSERT_TRUE(gate_.acquire(again, start_ns + ms(3)).ok());
  EXPECT_EQ(io_.last().what, step::try_take);
  EXPECT_NE(io_.last().token, released.token);
  gate_.on_answer(released.claim_id, released.serial, result_of(answer::released),
                  start_ns + ms(4));
  EXPECT_EQ(unlocked_.finished, 1);
  answer_last(granted(first_token + 1), start_ns + ms(4));
  EXPECT_EQ(again.result.code, status::ok);
  EXPECT_EQ(failed_releases_, 0);
}

TEST_F(gate_sent_test, hazard_17_who_waited_unheard_is_handed_the_lock_behind_the_callers_back) {
  unlock_first();
  answer_last(result_of(answer::others_waiting), start_ns + ms(3));
  EXPECT_EQ(io_.last().what, step::release);
  answer_last(result_of(answer::handed_over), start_ns + ms(4));
  EXPECT_TRUE(gate_.is_idle());
  EXPECT_EQ(failed_releases_, 0);
}

TEST_F(gate_sent_test, a_loss_that_the_answer_tells_of_is_the_listeners) {
  unlock_first();
  answer_last(result_of(answer::not_owner), start_ns + ms(3));
  EXPECT_EQ(failed_releases_, 1);
  EXPECT_EQ(failed_release_.code, status::lost);
  EXPECT_EQ(unlocked_.result.code, status::ok);
}

TEST_F(gate_sent_test, a_refusal_is_reported_once_and_the_release_is_tried_on) {
  unlock_first();
  answer_last(refused("NOPERM"), start_ns + ms(3));
  EXPECT_EQ(failed_releases_, 1);
  EXPECT_EQ(failed_release_.code, status::refused);
  const auto count = io_.count();
  gate_.on_timer(gate_.next_timer());
  EXPECT_EQ(io_.count(), count + 1);
  answer_last(refused("NOPERM"), start_ns + ms(500));
  EXPECT_EQ(failed_releases_, 1);
}

TEST_F(gate_sent_test, hazard_15_without_a_connection_the_unlock_waits_for_its_answer) {
  hold_first();
  io_.is_up = false;
  unlocked_.deadline = start_ns + ms(100);
  ASSERT_TRUE(gate_.unlock(first_, lock::hold_mode::exclusive, &unlocked_, start_ns + ms(2)).ok());
  EXPECT_EQ(unlocked_.finished, 0);
  gate_.on_timer(start_ns + ms(100));
  EXPECT_EQ(unlocked_.result.code, status::unreachable);
}

TEST_F(gate_sent_test, a_release_that_a_broken_connection_left_open_is_asked_again) {
  unlock_first();
  answer_last(result_of(answer::broken), start_ns + ms(3));
  gate_.on_up(start_ns + ms(10));
  EXPECT_EQ(io_.last().what, step::release_alone);
  answer_last(result_of(answer::not_owner), start_ns + ms(11));  // the first was carried out
  EXPECT_EQ(failed_releases_, 0);
  EXPECT_TRUE(gate_.is_idle());
}

class gate_sent_polling_test : public gate_sent_test {
 protected:
  gate_sent_polling_test() : gate_sent_test(protocol::ballot()) {}
};

TEST_F(gate_sent_polling_test, where_nobody_queues_the_next_acquire_asks_at_once) {
  hold_first();
  ASSERT_TRUE(gate_.unlock(first_, lock::hold_mode::exclusive, &unlocked_, start_ns + ms(2)).ok());
  ASSERT_EQ(unlocked_.finished, 1);
  const auto count = io_.count();
  acquire_call again(first_);
  ASSERT_TRUE(gate_.acquire(again, start_ns + ms(3)).ok());
  EXPECT_EQ(io_.count(), count + 1);
}

// close() sends the release once more, in case waiters exist. Its reply comes second.
TEST_F(gate_sent_test, hazard_23_a_release_that_a_closing_client_repeats_reports_no_loss) {
  unlock_first();
  const auto released = io_.last();
  gate_.close(start_ns + ms(3));
  const auto repeated = io_.last();
  ASSERT_EQ(repeated.what, step::release);
  gate_.on_answer(released.claim_id, released.serial, result_of(answer::released),
                  start_ns + ms(4));
  gate_.on_answer(repeated.claim_id, repeated.serial, result_of(answer::not_owner),
                  start_ns + ms(5));
  EXPECT_EQ(failed_releases_, 0);
  EXPECT_TRUE(gate_.is_idle());
}

TEST_F(gate_sent_test, hazard_23_the_repeated_release_follows_one_in_doubt) {
  unlock_first();
  const auto released = io_.last();
  gate_.close(start_ns + ms(3));
  const auto repeated = io_.last();
  gate_.on_answer(released.claim_id, released.serial, result_of(answer::broken), start_ns + ms(4));
  gate_.on_answer(repeated.claim_id, repeated.serial, result_of(answer::not_owner),
                  start_ns + ms(5));
  EXPECT_EQ(failed_releases_, 0);
}

}  // namespace
}  // namespace mortise::testing::gate_sent_test
