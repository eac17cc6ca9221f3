// Where Sentinels choose the next master, they report the number of candidates among the replicas
// (hazards 7 and 8).
#include <gtest/gtest.h>

#include <string>

#include "support/handles.hpp"
#include "support/sentinel_set.hpp"

namespace mortise::testing::sentinel_acknowledgement_test {
namespace {

class sentinel_acknowledgement : public ::testing::Test {
 protected:
  [[nodiscard]] std::string url(const std::string& query = "acks=all&command_timeout=1s") const {
    return set.url(query);
  }
  test_server& replica(std::size_t which) {
    const auto master = set.master_number();
    return set.server((master + 1 + which) % 3);
  }

  // Until each Sentinel holds one replica to be down, or none.
  void await_one_down(bool is_down = true) {
    for (std::size_t i = 0; i < 3; ++i) {
      ASSERT_TRUE(eventually([&] {
        const auto replicas = set.sentinel(i).command({"SENTINEL", "REPLICAS", set.name});
        return (replicas.find("s_down") != std::string::npos) == is_down;
      }));
    }
  }

  sentinel_set set;
};

TEST_F(sentinel_acknowledgement, hazard_8_all_replicas_have_what_was_granted) {
  const auto client = open_client(url());
  for (int i = 0; i < 50; ++i) {
    const auto name = std::to_string(i);
    const auto lock = open_lock(client, name);
    ASSERT_EQ(MORTISE_OK, mortise_lock_try(lock.get(), nullptr));
    ASSERT_EQ("1", replica(0).command({"EXISTS", lock_key(name)})) << i;
    ASSERT_EQ("1", replica(1).command({"EXISTS", lock_key(name)})) << i;
    expect_released(lock);
  }
}

// Without a word to the replicas first, whichever of them follows has it.
TEST_F(sentinel_acknowledgement, hazard_7_what_was_granted_outlives_its_master) {
  const auto client = open_client(url("acks=all&command_timeout=20s&lease=60s"));
  const auto other = open_client(url("acks=all&command_timeout=20s"));
  const auto lock = open_lock(client, "outlives");
  expect_acquired(lock);
  const auto before = set.master_number();
  set.server(before).kill();
  set.await_master_other_than(before);
  const auto contended = open_lock(other, "outlives");
  EXPECT_EQ(MORTISE_NOT_ACQUIRED, mortise_lock_try(contended.get(), nullptr));
  EXPECT_EQ(MORTISE_OK, mortise_lock_extend(lock.get(), 0, nullptr));
  expect_released(lock);
  expect_acquired(contended);
  EXPECT_LT(mortise_lock_token(lock.get()), mortise_lock_token(contended.get()));
}

// The reports of the earlier master's replicas do not count until those of the next agree.
TEST_F(sentinel_acknowledgement,
       hazard_7_what_a_failover_leaves_is_not_relied_on_before_it_is_had) {
  const auto client = open_client(url("acks=2&command_timeout=1s&lease=60s"));
  const auto lock = open_lock(client, "relied on");
  expect_acquired(lock);
  const auto before = set.master_number();
  auto& silent = replica(0);
  silent.pause();
  // Until they would not choose it.
  await_one_down();
  set.fail_over();
  ASSERT_NE(before, set.master_number());
  EXPECT_TRUE(eventually([&] { return mortise_lock_is_held(lock.get()) == 0; }));
  EXPECT_EQ(0, mortise_lock_valid_ms(lock.get()));
  silent.resume();
  EXPECT_TRUE(eventually([&] { return mortise_lock_is_held(lock.get()) == 1; }, 60 * second_ms));
  expect_released(lock);
}

// The Sentinels choose no replica that they take for down, so no client waits for it from then on.
TEST_F(sentinel_acknowledgement, hazard_8_a_replica_that_is_gone_holds_all_up_until_that_is_known) {
  const auto client = open_client(url());
  const auto lock = open_lock(client, "gone");
  auto& gone = replica(0);
  gone.kill();
  const auto error = new_error();
  EXPECT_EQ(MORTISE_UNREACHABLE, mortise_lock_try(lock.get(), error.get()));
  EXPECT_NE(std::string(mortise_error_message(error.get())).find("acks: 1 of 2 replicas"),
            std::string::npos)
      << mortise_error_message(error.get());
  // Until the Sentinels hold it to be down.
  ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), 120 * second_ms, error.get()))
      << mortise_error_message(error.get());
  EXPECT_EQ("1", replica(1).command({"EXISTS", lock_key("gone")}));
  expect_released(lock);
}

// The Sentinels could promote it as soon as it answers them.
TEST_F(sentinel_acknowledgement, hazard_8_a_replica_that_returns_counts_before_it_is_synchronized) {
  const auto client = open_client(url());
  const auto lock = open_lock(client, "returns");
  auto& master = set.master();
  auto& returning = replica(0);
  returning.kill();
  await_one_down();
  expect_acquired(lock);
  expect_released(lock);
  returning.start();
  returning.break_master_link();
  returning.command({"REPLICAOF", "127.0.0.1", std::to_string(master.port())});
  await_one_down(false);
  eventually([] { return false; }, 300);  // the client believes a list for 250 ms
  const auto error = new_error();
  EXPECT_EQ(MORTISE_UNREACHABLE, mortise_lock_try(lock.get(), error.get()));
  EXPECT_NE(std::string(mortise_error_message(error.get())).find("acks: 1 of 2 replicas"),
            std::string::npos)
      << mortise_error_message(error.get());
  returning.restore_master_link();
  expect_acquired(lock);
  EXPECT_EQ("1", returning.command({"EXISTS", lock_key("returns")}));
  expect_released(lock);
}

// Its data are on their way. The Sentinels may know of it at any time.
TEST_F(sentinel_acknowledgement, hazard_8_a_replica_that_is_being_synchronized_counts) {
  const auto client = open_client(url());
  auto& master = set.master();
  master.command({"CONFIG", "SET", "repl-diskless-sync-delay", "60"});
  const test_server added(
      {{"--port", "free", "--replicaof", "127.0.0.1", std::to_string(master.port())}});
  ASSERT_TRUE(eventually([&] {
    return master.command({"INFO", "replication"}).find("state=wait_bgsave") != std::string::npos;
  }));
  const auto lock = open_lock(client, "synchronized");
  const auto error = new_error();
  EXPECT_EQ(MORTISE_UNREACHABLE, mortise_lock_try(lock.get(), error.get()));
  EXPECT_NE(std::string(mortise_error_message(error.get())).find("acks: 2 of 3 replicas"),
            std::string::npos)
      << mortise_error_message(error.get());
}

// One replica has the lock and dies; the other has nothing of it, and is promoted.
TEST_F(sentinel_acknowledgement, hazard_8_a_replica_that_died_does_not_stand_for_one_that_lags) {
  const auto client = open_client(url("acks=all&command_timeout=20s"));
  const auto lock = open_lock(client, "lags");
  auto& dying = replica(0);
  auto& lagging = replica(1);
  lagging.break_master_link();
  const auto queue = open_queue(client);
  ASSERT_EQ(MORTISE_OK,
            mortise_lock_acquire_async(lock.get(), queue.get(), 1, patience_ms, nullptr));
  ASSERT_TRUE(eventually([&] { return dying.command({"EXISTS", lock_key("lags")}) == "1"; }));
  EXPECT_TRUE(always([&] { return mortise_lock_is_held(lock.get()) == 0; }, second_ms));
  dying.kill();
  await_one_down();
  EXPECT_TRUE(always([&] { return mortise_lock_is_held(lock.get()) == 0; }, 3 * second_ms));
  lagging.restore_master_link();
  EXPECT_EQ(MORTISE_OK, next_event(queue).status);
  EXPECT_EQ("1", lagging.command({"EXISTS", lock_key("lags")}));
  expect_released(lock);
}

TEST_F(sentinel_acknowledgement, members_of_lists_have_replicas_of_their_own) {
  test_server second;
  test_server third;
  const auto shards =
      open_client("shard:" + set.url("shard=a&acks=2") + "," + second.url() + "?shard=b");
  const auto quorum = open_client("redlock:" + set.url("quarantine=0&acks=2") + "," + second.url() +
                                  "," + third.url());
  for (int i = 0; i < 8; ++i) {
    const auto lock = open_lock(shards, "shard " + std::to_string(i));
    expect_acquired(lock);
    expect_released(lock);
  }
  const auto lock = open_lock(quorum, "vote");
  expect_acquired(lock);
  expect_released(lock);
  // Its vote does not count, and the two others are enough.
  replica(0).pause();
  expect_acquired(lock);
  expect_released(lock);
  replica(0).resume();
}

}  // namespace
}  // namespace mortise::testing::sentinel_acknowledgement_test
