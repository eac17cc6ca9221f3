// The clocks of a report.
#include "base/time.hpp"

#include <gtest/gtest.h>

namespace mortise::testing::wall_clock_test {
namespace {

TEST(wall_clock, is_found_for_another_time) {
  constexpr std::int64_t ago_us = 5'000'000;
  constexpr std::int64_t error_us = 1'000;
  const auto before_us = wall_now_us();
  const auto found_us = wall_us_at(boot_now() - ago_us * ns_per_us);
  const auto after_us = wall_now_us();
  EXPECT_GE(found_us, before_us - ago_us - error_us);
  EXPECT_LE(found_us, after_us - ago_us + error_us);
}

}  // namespace
}  // namespace mortise::testing::wall_clock_test
