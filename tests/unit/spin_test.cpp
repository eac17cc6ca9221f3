#include "net/threads/spin.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace mortise::testing::spin_test {
namespace {

constexpr time_ns us = ns_per_us;
constexpr time_ns ms = ns_per_ms;
constexpr time_ns adaptive = -1;
constexpr time_ns start_ns = 1000 * ns_per_s;

// A machine with a server, for one caller that asks again and again.
struct machine {
  time_ns server_ns = 25 * us;  // until the reply is in the socket
  time_ns wake_ns = 25 * us;    // until a sleeping thread runs again
  // Other threads want the core: a thread that has run for a slice loses the core for so long.
  time_ns slice_ns = time_never;
  time_ns others_ns = 0;
  // The server has the same core: it runs when the caller sleeps.
  bool is_shared_core = false;
  int cores = 2;
  // Events: `period_ns` apart, and so long. Either the caller loses the core, or the server stalls.
  time_ns gap_period_ns = time_never;
  time_ns gap_ns = 0;
  time_ns stall_period_ns = time_never;
  time_ns stall_ns = 0;
  // Changes the machine as time passes.
  std::function<void(machine&, time_ns)> change = [](machine&, time_ns) {};
};

class caller {
 public:
  caller(machine where, time_ns length_ns) : machine_(std::move(where)), spin_(length_ns) {}

  // Asks until the time has passed, and returns the mean time of a wait.
  time_ns mean_ns(time_ns for_ns) {
    const auto begin_ns = now_;
    const auto before = asks_;
    while (now_ - begin_ns < for_ns) ask();
    return (now_ - begin_ns) / (asks_ - before);
  }
  // Whether it spun.
  bool ask() {
    machine_.change(machine_, now_ - start_ns);
    const auto asked_ns = now_;
    const bool has_spun = begins(asked_ns);
    const auto ready_ns = ready_at(asked_ns, has_spun);
    if (!has_spun || !polls(asked_ns, ready_ns)) sleeps(ready_ns);
    ++asks_;
    spins_ += has_spun ? 1 : 0;
    spin_.note_reply(asked_ns, now_);
    return has_spun;
  }
  // How many of so many spun.
  int asks(int times) {
    const auto before = spins_;
    while (times-- > 0) ask();
    return static_cast<int>(spins_ - before);
  }
  // How long it does not spin.
  time_ns pause_ns() {
    const auto begin_ns = now_;
    while (!ask() && now_ - begin_ns < 60 * ns_per_s) {
    }
    return now_ - begin_ns;
  }

  machine machine_;
  net::spin spin_;
  time_ns now_ = start_ns;
  int counts_ = 0;

 private:
  bool begins(time_ns asked_ns) {
    if (!spin_.is_due(asked_ns)) return false;
    if (spin_.needs_cores(now_)) {
      spin_.note_cores(machine_.cores, now_);
      ++counts_;
    }
    return spin_.begin(asked_ns, now_);
  }
  time_ns ready_at(time_ns asked_ns, bool has_spun) {
    auto ready_ns = asked_ns + machine_.server_ns;
    if (machine_.is_shared_core && has_spun) ready_ns = time_never;
    if (now_ - stalled_ns_ >= machine_.stall_period_ns) {
      stalled_ns_ = now_;
      ready_ns += machine_.stall_ns;
    }
    return ready_ns;
  }
  // Polls once per microsecond. False when it gave up.
  bool polls(time_ns asked_ns, time_ns ready_ns) {
    for (;;) {
      now_ += us;
      ran_ns_ += us;
      if (ran_ns_ > machine_.slice_ns) {
        now_ += machine_.others_ns;
        ran_ns_ = 0;
      } else if (now_ - lost_ns_ >= machine_.gap_period_ns) {
        lost_ns_ = now_;
        now_ += machine_.gap_ns;
      }
      if (now_ >= ready_ns) return true;
      if (!spin_.may_continue(now_)) return false;
      if (now_ - asked_ns < ns_per_s) continue;
      ADD_FAILURE() << "spins without an end";
      return false;
    }
  }
  void sleeps(time_ns ready_ns) {
    // The server runs now. On a shared core it does not run while the caller spins.
    if (ready_ns == time_never) ready_ns = now_ + machine_.server_ns;
    now_ = std::max(now_, ready_ns) + machine_.wake_ns;
    ran_ns_ = 0;
  }

  time_ns ran_ns_ = 0;
  time_ns lost_ns_ = start_ns;
  time_ns stalled_ns_ = start_ns;
  std::int64_t asks_ = 0;
  std::int64_t spins_ = 0;
};

// The mean time of a wait over a minute, in percent of that of another caller.
std::int64_t percent(const machine& where, time_ns other_length_ns) {
  const auto mean = caller(where, adaptive).mean_ns(60 * ns_per_s);
  return mean * 100 / caller(where, other_length_ns).mean_ns(60 * ns_per_s);
}
constexpr time_ns never = 0;
constexpr time_ns always = 1000 * us;

TEST(spin, a_quiet_machine_with_a_gap_per_second_loses_nothing) {
  machine quiet;
  quiet.gap_period_ns = ns_per_s;
  quiet.gap_ns = 5 * ms;
  EXPECT_LE(percent(quiet, always), 103);
  EXPECT_LE(percent(quiet, never), 60);
}

TEST(spin, other_processes_with_a_tenth_of_the_core_stop_nothing) {
  machine shared;
  shared.gap_period_ns = 10 * ms;
  shared.gap_ns = ms;
  EXPECT_LE(percent(shared, always), 103);
}

TEST(spin, all_cores_busy_costs_at_most_two_percent) {
  for (const time_ns others_ns : {4 * ms, 12 * ms}) {
    machine busy;
    busy.slice_ns = 3 * ms;
    busy.others_ns = others_ns;
    EXPECT_LE(percent(busy, never), 102) << others_ns;
  }
}

TEST(spin, a_control_group_that_is_throttled_costs_at_most_two_percent) {
  machine throttled;
  throttled.slice_ns = 10 * ms;
  throttled.others_ns = 90 * ms;
  EXPECT_LE(percent(throttled, never), 102);
}

TEST(spin, a_server_on_the_same_core_costs_at_most_two_percent) {
  machine shared;
  shared.is_shared_core = true;
  EXPECT_LE(percent(shared, never), 102);
}

TEST(spin, never_spins_for_a_distant_server) {
  machine far;
  far.server_ns = 300 * us;
  EXPECT_EQ(caller(far, adaptive).asks(100'000), 0);
}

TEST(spin, a_server_that_stalls_stops_nothing) {
  machine stalling;
  for (const time_ns stall_ns : {5 * ms, 80 * ms}) {
    stalling.stall_period_ns = 100 * ms;
    stalling.stall_ns = stall_ns;
    caller one(stalling, adaptive);
    one.asks(8);
    EXPECT_GE(one.asks(100'000), 99'000) << stall_ns;
  }
}

TEST(spin, follows_a_machine_that_changes_its_frequency) {
  machine laptop;
  laptop.change = [](machine& it, time_ns passed_ns) {
    const auto factor = 1 + passed_ns / (2 * ns_per_s) % 3;  // a new one each two seconds
    it.server_ns = factor * 20 * us;
    it.wake_ns = factor * 20 * us;
  };
  EXPECT_LE(percent(laptop, always), 103);
}

TEST(spin, follows_a_server_that_moves_to_the_same_core_and_back) {
  machine moving;
  moving.change = [](machine& it, time_ns passed_ns) {
    it.is_shared_core = passed_ns / (10 * ns_per_s) % 2 == 1;
  };
  caller one(moving, adaptive);
  for (int period = 0; period < 4; ++period) {
    const auto begin_ns = one.now_;
    one.mean_ns(500 * ms);
    const auto mean = one.mean_ns(begin_ns + 10 * ns_per_s - one.now_);
    EXPECT_LE(mean, (period % 2 == 0 ? 27 : 51) * us) << period;
  }
}

TEST(spin, a_machine_that_is_quiet_again_is_noticed_within_a_second) {
  machine busy;
  busy.slice_ns = 3 * ms;
  busy.others_ns = 4 * ms;
  caller one(busy, adaptive);
  one.mean_ns(30 * ns_per_s);
  one.machine_ = {};
  EXPECT_LE(one.pause_ns(), ns_per_s);
  EXPECT_LE(one.mean_ns(ns_per_s), 27 * us);
}

TEST(spin, one_lost_slice_stops_it_for_less_than_a_tenth_of_a_second) {
  machine quiet;
  caller one(quiet, adaptive);
  one.mean_ns(ns_per_s);
  one.machine_.gap_period_ns = 0;
  one.machine_.gap_ns = 20 * ms;
  one.ask();
  one.machine_ = {};
  EXPECT_LE(one.pause_ns(), 100 * ms);
}

TEST(spin, warms_up_with_waits_that_sleep) {
  caller one({}, adaptive);
  EXPECT_EQ(one.asks(8), 0);
  EXPECT_EQ(one.asks(100), 100);
}

TEST(spin, polls_for_at_most_150_microseconds) {
  caller one({}, adaptive);
  one.asks(100);
  one.machine_.server_ns = 10 * ms;
  const auto before = one.now_;
  EXPECT_TRUE(one.ask());
  EXPECT_FALSE(one.spin_.may_continue(before + 150 * us));
}

TEST(spin, sleeps_for_a_few_of_many_waits_to_know_the_mean) {
  caller one({}, adaptive);
  one.asks(8);
  const int times = 100'000;  // 2.5 s
  const int sleeps = times - one.asks(times);
  EXPECT_GE(sleeps, 20 * 8);
  EXPECT_LE(sleeps, 26 * 8);
}

TEST(spin, never_spins_on_one_core) {
  machine small;
  small.cores = 1;
  EXPECT_EQ(caller(small, adaptive).asks(100'000), 0);
}

TEST(spin, cores_are_counted_ten_times_a_second) {
  caller one({}, adaptive);
  one.mean_ns(ns_per_s);
  EXPECT_LE(one.counts_, 10);
  one.machine_.cores = 1;
  one.mean_ns(200 * ms);
  EXPECT_FALSE(one.ask());
  one.machine_.cores = 2;
  one.mean_ns(200 * ms);
  EXPECT_TRUE(one.ask());
}

TEST(spin, a_caller_without_a_request_does_not_adapt) {
  caller one({}, adaptive);
  one.asks(100);
  EXPECT_FALSE(one.spin_.is_due(0));
}

TEST(spin, a_given_length_is_kept_whatever_happens) {
  machine busy;
  busy.cores = 1;
  busy.server_ns = 10 * ms;
  caller one(busy, 50 * us);
  EXPECT_EQ(one.asks(100), 100);
  EXPECT_TRUE(one.spin_.is_due(0));
}

TEST(spin, a_length_of_0_is_no_spin) {
  caller one({}, never);
  EXPECT_EQ(one.asks(1000), 0);
  EXPECT_FALSE(one.spin_.is_due(0));
}

}  // namespace
}  // namespace mortise::testing::spin_test
