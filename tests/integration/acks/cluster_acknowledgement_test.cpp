// In a cluster the topology has the number of replicas. Slots move their data to another master,
// which has other replicas (hazards 7 to 10).
#include <gtest/gtest.h>

#include <string>

#include "deployment/cluster/routing/slot.hpp"
#include "integration/cluster/cluster_fixture.hpp"

namespace mortise::testing::cluster_acknowledgement_test {
namespace {

class acknowledged_clusters : public clusters {
 protected:
  [[nodiscard]] static std::string url(const std::string& query = "acks=all") {
    const auto plain = all->url();
    return plain + (plain.find('?') == std::string::npos ? "?" : "&") + query;
  }
  // Whether a replica of the key's master has it. A replica may learn late of a slot that has
  // moved.
  static bool is_at_replica(const std::string& key) {
    const auto connection = all->at(all->replica_of(all->owner_of(key))).connect();
    connection->command({"READONLY"});
    auto reply = connection->command({"EXISTS", key});
    eventually([&] {
      if (reply.starts_with("-MOVED")) reply = connection->command({"EXISTS", key});
      return !reply.starts_with("-MOVED");
    });
    return reply == "1";
  }
};

TEST_F(acknowledged_clusters, hazard_7_what_was_granted_is_at_the_replica) {
  const auto client = open_client(url());
  for (int i = 0; i < 30; ++i) {
    const auto name = std::to_string(i);
    const auto lock = open_lock(client, name);
    ASSERT_EQ(MORTISE_OK, mortise_lock_try(lock.get(), nullptr));
    ASSERT_TRUE(is_at_replica(lock_key(name))) << i;
    expect_released(lock);
  }
}

// Also in a slot that the client has not used before.
TEST_F(acknowledged_clusters, a_grant_is_held_at_once) {
  const auto client = open_client(url());
  for (int i = 0; i < 30; ++i) {
    const auto lock = open_lock(client, "at once " + std::to_string(i));
    ASSERT_EQ(MORTISE_OK, mortise_lock_try(lock.get(), nullptr));
    ASSERT_EQ(1, mortise_lock_is_held(lock.get())) << i;
    EXPECT_TRUE(always([&] { return mortise_lock_is_held(lock.get()) != 0; }, 20));
    expect_released(lock);
  }
}

TEST_F(acknowledged_clusters, hazard_7_what_was_granted_outlives_its_master) {
  const auto client = open_client(url("acks=all&lease=60s"));
  const auto other = open_client(url());
  for (int i = 0; i < 3; ++i) {
    const auto name = "outlives " + std::to_string(i);
    const auto lock = open_lock(client, name);
    const auto master = all->owner_of(lock_key(name));
    expect_acquired(lock);
    all->kill(master);
    EXPECT_NE(master, all->owner_of(lock_key(name)));
    const auto contended = open_lock(other, name);
    EXPECT_TRUE(eventually(
        [&] { return mortise_lock_try(contended.get(), nullptr) == MORTISE_NOT_ACQUIRED; }));
    // mortise_lock_is_held() is 0 from when the next server is known until its replicas have it.
    EXPECT_LT(0, mortise_lock_deadline_ns(lock.get())) << "it is not lost";
    all->heal();
    expect_released(lock);
    expect_acquired(contended);
    expect_released(contended);
  }
}

// After the cluster has declared it failed, it is no candidate.
TEST_F(acknowledged_clusters, hazard_8_a_replica_that_is_gone_holds_all_up_until_that_is_known) {
  const auto client = open_client_patiently(url("acks=all&command_timeout=500ms"));
  const auto lock = open_lock(client, "gone");
  const auto replica = all->replica_of(all->owner_of(lock_key("gone")));
  expect_acquired(lock);
  expect_released(lock);
  all->kill(replica);
  const auto error = new_error();
  EXPECT_EQ(MORTISE_UNREACHABLE, mortise_lock_try(lock.get(), error.get()));
  EXPECT_NE(std::string(mortise_error_message(error.get())).find("acks: 0 of 1 replicas"),
            std::string::npos)
      << mortise_error_message(error.get());
  expect_acquired(lock);
  expect_released(lock);
}

// One replica has the lock and dies; the other has nothing of it, and could be promoted.
TEST(acknowledged_cluster, hazard_8_a_replica_that_died_does_not_stand_for_one_that_lags) {
  test_cluster all({.masters = 1, .replicas_each = 2});
  auto& master = all.at(0);
  auto& dying = all.at(1);
  auto& lagging = all.at(2);
  const auto client = open_client(all.url() + "?acks=all&command_timeout=20s");
  const auto lock = open_lock(client, "lags");
  const auto key = lock_key("lags");
  lagging.break_master_link();
  const auto queue = open_queue(client);
  ASSERT_EQ(MORTISE_OK,
            mortise_lock_acquire_async(lock.get(), queue.get(), 1, patience_ms, nullptr));
  dying.command({"READONLY"});
  ASSERT_TRUE(eventually([&] { return dying.command({"EXISTS", key}) == "1"; }));
  EXPECT_TRUE(always([&] { return mortise_lock_is_held(lock.get()) == 0; }, second_ms));
  all.kill(1);
  ASSERT_TRUE(eventually([&] {
    return master.command({"CLUSTER", "NODES"}).find("slave,fail ") != std::string::npos;
  }));
  EXPECT_TRUE(always([&] { return mortise_lock_is_held(lock.get()) == 0; }, 2 * second_ms));
  lagging.restore_master_link();
  EXPECT_EQ(MORTISE_OK, next_event(queue).status);
  lagging.command({"READONLY"});
  EXPECT_EQ("1", lagging.command({"EXISTS", key}));
  expect_released(lock);
}

TEST_F(acknowledged_clusters, a_replica_that_is_gone_is_missed_where_the_number_is_given) {
  const auto client = open_client(url("acks=1&command_timeout=2s"));
  const auto lock = open_lock(client, "gone");
  all->kill(all->replica_of(all->owner_of(lock_key("gone"))));
  EXPECT_TRUE(eventually([&] {
    const auto status = mortise_lock_try(lock.get(), nullptr);
    EXPECT_NE(MORTISE_OK, status);
    return status == MORTISE_UNREACHABLE;
  }));
}

// The acknowledgements of an earlier master's replicas do not count for those of the next.
TEST_F(acknowledged_clusters, hazard_7_a_hold_is_acknowledged_anew_where_its_slot_goes) {
  const auto client = open_client(url("acks=all&lease=30s"));
  const auto lock = open_lock(client, "moves");
  const auto key = lock_key("moves");
  expect_acquired(lock);
  for (int i = 0; i < 3; ++i) {
    const auto from = all->owner_of(key);
    const auto to = all->other_master(from);
    all->move_slot(cluster::slot_of(key), from, to);
    ASSERT_EQ(MORTISE_OK, mortise_lock_extend(lock.get(), 0, nullptr));
    ASSERT_EQ(to, all->owner_of(key));
    EXPECT_TRUE(is_at_replica(key));
    EXPECT_EQ(1, mortise_lock_is_held(lock.get()));
    all->await_whole();
  }
  expect_released(lock);
}

// Until the replica of the next master acknowledges the hold, no client relies on it.
TEST_F(acknowledged_clusters,
       hazard_7_what_moves_is_not_relied_on_before_it_is_acknowledged_there) {
  const auto client = open_client(url("acks=1&lease=60s"));
  const auto lock = open_lock(client, "relied on");
  const auto key = lock_key("relied on");
  expect_acquired(lock);
  const auto from = all->owner_of(key);
  const auto to = all->other_master(from);
  const auto replica = all->replica_of(to);
  all->pause(replica);
  all->move_slot(cluster::slot_of(key), from, to);
  EXPECT_TRUE(eventually([&] { return mortise_lock_is_held(lock.get()) == 0; }));
  EXPECT_EQ(0, mortise_lock_valid_ms(lock.get()));
  EXPECT_LT(0, mortise_lock_deadline_ns(lock.get())) << "it is not lost";
  all->heal();
  EXPECT_TRUE(eventually([&] { return mortise_lock_is_held(lock.get()) == 1; }));
  EXPECT_LT(0, mortise_lock_valid_ms(lock.get()));
  expect_released(lock);
}

// The next run of the master may have less data, and its replica must get all of it again.
TEST_F(acknowledged_clusters,
       hazard_7_what_a_restarted_master_has_is_not_relied_on_before_it_is_acknowledged) {
  const auto client = open_client(url("acks=1&lease=60s"));
  const auto lock = open_lock(client, "restarted");
  expect_acquired(lock);
  const auto owner = all->owner_of(lock_key("restarted"));
  ASSERT_EQ("OK", all->at(owner).command({"SAVE"}));
  all->pause(all->replica_of(owner));  // and so it is not promoted
  all->at(owner).restart();
  EXPECT_TRUE(eventually([&] { return mortise_lock_is_held(lock.get()) == 0; }));
  EXPECT_LT(0, mortise_lock_deadline_ns(lock.get())) << "it is not lost";
  all->heal();
  EXPECT_TRUE(eventually([&] { return mortise_lock_is_held(lock.get()) == 1; }));
  expect_released(lock);
}

// redisson#4822: after a failover only the earlier holder could lock.
TEST_F(acknowledged_clusters, everybody_can_lock_after_a_failover) {
  const auto client = open_client(url());
  const auto other = open_client(url());
  const auto lock = open_lock(client, "after");
  const auto contended = open_lock(other, "after");
  for (int i = 0; i < 3; ++i) {
    expect_acquired(lock);
    all->fail_over(all->owner_of(lock_key("after")));
    all->await_whole();
    EXPECT_EQ(MORTISE_NOT_ACQUIRED, mortise_lock_try(contended.get(), nullptr));
    expect_released(lock);
    expect_acquired(contended);
    EXPECT_LT(mortise_lock_token(lock.get()), mortise_lock_token(contended.get()));
    expect_released(contended);
  }
}

TEST_F(acknowledged_clusters, more_than_there_are_is_said_with_the_server) {
  const auto client = open_client(url("acks=5&command_timeout=2s"));
  const auto lock = open_lock(client, "many");
  const auto error = new_error();
  EXPECT_EQ(MORTISE_UNREACHABLE, mortise_lock_try(lock.get(), error.get()));
  const std::string message = mortise_error_message(error.get());
  EXPECT_NE(
      message.find("acks: 1 of 5 replicas of " + all->address_of(all->owner_of(lock_key("many")))),
      std::string::npos)
      << message;
}

}  // namespace
}  // namespace mortise::testing::cluster_acknowledgement_test
