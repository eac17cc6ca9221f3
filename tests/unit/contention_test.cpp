// When the clients that wait for a lock of a quorum ask for it.
#include "lock/gate/contention.hpp"

#include <gtest/gtest.h>

namespace mortise::testing::contention_test {
namespace {

using lock::contention;

constexpr time_ns trip_ns = 200 * ns_per_ms;

contention after_turns(int turns, contention before = {}) {
  before.note_lost(trip_ns);
  for (int i = 0; i < turns; ++i) before.note_turn();
  return before;
}

TEST(contention, who_has_lost_to_nobody_asks_at_once) {
  EXPECT_EQ(0, contention().first_window());
  EXPECT_EQ(0, after_turns(1).turn_window());
  EXPECT_EQ(0, after_turns(1).next().first_window());
}

TEST(contention, who_has_lost_many_turns_asks_sooner_than_a_newcomer) {
  const auto old = after_turns(20);
  const auto newcomer = after_turns(1, old.next());
  EXPECT_LT(5 * old.turn_window(), newcomer.turn_window());
  EXPECT_LT(0, old.next().first_window());
}

TEST(contention, whoever_waits_asks_every_two_seconds_at_the_latest) {
  auto many = after_turns(1, after_turns(1000).next());
  EXPECT_GE(2 * ns_per_s, many.next().first_window());
  EXPECT_GE(2 * ns_per_s, many.turn_window());
  for (int i = 0; i < 20; ++i) EXPECT_GE(2 * ns_per_s, many.split_pause() + many.split_window());
}

TEST(contention, votes_that_are_split_again_and_again_are_asked_for_further_apart) {
  auto some = after_turns(5);
  const auto first = some.split_window();
  EXPECT_LE(trip_ns, first);
  EXPECT_LT(first, some.split_window());
  some.note_turn();
  EXPECT_GE(first, some.split_window()) << "until the next turn";
}

}  // namespace
}  // namespace mortise::testing::contention_test
