#include "deployment/redlock/votes/answer_times.hpp"

#include <gtest/gtest.h>

namespace mortise::testing::answer_times_test {
namespace {

TEST(answer_times, a_slow_minority_changes_nothing) {
  quorum::answer_times times(3);
  EXPECT_EQ(0, times.of_quorum());
  times.note(0, 10);
  times.note(1, 500);
  times.note(2, 20);
  EXPECT_EQ(20, times.of_quorum());
}

TEST(answer_times, rise_at_once_and_fall_slowly) {
  quorum::answer_times times(1);
  times.note(0, 800);
  times.note(0, 0);
  EXPECT_EQ(700, times.of_quorum());
  times.note(0, 900);
  EXPECT_EQ(900, times.of_quorum());
}

}  // namespace
}  // namespace mortise::testing::answer_times_test
