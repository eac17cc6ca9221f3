// The states of an owner, and which state may follow which.
#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "lock/gate/owner.hpp"

namespace mortise::testing::owner_test {
namespace {

using lock::owner_state;
using enum lock::owner_state;

constexpr owner_state states[] = {idle, acquiring, held, unlocking, lost};

TEST(owner_test, a_state_follows_only_those_that_lead_to_it) {
  const std::set<std::pair<owner_state, owner_state>> legal{
      {idle, acquiring}, {lost, acquiring}, {acquiring, held}, {held, unlocking}, {held, lost}};
  for (const auto from : states) {
    for (const auto next : states) {
      EXPECT_EQ(lock::is_transition(from, next), next == idle || legal.count({from, next}) == 1)
          << static_cast<int>(from) << " to " << static_cast<int>(next);
    }
  }
}

}  // namespace
}  // namespace mortise::testing::owner_test
