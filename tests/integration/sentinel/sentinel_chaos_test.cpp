// All faults at once, with a master that Sentinels replace: processes contend while they are killed
// and stopped, and masters are killed, hang and are replaced by command. Replication is
// asynchronous, so two may hold after a failover, which the test counts. The tokens refuse such
// writes, and no token is given twice. Where replicas acknowledge grants, no two hold. Twelve
// seconds by default; MORTISE_CHAOS_SECONDS sets more. `./dev test --deployments` repeats one fault
// at a time.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "support/contention.hpp"
#include "support/handles.hpp"
#include "support/sentinel_set.hpp"

namespace mortise::testing::sentinel_chaos_test {
namespace {

class sentinel_chaos : public ::testing::Test {
 protected:
  explicit sentinel_chaos(const std::string& query = "") : query_(query) {}
  // Another is the master when it returns, and all servers are there.
  void replace_the_master() {
    const auto before = set.master_number();
    auto& master = set.server(before);
    ++befallen;
    switch (chance() % 4) {
      case 0:
        return set.fail_over();
      case 1:
        return_a_replica(before);
        [[fallthrough]];
      case 2:
        master.kill();
        set.await_master_other_than(before);
        return master.start();
      default:
        master.pause();
        set.await_master_other_than(before);
        return master.resume();
    }
  }

  // It has nothing, and is not synchronized for two seconds.
  void return_a_replica(std::size_t master) {
    auto& replica = set.server((master + 1) % 3);
    replica.kill();
    EXPECT_TRUE(eventually([&] {
      return set.sentinel(0).command({"SENTINEL", "REPLICAS", set.name}).find("s_down") !=
             std::string::npos;
    }));
    all.harm_for(500);
    set.server(master).command({"CONFIG", "SET", "repl-diskless-sync-delay", "2"});
    replica.start();
    replica.command({"REPLICAOF", "127.0.0.1", std::to_string(set.server(master).port())});
    all.harm_for(static_cast<std::int64_t>(chance() % 1'000));
  }

  // Acknowledged acquires also wait for replicas that get all data again, after each fault.
  [[nodiscard]] std::size_t least() const { return query_.empty() ? 50U : 5U; }
  void replace_masters();
  void await_replicas();
  void report(bool is_exclusive);

  const std::string query_;
  const unsigned seed = chaos_seed();
  std::mt19937 chance{seed};
  sentinel_set set;
  contenders all{and_retaining(set.url("lease=500ms&command_timeout=5s" + query_)), 6, seed};
  int befallen = 0;
};

// The next failover has a replica that follows.
void sentinel_chaos::await_replicas() {
  EXPECT_TRUE(eventually([&] {
    return set.master().command({"INFO", "replication"}).find("state=online") != std::string::npos;
  }));
}

void sentinel_chaos::report(bool is_exclusive) {
  all.report(std::to_string(befallen) + " faults of servers", is_exclusive);
  EXPECT_GT(all.history().size(), least());
  EXPECT_GT(befallen, 1);
  for (std::size_t i = 0; i < contended_locks; ++i) {
    EXPECT_TRUE(eventually([&] {
      return set.master().command({"EXISTS", lock_key(std::to_string(i))}) == "0";
    }));
  }
}

void sentinel_chaos::replace_masters() {
  const auto since = boot_now();
  while (all.is_to_go_on(since, chaos_seconds(12), least()) || befallen < 2) {
    all.harm_for(1'000);
    replace_the_master();
    all.harm_for(500);
    await_replicas();
  }
}

TEST_F(sentinel_chaos, whatever_a_failover_loses_no_token_is_given_twice_and_nothing_is_left) {
  replace_masters();
  report(false);
}

// Hazards 7, 8 and 10.
class acknowledged_sentinel_chaos : public sentinel_chaos {
 protected:
  acknowledged_sentinel_chaos() : sentinel_chaos("&acks=all") {}
};

TEST_F(acknowledged_sentinel_chaos, what_replicas_have_lets_no_two_hold_when_masters_die) {
  replace_masters();
  report(true);
}

// ---- one fault at a time --------------------------------------------------------------------

struct fault {
  const char* name;
  bool loses;  // what a master has answered
  void (*befall)(sentinel_set& set);
};

template <bool is_stop>
void lose_master(sentinel_set& set) {
  const auto before = set.master_number();
  auto& master = set.server(before);
  is_stop ? master.pause() : master.kill();
  set.await_master_other_than(before);
  is_stop ? master.resume() : master.start();
}

template <bool is_stop>
void lose(test_server& server) {
  is_stop ? server.pause() : server.kill();
  eventually([] { return false; }, second_ms);
  is_stop ? server.resume() : server.start();
}

template <bool is_stop>
void lose_replica(sentinel_set& set) {
  lose<is_stop>(set.server((set.master_number() + 1) % 3));
}

template <const char* word>
void end_connections(sentinel_set& set) {
  set.master().command({"CLIENT", "KILL", "TYPE", word, "SKIPME", "yes"});
}
constexpr char normal[] = "normal";
constexpr char pubsub[] = "pubsub";
constexpr char replica[] = "replica";

constexpr fault faults[] = {
    {"a_failover", true, [](auto& set) { set.fail_over(); }},
    {"a_master_is_killed", true, lose_master<false>},
    {"a_master_hangs", true, lose_master<true>},
    {"a_replica_is_killed", false, lose_replica<false>},
    {"a_replica_hangs", false, lose_replica<true>},
    {"a_sentinel_hangs", false, [](auto& set) { lose<true>(set.sentinel(0)); }},
    {"clients_are_paused", false,
     [](auto& set) {
       set.master().command({"CLIENT", "PAUSE", "600", "WRITE"});
     }},
    {"a_master_sleeps", false,
     [](auto& set) {
       set.master().command({"DEBUG", "SLEEP", "0.4"});
     }},
    {"scripts_are_forgotten", false,
     [](auto& set) {
       set.master().command({"SCRIPT", "FLUSH"});
     }},
    {"keys_are_deleted", true, [](auto& set) { set.master().command({"FLUSHALL"}); }},
    {"connections_end", false, end_connections<normal>},
    {"listeners_end", false, end_connections<pubsub>},
    {"replication_ends", false, end_connections<replica>},
};

class sentinel_faults : public sentinel_chaos, public ::testing::WithParamInterface<fault> {};

TEST_P(sentinel_faults, are_withstood) {
  const auto since = boot_now();
  while (all.is_to_go_on(since, chaos_seconds(12))) {
    all.harm_for(700);
    GetParam().befall(set);
    ++befallen;
    await_replicas();
  }
  report(!GetParam().loses);
}

INSTANTIATE_TEST_SUITE_P(alone, sentinel_faults, ::testing::ValuesIn(faults),
                         [](const auto& item) { return std::string(item.param.name); });

}  // namespace
}  // namespace mortise::testing::sentinel_chaos_test
