// All faults at once, in a cluster: processes contend while they are killed and stopped, slots move
// and masters are replaced. A moved slot or a failover by hand loses no write, so no two clients
// hold. The same is true if a master dies and replicas acknowledge its replies. Without
// acknowledgements two may hold. The test counts that, the tokens refuse such writes, and no token
// is given twice. Eight seconds each by default; MORTISE_CHAOS_SECONDS sets more. `./dev test
// --deployments` repeats one fault at a time.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "deployment/cluster/routing/slot.hpp"
#include "support/contention.hpp"
#include "support/handles.hpp"
#include "support/test_cluster.hpp"

namespace mortise::testing::cluster_chaos_test {
namespace {

class cluster_chaos : public ::testing::Test {
 protected:
  explicit cluster_chaos(const std::string& query = "") : query_(query) {}
  [[nodiscard]] std::string some_key() {
    return lock_key(std::to_string(chance() % contended_locks));
  }
  void move_a_slot() {
    const auto key = some_key();
    const auto from = set.owner_of(key);
    set.move_slot(cluster::slot_of(key), from, set.other_master(from));
    ++befallen;
  }
  void fail_over_by_hand() {
    set.fail_over(set.owner_of(some_key()));
    set.await_whole();
    ++befallen;
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
    ++befallen;
  }
  void report(bool is_exclusive) {
    all.report(std::to_string(befallen) + " faults of the cluster", is_exclusive);
    EXPECT_GT(all.history().size(), 10U);
    EXPECT_GT(befallen, 1);
    for (std::size_t i = 0; i < contended_locks; ++i) {
      const auto key = lock_key(std::to_string(i));
      EXPECT_TRUE(eventually([&] { return set.command_at(key, {"EXISTS", key}) == "0"; }));
    }
  }

  const std::string query_;
  const unsigned seed = chaos_seed();
  std::mt19937 chance{seed};
  test_cluster set;
  contenders all{and_retaining(set.url() + "?lease=500ms&command_timeout=5s" + query_), 6, seed};
  int befallen = 0;
};

TEST_F(cluster_chaos, what_loses_nothing_lets_no_two_hold) {
  const auto since = boot_now();
  while (all.is_to_go_on(since, chaos_seconds(8))) {
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
  while (all.is_to_go_on(since, chaos_seconds(8))) {
    all.harm_for(500);
    lose_a_master();
  }
  report(false);
}

// Hazards 7, 8 and 10.
class acknowledged_cluster_chaos : public cluster_chaos {
 protected:
  acknowledged_cluster_chaos() : cluster_chaos("&acks=all") {}
};

TEST_F(acknowledged_cluster_chaos, what_replicas_have_lets_no_two_hold_when_masters_die) {
  const auto since = boot_now();
  while (all.is_to_go_on(since, chaos_seconds(8)) || befallen < 2) {
    all.harm_for(500);
    lose_a_master();
  }
  report(true);
}

// ---- one fault at a time --------------------------------------------------------------------

struct fault {
  const char* name;
  bool loses;  // what a master has answered
  void (*befall)(test_cluster& set, std::size_t master, int slot);
};

void let_be(int ms) {
  eventually([] { return false; }, ms);
}

template <bool is_stop>
void lose(test_cluster& set, std::size_t which) {
  is_stop ? set.pause(which) : set.kill(which);
  let_be(3 * second_ms);
  set.heal();
}

template <const char* word>
void end_connections(test_cluster& set, std::size_t master, int /*slot*/) {
  set.at(master).command({"CLIENT", "KILL", "TYPE", word, "SKIPME", "yes"});
}
constexpr char normal[] = "normal";
constexpr char pubsub[] = "pubsub";
constexpr char replica[] = "replica";

constexpr fault faults[] = {
    {"a_slot_moves", false,
     [](auto& set, auto master, auto slot) {
       set.move_slot(slot, master, set.other_master(master));
     }},
    {"a_failover_by_hand", false, [](auto& set, auto master, auto) { set.fail_over(master); }},
    {"a_failover_that_is_forced", true,
     [](auto& set, auto master, auto) { set.fail_over(master, {"FORCE"}); }},
    {"a_takeover", true, [](auto& set, auto master, auto) { set.fail_over(master, {"TAKEOVER"}); }},
    {"a_master_is_killed", true, [](auto& set, auto master, auto) { lose<false>(set, master); }},
    {"a_master_hangs", true, [](auto& set, auto master, auto) { lose<true>(set, master); }},
    {"a_replica_is_killed", false,
     [](auto& set, auto master, auto) { lose<false>(set, set.replica_of(master)); }},
    {"a_replica_hangs", false,
     [](auto& set, auto master, auto) { lose<true>(set, set.replica_of(master)); }},
    {"clients_are_paused", false,
     [](auto& set, auto master, auto) {
       set.at(master).command({"CLIENT", "PAUSE", "700", "WRITE"});
     }},
    {"a_master_sleeps", false,
     [](auto& set, auto master, auto) {
       set.at(master).command({"DEBUG", "SLEEP", "0.7"});
     }},
    {"scripts_are_forgotten", false,
     [](auto& set, auto master, auto) {
       set.at(master).command({"SCRIPT", "FLUSH"});
     }},
    {"keys_are_deleted", true,
     [](auto& set, auto master, auto) { set.at(master).command({"FLUSHALL"}); }},
    {"connections_end", false, end_connections<normal>},
    {"listeners_end", false, end_connections<pubsub>},
    {"replication_ends", false, end_connections<replica>},
};

class cluster_faults : public cluster_chaos, public ::testing::WithParamInterface<fault> {};

TEST_P(cluster_faults, are_withstood) {
  const auto since = boot_now();
  while (all.is_to_go_on(since, chaos_seconds(8))) {
    all.harm_for(500);
    const auto key = some_key();
    GetParam().befall(set, set.owner_of(key), cluster::slot_of(key));
    ++befallen;
    set.await_whole();
  }
  report(!GetParam().loses);
}

INSTANTIATE_TEST_SUITE_P(alone, cluster_faults, ::testing::ValuesIn(faults),
                         [](const auto& item) { return std::string(item.param.name); });

}  // namespace
}  // namespace mortise::testing::cluster_chaos_test
