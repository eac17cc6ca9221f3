// A network that breaks in a cluster: a master is cut off, with a client or without, or a client
// is.
#include <gtest/gtest.h>

#include <string>

#include "support/partition/partition_fixture.hpp"
#include "support/test_cluster.hpp"

namespace mortise::testing::cluster_partition_test {
namespace {

const std::string key = lock_key("order");

struct networked_cluster {
  explicit networked_cluster(breaking_network::medium kind)
      : network(breaking_network::make(kind, all_hosts)), set({.network = network.get()}) {}
  std::unique_ptr<breaking_network> network;
  test_cluster set;
};

class cluster_partitions : public partitions<networked_cluster> {
 protected:
  void SetUp() override {
    partitions::SetUp();
    owner = set().owner_of(key);
    replica = set().replica_of(owner);
  }
  void TearDown() override {
    heal();
    set().flush();
  }
  [[nodiscard]] test_cluster& set() const { return here->set; }
  [[nodiscard]] breaking_network& network() const { return *here->network; }
  [[nodiscard]] std::string url(const std::string& query,
                                const std::string& patience = "1s") const {
    return set().url() + "?command_timeout=" + patience + "&" + query;
  }
  void heal() {
    network().join();
    set().await_whole();
  }
  // All writes so far are at the replica.
  void replicate() {
    ASSERT_EQ("OK", set().at(owner).command({"SET", key + ":mark", ""}));
    ASSERT_EQ("1", set().at(owner).command({"WAIT", "1", std::to_string(patience_ms)}));
  }
  // A lock of the same master.
  std::string another_of_owner() {
    for (int i = 0;; ++i) {
      auto name = std::to_string(i);
      if (set().owner_of(lock_key(name)) == owner) return name;
    }
  }
  void cut_off_owner_with_holder() {
    network().cut({owner, near_host}, hosts_but({owner, near_host}));
  }
  [[nodiscard]] bool is_replaced() {
    return set().at(replica).command({"ROLE"}).starts_with("master");
  }
  [[nodiscard]] std::vector<std::size_t> masters() {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < set().size(); ++i) {
      if (set().at(i).command({"ROLE"}).starts_with("master")) found.push_back(i);
    }
    return found;
  }
  void expect_client_report(const std::vector<std::size_t>& others);
  void expect_line_kept(const std::function<void()>& fault);

  std::size_t owner = 0;
  std::size_t replica = 0;
};

TEST_P(cluster_partitions, hazard_7_with_all_replicas_nobody_has_what_is_held_on_the_smaller_side) {
  remote_client holder(network(), near_host, url("lease=2s&acks=all"));
  remote_client other(network(), far_host, url("lease=20s&acks=all"));
  cut_off(holder, other, [&] { cut_off_owner_with_holder(); });
  expect_loss_report(holder);
  expect_next(other);
  EXPECT_TRUE(is_replaced());
  heal();
  EXPECT_TRUE(set().at(owner).command({"ROLE"}).starts_with("slave"));
  expect_as_others(holder, other);
}

// The other side has no replica left, either.
TEST_P(cluster_partitions, hazard_7_with_a_replica_nobody_has_it_until_there_is_one_again) {
  remote_client holder(network(), near_host, url("lease=2s&acks=1"));
  remote_client other(network(), far_host, url("lease=20s&acks=1"));
  cut_off(holder, other, [&] { cut_off_owner_with_holder(); });
  expect_loss_report(holder);
  EXPECT_TRUE(eventually([&] { return is_replaced(); }));
  heal();
  expect_next(other);
  expect_as_others(holder, other);
}

// Not promised without acknowledgements: a master that is cut off still grants for a moment.
TEST_P(cluster_partitions,
       hazard_7_what_the_smaller_side_grants_may_be_held_twice_and_nothing_else) {
  remote_client holder(network(), near_host, url("lease=6s"));
  remote_client other(network(), far_host, url("lease=60s"));
  ASSERT_EQ(status_name(MORTISE_OK), status_name(holder.ask("acquire order 20000").status));
  replicate();
  const auto late = another_of_owner();
  remote_client::answer granted;
  // It may be too late for that where the machine is slow.
  for (int turn = 0; turn < 5; ++turn) {
    cut_off_owner_with_holder();
    granted = holder.ask("try " + late);
    if (granted.status == MORTISE_OK || is_replaced()) break;
    heal();
  }
  ASSERT_EQ(status_name(MORTISE_OK), status_name(granted.status)) << granted.message;
  holder.control("watch " + late);
  ASSERT_TRUE(eventually([&] { return is_replaced(); }));
  EXPECT_EQ(status_name(MORTISE_NOT_ACQUIRED), status_name(other.ask("try order").status));
  const auto again = other.ask("acquire " + late + " 20000");
  EXPECT_EQ(status_name(MORTISE_OK), status_name(again.status)) << again.message;
  EXPECT_GT(again.token, granted.token);
  EXPECT_EQ(status_name(MORTISE_LOST), status_name(holder.receive().status));
  EXPECT_EQ(status_name(MORTISE_LOST), status_name(holder.ask("unlock " + late).status));
  heal();
  EXPECT_EQ(status_name(MORTISE_OK), status_name(other.ask("held " + late).status));
  EXPECT_EQ(status_name(MORTISE_NOT_ACQUIRED), status_name(holder.ask("try " + late).status));
}

void cluster_partitions::expect_client_report(const std::vector<std::size_t>& others) {
  remote_client holder(network(), near_host, url("lease=2s"));
  remote_client other(network(), far_host, url("lease=20s"));
  cut_off(holder, other, [&] { network().cut({near_host}, others); });
  expect_loss_report(holder);
  expect_next(other);
  heal();
  expect_as_others(holder, other);
}

TEST_P(cluster_partitions,
       hazard_1_a_client_that_is_cut_off_is_notified_before_another_has_the_lock) {
  expect_client_report(hosts_but({near_host}));
}

TEST_P(cluster_partitions, hazard_1_a_client_that_reaches_replicas_only_is_notified_as_well) {
  expect_client_report(masters());
}

// All clients reach all servers.
void cluster_partitions::expect_line_kept(const std::function<void()>& fault) {
  remote_client holder(network(), far_host, url("lease=60s", "20s"));
  held = holder.ask("acquire order 20000");
  ASSERT_EQ(status_name(MORTISE_OK), status_name(held.status)) << held.message;
  remote_line line(network(), url("lease=20s", "20s"), [&] {
    return set().at(owner).command({"LLEN", queue_key("order")});
  });
  replicate();
  fault();
  EXPECT_EQ(status_name(MORTISE_OK), status_name(holder.ask("held order").status));
  const auto left = holder.ask("unlock order");
  ASSERT_EQ(status_name(MORTISE_OK), status_name(left.status)) << left.message;
  line.expect_served_in_order(held.token);
}

TEST_P(cluster_partitions, hazard_26_the_line_of_a_master_that_its_peers_have_replaced_is_kept) {
  expect_line_kept([&] {
    network().cut({owner}, hosts_but({owner}, set().size()));
    ASSERT_TRUE(eventually([&] { return is_replaced(); }));
  });
}

TEST_P(cluster_partitions, hazard_26_the_line_of_a_master_that_nobody_can_replace_is_kept) {
  expect_line_kept([&] {
    network().cut({owner}, hosts_but({owner}, set().size()));
    network().cut({replica}, hosts_but({replica}, set().size()));
    ASSERT_TRUE(eventually([&] {
      return set().at(owner).command({"EXISTS", key}).starts_with("-CLUSTERDOWN");
    }));
    eventually([] { return false; }, second_ms);
    heal();
  });
}

// ---- a server that is behind ------------------------------------------------------------------

class cluster_behind : public cluster_partitions {
 protected:
  void SetUp() override {
    cluster_partitions::SetUp();
    cover(false);
  }
  void TearDown() override {
    cluster_partitions::TearDown();
    cover(true);
  }
  // Whether a cluster with an unserved slot serves no other slot.
  void cover(bool is_needed) {
    for (std::size_t i = 0; i < set().size(); ++i) {
      ASSERT_EQ("OK", set().at(i).command({"CONFIG", "SET", "cluster-require-full-coverage",
                                           is_needed ? "yes" : "no"}));
    }
  }
  std::size_t calls(std::size_t server, const std::string& command) {
    const auto text = set().at(server).command({"INFO", "commandstats"});
    const auto line = "cmdstat_" + command + ":calls=";
    const auto at = text.find(line);
    return at == std::string::npos ? 0 : std::stoul(text.substr(at + line.size()));
  }
  std::string name_at(std::size_t server) {
    for (int i = 0;; ++i) {
      auto name = std::to_string(i);
      if (set().owner_of(lock_key(name)) == server) return name;
    }
  }
};

// Its peers cannot reach it, so it does not learn of the failover. No server serves its slots, so
// the client asks for the topology again and again, and it answers.
TEST_P(cluster_behind, hazard_10_moves_no_slot_of_another_server) {
  const auto behind = set().other_master(owner);
  const auto name = name_at(behind);
  const auto late = another_of_owner();
  remote_client client(network(), far_host, url("lease=60s"));
  network().cut({behind}, hosts_but({behind}, set().size()));
  const auto spare = set().replica_of(behind);
  network().cut({spare}, hosts_but({spare}, set().size()));
  ASSERT_TRUE(eventually([&] {
    return set().at(behind).command({"EXISTS", lock_key(name)}).starts_with("-CLUSTERDOWN");
  }));
  ASSERT_EQ(replica, set().fail_over(owner));
  const auto map = set().at(behind).command({"CLUSTER", "SLOTS"});
  held = client.ask("acquire order 20000");
  ASSERT_EQ(status_name(MORTISE_OK), status_name(held.status)) << held.message;

  const auto count = calls(behind, "cluster|slots");
  const auto attached = calls(replica, "ssubscribe");
  const auto astray = calls(owner, "ssubscribe");
  client.control("acquire " + name + " 20000");
  ASSERT_TRUE(eventually([&] { return calls(behind, "cluster|slots") >= count + 2; }));
  EXPECT_EQ(map, set().at(behind).command({"CLUSTER", "SLOTS"})) << "it is behind all the time";
  EXPECT_EQ(attached, calls(replica, "ssubscribe"));
  EXPECT_EQ(astray, calls(owner, "ssubscribe"));
  client.receive();
  EXPECT_EQ(status_name(MORTISE_OK), status_name(client.ask("held order").status));
  // By its epoch the old topology moves no other slot either.
  EXPECT_EQ(status_name(MORTISE_OK), status_name(client.ask("acquire " + late + " 20000").status));
  EXPECT_EQ(astray, calls(owner, "ssubscribe"));
}

// ---- all of it, again and again, while processes contend ------------------------------------

class cluster_partition_chaos : public cluster_partitions {
 protected:
  void contend(const std::string& query, bool is_exclusive) {
    contend_while(
        url("lease=500ms&" + query), is_exclusive, [this](unsigned number) { cut(number); },
        [this] { heal(); });
    for (std::size_t i = 0; i < contended_locks; ++i) {
      const auto lock = lock_key(std::to_string(i));
      EXPECT_TRUE(eventually([&] { return set().command_at(lock, {"EXISTS", lock}) == "0"; }));
    }
  }

 private:
  void cut(unsigned number) {
    owner = set().owner_of(lock_key(std::to_string(number % contended_locks)));
    switch (number / contended_locks % 4) {
      case 0:
        return cut_off_owner_with_holder();
      case 1:
        return network().cut({near_host}, hosts_but({near_host}));
      case 2:
        return network().cut({near_host}, masters());
      default:
        return network().cut({owner}, hosts_but({owner}, set().size()));
    }
  }
};

TEST_P(cluster_partition_chaos, hazard_7_what_replicas_have_lets_no_two_hold) {
  contend("acks=all", true);
}

TEST_P(cluster_partition_chaos, whatever_is_lost_no_token_is_given_twice_and_nothing_is_left) {
  contend("acks=0", false);
}

INSTANTIATE_TEST_SUITE_P(alone, cluster_partition_chaos, best_medium, name_of_medium);
INSTANTIATE_TEST_SUITE_P(here, cluster_behind, best_medium, name_of_medium);
INSTANTIATE_TEST_SUITE_P(here, cluster_partitions, best_medium, name_of_medium);
INSTANTIATE_TEST_SUITE_P(alone, cluster_partitions, other_medium, name_of_medium);

}  // namespace
}  // namespace mortise::testing::cluster_partition_test
