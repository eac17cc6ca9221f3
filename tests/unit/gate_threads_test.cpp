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

}  // namespace
}  // namespace mortise::testing::gate_threads_test
