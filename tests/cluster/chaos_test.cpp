// Everything at once, in a cluster: processes contend while they are killed and stopped, slots move
// and masters are replaced. What loses nothing of what a master has answered, a slot that moves and
// a failover by hand, lets no two hold. A master that dies may: that is counted, the tokens keep
// such writes out, and no token is given twice.
//
// Eight seconds each by default; MORTISE_CHAOS_SECONDS asks for more.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <random>
#include <string>

#include "cluster/slot.hpp"
#include "safety/contention.hpp"
#include "safety/handles.hpp"
#include "support/test_cluster.hpp"

namespace mortise::testing {
namespace {

class cluster_chaos : public ::testing::Test {
 protected:
  [[nodiscard]] static std::int64_t seconds() {
    const char* const wanted = std::getenv("MORTISE_CHAOS_SECONDS");
    return wanted != nullptr ? std::atoll(wanted) : 8;
  }
  [[nodiscard]] std::string some_key() {
    return lock_key(std::to_string(chance() % contended_locks));
  }
  void move_a_slot() {
    const auto key = some_key();
    const auto from = set.owner_of(key);
    set.move_slot(cluster::slot_of(key), from, set.other_master(from));
    ++faults;
  }
  void fail_over_by_hand() {
    set.fail_over(set.owner_of(some_key()));
    set.await_whole();
    ++faults;
  }
  void lose_a_master() {
    const auto key = some_key();
    const auto master = set.owner_of(key);
    if (chance() % 2 == 0) {
      set.kill(master);
    } else {
      set.pause(master);
    }
    EXPECT_NE(master, set.owner_of(key));
    set.heal();
    ++faults;
  }
  void report(bool is_exclusive) {
    all.finish();
    const auto overlaps = check_history(all.history(), {}, 1000).size();
    std::cout << all.history().size() << " acquisitions, " << faults << " faults of the cluster, "
              << all.kills() << " kills and " << all.stops() << " stops of clients, " << overlaps
              << " overlaps, " << all.refused() << " stale writes refused; seed " << seed << '\n';
    for (const auto& violation : check_history(all.history(), {.is_exclusive = is_exclusive})) {
      ADD_FAILURE() << violation;
    }
    EXPECT_GT(all.history().size(), 30U);
    EXPECT_GT(faults, 1);
    for (std::size_t i = 0; i < contended_locks; ++i) {
      const auto key = lock_key(std::to_string(i));
      EXPECT_TRUE(eventually([&] { return set.command_at(key, {"EXISTS", key}) == "0"; }));
    }
  }

  const unsigned seed = std::random_device{}();
  std::mt19937 chance{seed};
  test_cluster set;
  contenders all{{set.url() + "?lease=500ms&command_timeout=5s"}, 6, seed};
  int faults = 0;
};

TEST_F(cluster_chaos, what_loses_nothing_lets_no_two_hold) {
  const auto since = boot_now();
  while (ms_since(since) < seconds() * second_ms) {
    all.harm_for(300);
    if (chance() % 4 == 0) {
      fail_over_by_hand();
    } else {
      move_a_slot();
    }
  }
  report(true);
}

TEST_F(cluster_chaos, whatever_a_failover_loses_no_token_is_given_twice_and_nothing_is_left) {
  const auto since = boot_now();
  while (ms_since(since) < seconds() * second_ms) {
    all.harm_for(500);
    lose_a_master();
  }
  report(false);
}

}  // namespace
}  // namespace mortise::testing
