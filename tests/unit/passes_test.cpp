// How many passes there are in a row, and how many fencing tokens are drawn for them.
#include "lock/gate/passes.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace mortise::testing::passes_test {
namespace {

constexpr time_ns start_ns = 1'000'000;

TEST(passes, are_over_after_a_batch_and_stay_so) {
  lock::passes passes;
  passes.begin_claim(start_ns);
  for (int i = 0; i < lock::batch_passes; ++i) {
    EXPECT_FALSE(passes.is_over(start_ns)) << i;
    passes.note_pass();
  }
  for (int i = 0; i < 1000; ++i) passes.note_pass();
  EXPECT_TRUE(passes.is_over(start_ns));
  EXPECT_EQ(passes.tokens_to_draw(true, start_ns), 1);
}

TEST(passes, draw_at_least_one_token_and_no_more_than_can_be_used) {
  lock::passes passes;
  passes.begin_claim(start_ns);
  for (int i = 0; i < 1000; ++i) passes.note_handed_out();
  const auto late = start_ns + 1'000'000'000;
  EXPECT_EQ(passes.tokens_to_draw(false, late), lock::reserve_tokens);
  EXPECT_EQ(passes.tokens_to_draw(true, late), lock::batch_passes);
  for (int i = 1; i <= 2 * lock::batch_passes; ++i) {
    passes.note_pass();
    EXPECT_EQ(passes.tokens_to_draw(true, late), std::max(lock::batch_passes - i, 1)) << i;
  }
}

}  // namespace
}  // namespace mortise::testing::passes_test
