// The threads in the report of a gate, for the search for deadlocks.
#include <gtest/gtest.h>

#include "unit/gate_fixture.hpp"

namespace mortise::testing::gate_threads_test {
namespace {

class gate_threads : public gate_test {
 protected:
  void unlock_first() {
    ASSERT_TRUE(gate_.unlock(first_, lock::hold_mode::exclusive, &unlock_, start_ns + ms(2)).ok());
    lock::step_result released;
    released.what = lock::answer::released;
    answer_last(released, start_ns + ms(3));
    ASSERT_EQ(1, unlock_.finished);
  }
  other_call unlock_;
};

TEST_F(gate_threads, a_report_has_the_threads_that_hold_and_wait) {
  first_call_.thread = {11, 1};
  second_call_.thread = {22, 2};
  hold_first();
  ASSERT_TRUE(gate_.acquire(second_call_, start_ns + ms(2)).ok());
  const auto threads = gate_.report(start_ns + ms(5)).threads;
  ASSERT_EQ(2U, threads.size());
  EXPECT_TRUE(threads[0].is_hold);
  EXPECT_EQ(11U, threads[0].thread.id);
  EXPECT_EQ(1, threads[0].thread.number);
  EXPECT_EQ(lock::hold_mode::exclusive, threads[0].mode);
  EXPECT_EQ(1, threads[0].permits);
  EXPECT_EQ(ms(4), threads[0].lasts_ns);
  EXPECT_FALSE(threads[1].is_hold);
  EXPECT_EQ(22U, threads[1].thread.id);
  EXPECT_EQ(ms(3), threads[1].lasts_ns);
}

TEST_F(gate_threads, calls_that_block_no_thread_are_omitted) {
  hold_first();
  ASSERT_TRUE(gate_.acquire(second_call_, start_ns + ms(2)).ok());
  const auto report = gate_.report(start_ns + ms(5));
  EXPECT_EQ(1U, report.holds);
  EXPECT_EQ(1U, report.waiters);
  EXPECT_TRUE(report.threads.empty());
}

// It ends by itself, however long the server needs for its reply.
TEST_F(gate_threads, a_try_is_no_wait) {
  acquire_call call(first_, true);
  call.thread = {11, 1};
  ASSERT_TRUE(gate_.acquire(call, start_ns).ok());
  EXPECT_EQ(0, call.finished);
  const auto report = gate_.report(start_ns + ms(5));
  EXPECT_EQ(1U, report.waiters);
  EXPECT_TRUE(report.threads.empty());
}

TEST_F(gate_threads, a_hold_has_no_thread_of_an_earlier_hold) {
  first_call_.thread = {11, 1};
  hold_first();
  unlock_first();
  acquire_call without_thread{first_};
  ASSERT_TRUE(gate_.acquire(without_thread, start_ns + ms(4)).ok());
  answer_last(granted(), start_ns + ms(5));
  ASSERT_TRUE(gate_.is_held(first_, start_ns + ms(5)));
  EXPECT_TRUE(gate_.report(start_ns + ms(5)).threads.empty());
}

TEST_F(gate_threads, a_lease_that_has_ended_is_no_hold) {
  first_call_.thread = {11, 1};
  hold_first();
  EXPECT_TRUE(gate_.report(start_ns + ms(1'000'000)).threads.empty());
}

// ---- deadlock=fail --------------------------------------------------------------------------

TEST_F(gate_threads, only_a_wait_with_the_option_fails_in_a_deadlock) {
  second_call_.thread = {22, 2};
  hold_first();
  ASSERT_TRUE(gate_.acquire(second_call_, start_ns + ms(2)).ok());
  EXPECT_FALSE(gate_.report(start_ns + ms(5)).threads.back().fails_in_deadlock);
  second_.fails_in_deadlock = true;
  EXPECT_TRUE(gate_.report(start_ns + ms(5)).threads.back().fails_in_deadlock);
}

TEST_F(gate_threads, exactly_the_wait_that_was_seen_ends_in_a_deadlock) {
  second_.fails_in_deadlock = true;
  second_call_.thread = {22, 2};
  hold_first();
  ASSERT_TRUE(gate_.acquire(second_call_, start_ns + ms(2)).ok());
  const auto seen = gate_.report(start_ns + ms(5)).threads.back();
  const auto result = outcome::of(status::deadlock, "the circle");
  const auto end = [&](std::uint64_t thread, time_ns began) {
    return gate_.end_in_deadlock(thread, began, result, start_ns + ms(6));
  };
  EXPECT_FALSE(end(23, seen.began));
  EXPECT_FALSE(end(22, seen.began + 1));
  second_.fails_in_deadlock = false;
  EXPECT_FALSE(end(22, seen.began));
  EXPECT_EQ(0, second_call_.finished);
  second_.fails_in_deadlock = true;
  EXPECT_TRUE(end(22, seen.began));
  EXPECT_EQ(1, second_call_.finished);
  EXPECT_EQ(status::deadlock, second_call_.result.code);
  EXPECT_EQ("the circle", second_call_.result.words());
  // The next wait of the thread is another one.
  acquire_call next{second_};
  next.thread = {22, 2};
  ASSERT_TRUE(gate_.acquire(next, start_ns + ms(7)).ok());
  EXPECT_FALSE(end(22, seen.began));
  EXPECT_EQ(0, next.finished);
}

// As after a cancel: the place in the queue is released, and a grant on its way too.
TEST_F(gate_threads, a_wait_that_ends_in_a_deadlock_leaves_nothing_at_the_server) {
  first_.fails_in_deadlock = true;
  first_call_.thread = {11, 1};
  ASSERT_TRUE(gate_.acquire(first_call_, start_ns).ok());
  answer_last(queued(5000, 0), start_ns + ms(1));
  const auto token = std::string(io_.last().token);
  ASSERT_TRUE(gate_.end_in_deadlock(11, first_call_.began, outcome::of(status::deadlock),
                                    start_ns + ms(5)));
  EXPECT_EQ(status::deadlock, first_call_.result.code);
  EXPECT_EQ(lock::step::cancel, io_.last().what);
  EXPECT_EQ(token, io_.last().token);
  EXPECT_FALSE(gate_.is_held(first_, start_ns + ms(6)));
}

}  // namespace
}  // namespace mortise::testing::gate_threads_test
