#include "net/threads/spin.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace mortise::testing::spin_test {
namespace {

constexpr time_ns us = ns_per_us;
constexpr time_ns ms = ns_per_ms;
constexpr time_ns adaptive = -1;

// One caller that asks again and again, at a server that takes so long.
class spin_test : public ::testing::Test {
 protected:
  // Whether it spun. `away_ns`: for how long it does not run after its first look.
  bool ask(time_ns trip_ns, time_ns away_ns = 0) {
    const auto asked_ns = now_;
    const auto answered_ns = asked_ns + trip_ns;
    now_ += 5 * us;
    bool has_spun = false;
    if (spin_.is_due(asked_ns)) {
      if (spin_.wants_cores(now_)) {
        spin_.note_cores(cores_, now_);
        ++counts_;
      }
      has_spun = spin_.begin(asked_ns, now_);
    }
    looks_ = 0;
    for (bool goes_on = has_spun; goes_on;) {
      now_ += us + (++looks_ == 1 ? away_ns : 0);
      goes_on = now_ < answered_ns && spin_.goes_on(now_);
      if (now_ >= answered_ns) spin_.note_find(now_);
    }
    now_ = std::max(now_, answered_ns);
    spin_.note_answer(asked_ns, now_);
    return has_spun;
  }
  // How many of them spun.
  int ask_often(int times, time_ns trip_ns) {
    int spun = 0;
    for (int i = 0; i < times; ++i) spun += ask(trip_ns) ? 1 : 0;
    return spun;
  }
  void warm_up() {
    ask_often(8, 60 * us);
    ASSERT_TRUE(ask(20 * us));
  }
  // How long it does not spin.
  time_ns pause_ns() {
    const auto start = now_;
    while (!ask(20 * us) && now_ - start < 60 * ns_per_s) now_ += 100 * us;
    return now_ - start;
  }

  net::spin spin_{adaptive};
  time_ns now_ = 1000 * ns_per_s;
  int cores_ = 2;
  int counts_ = 0;
  int looks_ = 0;
};

TEST_F(spin_test, spins_when_the_last_eight_answers_came_soon) {
  EXPECT_EQ(ask_often(8, 150 * us), 0);
  EXPECT_EQ(ask_often(100, 20 * us), 100);
}

TEST_F(spin_test, never_spins_for_a_server_that_is_far_away) {
  EXPECT_EQ(ask_often(10'000, 151 * us), 0);
}

TEST_F(spin_test, an_answer_that_is_late_has_to_be_made_up_for) {
  ask_often(7, 60 * us);
  EXPECT_FALSE(ask(200 * us));
  EXPECT_EQ(ask_often(8, 60 * us), 0);
  EXPECT_TRUE(ask(60 * us));
}

TEST_F(spin_test, stops_looking_in_time_for_what_is_late) {
  warm_up();
  EXPECT_TRUE(ask(5 * ms));
  EXPECT_LE(looks_, 150);
}

TEST_F(spin_test, a_miss_is_followed_by_a_pause_that_doubles) {
  warm_up();
  for (const auto length : {2 * ms, 4 * ms, 8 * ms, 16 * ms}) {
    EXPECT_TRUE(ask(300 * us));
    const auto pause = pause_ns();
    EXPECT_GT(pause, length - ms);
    EXPECT_LT(pause, length + ms);
  }
}

TEST_F(spin_test, the_pause_ends_somewhere) {
  warm_up();
  for (int i = 0; i < 30; ++i) {
    ask(300 * us);
    EXPECT_LT(pause_ns(), 10 * ns_per_s + 2 * ms);
  }
}

TEST_F(spin_test, the_pause_is_forgotten_when_it_goes_well) {
  warm_up();
  for (int i = 0; i < 4; ++i) {
    ask(300 * us);
    pause_ns();
  }
  for (const auto end = now_ + ns_per_s; now_ < end; now_ += 50 * us) EXPECT_TRUE(ask(20 * us));
  EXPECT_TRUE(ask(300 * us));
  EXPECT_LT(pause_ns(), 5 * ms);
}

// The answer is there when it runs again, or it is not.
TEST_F(spin_test, who_loses_the_core_pauses_for_a_hundred_times_as_long) {
  for (const time_ns trip_ns : {20 * us, 20 * ms}) {
    spin_ = net::spin(adaptive);
    warm_up();
    EXPECT_TRUE(ask(trip_ns, 4 * ms));
    EXPECT_LE(looks_, 1);
    const auto pause = pause_ns();
    EXPECT_GE(pause, 380 * ms);
    EXPECT_LT(pause, 410 * ms);
  }
}

TEST_F(spin_test, an_interrupt_is_no_loss_of_the_core) {
  warm_up();
  EXPECT_TRUE(ask(20 * us, 100 * us));
  EXPECT_TRUE(ask(20 * us));
}

TEST_F(spin_test, never_spins_on_one_core) {
  cores_ = 1;
  EXPECT_EQ(ask_often(100'000, 20 * us), 0);
}

TEST_F(spin_test, cores_are_counted_ten_times_a_second) {
  warm_up();
  const auto before = counts_;
  for (const auto end = now_ + ns_per_s; now_ < end;) ask(20 * us);
  EXPECT_LE(counts_ - before, 10);
  cores_ = 1;
  ask_often(5000, 20 * us);
  EXPECT_FALSE(ask(20 * us));
  cores_ = 2;
  ask_often(5000, 20 * us);
  EXPECT_TRUE(ask(20 * us));
}

TEST_F(spin_test, whoever_waits_for_no_answer_of_its_own_does_not_adapt) {
  warm_up();
  EXPECT_FALSE(spin_.is_due(0));
}

TEST_F(spin_test, a_length_that_was_set_is_kept_to_whatever_happens) {
  spin_ = net::spin(50 * us);
  cores_ = 1;
  EXPECT_EQ(ask_often(100, 10 * ms), 100);
  EXPECT_EQ(looks_, 50);
  EXPECT_TRUE(ask(10 * us, 4 * ms));
  EXPECT_TRUE(ask(10 * us));
  EXPECT_TRUE(spin_.is_due(0));
}

TEST_F(spin_test, a_length_of_0_is_no_spin) {
  spin_ = net::spin(0);
  EXPECT_EQ(ask_often(1000, 20 * us), 0);
  EXPECT_FALSE(spin_.is_due(0));
}

}  // namespace
}  // namespace mortise::testing::spin_test
