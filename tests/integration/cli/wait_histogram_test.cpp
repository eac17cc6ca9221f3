// The wait histogram of top, from the waits that clients report.
#include "cli/text/wait_histogram.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace mortise::cli {
namespace {

TEST(wait_histogram, has_the_bound_that_a_part_has_not_waited_longer_than) {
  wait_histogram some;
  EXPECT_TRUE(some.is_empty());
  EXPECT_FALSE(some.percentile_ms(0.5));
  some.add("0.0005:98 2.5:1 +Inf:1");
  EXPECT_EQ(0.5, some.percentile_ms(0.5));
  EXPECT_EQ(0.5, some.percentile_ms(0.98));
  EXPECT_EQ(2500, some.percentile_ms(0.99));
  EXPECT_TRUE(std::isinf(*some.percentile_ms(1)));
}

TEST(wait_histogram, leaves_what_it_does_not_understand) {
  wait_histogram some;
  some.add("");
  some.add("more");
  EXPECT_TRUE(some.is_empty());
}

TEST(wait_histogram, counts_what_has_come_since) {
  wait_histogram earlier;
  wait_histogram now;
  wait_histogram between;
  earlier.add("0.01:5 1:3");
  now.add("0.01:5 1:4 5:2");
  between.add_since(earlier, now);
  EXPECT_EQ(1000, between.percentile_ms(0.3));
  EXPECT_EQ(5000, between.percentile_ms(0.5));
  // Of a client that started again.
  wait_histogram anew;
  anew.add_since(now, earlier);
  EXPECT_TRUE(anew.is_empty());
}

}  // namespace
}  // namespace mortise::cli
