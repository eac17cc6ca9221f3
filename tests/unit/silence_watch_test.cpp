#include "redis/silence_watch.hpp"

#include <gtest/gtest.h>

namespace mortise::testing::silence_watch_test {
namespace {

constexpr time_ns limit_ns = 800 * ns_per_ms;
constexpr time_ns look_ns = limit_ns / 8;

using state = redis::silence_watch::state;

class silence_watch_test : public ::testing::Test {
 protected:
  state look_closely() {
    now_ += look_ns;
    return watch_.look(submitted_, answered_, received_ns_, now_);
  }
  bool look() { return look_closely() == state::silent; }
  time_ns now_ = 5 * ns_per_s;
  time_ns received_ns_ = 0;
  std::uint64_t submitted_ = 1;
  std::uint64_t answered_ = 0;
  redis::silence_watch watch_{limit_ns};
};

TEST_F(silence_watch_test, hazard_26_a_request_without_an_answer_is_noticed_after_the_limit) {
  watch_.begin(submitted_, now_);
  for (int i = 0; i < 7; ++i) EXPECT_FALSE(look()) << i;
  EXPECT_TRUE(look());
}

TEST_F(silence_watch_test, answers_are_overdue_from_a_third_of_the_limit_on) {
  watch_.begin(submitted_, now_);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(look_closely(), state::well) << i;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(look_closely(), state::overdue) << i;
  EXPECT_EQ(look_closely(), state::silent);
}

TEST_F(silence_watch_test, answers_are_overdue_after_half_a_second_however_long_calls_may_take) {
  redis::silence_watch patient(30 * ns_per_s);
  patient.begin(submitted_, now_);
  const auto since = now_;
  auto seen = state::well;
  while (seen == state::well && now_ < since + 10 * ns_per_s) {
    now_ += patient.period_ns();
    seen = patient.look(submitted_, answered_, received_ns_, now_);
  }
  EXPECT_EQ(seen, state::overdue);
  EXPECT_LT(now_ - since, 750 * ns_per_ms);
}

TEST_F(silence_watch_test, whatever_is_received_is_a_sign_of_life) {
  watch_.begin(submitted_, now_);
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(look());
  received_ns_ = now_;
  for (int i = 0; i < 7; ++i) EXPECT_FALSE(look());
  EXPECT_TRUE(look());
}

TEST_F(silence_watch_test, a_later_request_does_not_lend_time_to_an_earlier_one) {
  watch_.begin(submitted_, now_);
  for (int i = 0; i < 7; ++i) {
    ++submitted_;
    EXPECT_FALSE(look());
  }
  EXPECT_TRUE(look());
}

TEST_F(silence_watch_test, a_request_that_came_late_has_the_whole_limit) {
  watch_.begin(submitted_, now_);
  for (int i = 0; i < 6; ++i) EXPECT_FALSE(look());
  answered_ = 1;
  submitted_ = 2;
  for (int i = 0; i < 8; ++i) EXPECT_FALSE(look());
  EXPECT_TRUE(look());
}

TEST_F(silence_watch_test, hazard_01_a_process_that_was_stopped_does_not_blame_the_server) {
  watch_.begin(submitted_, now_);
  EXPECT_FALSE(look());
  now_ += 3 * limit_ns;
  EXPECT_FALSE(look());
  for (int i = 0; i < 7; ++i) EXPECT_FALSE(look());
  EXPECT_TRUE(look());
}

}  // namespace
}  // namespace mortise::testing::silence_watch_test
