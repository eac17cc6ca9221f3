#include "cli/exec/deadlines.hpp"

#include <gtest/gtest.h>

namespace mortise::cli::exec {
namespace {

constexpr int64_t ns_per_s = 1'000'000'000;

TEST(deadlines, are_before_the_end_of_the_hold_in_their_order) {
  const auto until = deadlines_of(100 * ns_per_s, {5000, 500, 250, 0});
  EXPECT_EQ(until.kill_at_ns, 100 * ns_per_s - 500 * ns_per_ms);
  EXPECT_EQ(until.term_at_ns, until.kill_at_ns - 5 * ns_per_s);
  EXPECT_GT(until.launcher_at_ns, until.kill_at_ns);
  EXPECT_LT(until.launcher_at_ns, 100 * ns_per_s);
}

TEST(deadlines, come_sooner_when_a_command_may_not_run_as_long_as_the_hold) {
  const auto until = deadlines_of(100 * ns_per_s, {5000, 500, 250, 60 * ns_per_s});
  const auto of_shorter_hold = deadlines_of(60 * ns_per_s, {5000, 500, 250, 0});
  EXPECT_EQ(until.term_at_ns, of_shorter_hold.term_at_ns);
  EXPECT_EQ(until.kill_at_ns, of_shorter_hold.kill_at_ns);
  EXPECT_EQ(deadlines_of(100 * ns_per_s, {5000, 500, 250, 200 * ns_per_s}),
            deadlines_of(100 * ns_per_s, {5000, 500, 250, 0}));
}

// Otherwise the launcher would take a holder process that ends a short command for one that is
// stuck.
TEST(deadlines, of_the_front_are_those_of_the_hold) {
  for (const int64_t at_most_ms : {1, 20, 5000}) {
    const auto until = deadlines_of(100 * ns_per_s, {0, 0, 250, at_most_ms * ns_per_ms});
    EXPECT_EQ(until.kill_at_ns, at_most_ms * ns_per_ms);
    EXPECT_EQ(until.launcher_at_ns, 100 * ns_per_s - 250 * ns_per_ms);
  }
}

TEST(deadlines, leave_a_hold_that_is_renewed_in_time_alone) {
  // Renewed at a third of the lease, and late by as much again as three tries of a ninth.
  for (const int64_t lease_ms : {50, 1000, 3000, 30'000, 3'600'000}) {
    const int64_t grace_ms = std::min(default_grace_ms, longest_grace_ms(lease_ms));
    const auto until = deadlines_of(lease_ms * ns_per_ms, {grace_ms, margin_ms_of(lease_ms), 0, 0});
    EXPECT_GT(until.term_at_ns, lease_ms * ns_per_ms / 3) << lease_ms;
  }
}

TEST(deadlines, of_a_command_that_has_to_end_leave_its_grace_but_not_beyond_the_hold) {
  const limits within = {5000, 500, 250, 0};
  const auto of_long_hold = deadlines_from(10 * ns_per_s, 100 * ns_per_s, within);
  EXPECT_EQ(of_long_hold.term_at_ns, 10 * ns_per_s);
  EXPECT_EQ(of_long_hold.kill_at_ns, 15 * ns_per_s);
  EXPECT_EQ(of_long_hold.launcher_at_ns, 100 * ns_per_s - 250 * ns_per_ms);
  const auto of_short_hold = deadlines_from(10 * ns_per_s, 12 * ns_per_s, within);
  EXPECT_EQ(of_short_hold.kill_at_ns, 12 * ns_per_s - 500 * ns_per_ms);
}

TEST(deadlines, after_a_loss_leave_the_full_grace) {
  const auto until = deadlines_from(10 * ns_per_s, 0, {5000, 500, 250, 0});
  EXPECT_EQ(until.kill_at_ns, 15 * ns_per_s);
  EXPECT_EQ(until.launcher_at_ns, 15 * ns_per_s + 250 * ns_per_ms);
}

// A process that cannot be killed is no sign that the lock holder hangs.
TEST(deadlines, move_the_launcher_ahead_while_the_lock_holder_kills) {
  const auto until = deadlines_from(10 * ns_per_s, 0, {5000, 500, 250, 0});
  const auto now = until.kill_at_ns;
  EXPECT_EQ(launcher_at_ns_while_killing(now, until.launcher_at_ns), now + ns_per_s);
  EXPECT_EQ(launcher_at_ns_while_killing(now, now + 2 * ns_per_s), now + 2 * ns_per_s);
}

TEST(deadlines, are_long_past_when_nothing_is_held) {
  EXPECT_LT(deadlines_of(0, {5000, 500, 250, 0}).kill_at_ns, 0);
}

}  // namespace
}  // namespace mortise::cli::exec
