// A network that breaks among Sentinels. The master is cut off, with or without a Sentinel and a
// client, or a client is. Each server has a Sentinel on its host.
#include <gtest/gtest.h>

#include <string>

#include "support/partition/partition_fixture.hpp"
#include "support/sentinel_set.hpp"

namespace mortise::testing::sentinel_partition_test {
namespace {

constexpr std::size_t servers = 3;

struct networked_sentinels {
  explicit networked_sentinels(breaking_network::medium kind)
      : network(breaking_network::make(kind, all_hosts)), set({.network = network.get()}) {
    // So that no client waits for the fate of a replica that is cut off.
    for (std::size_t i = 0; i < servers; ++i) {
      set.server(i).command({"CONFIG", "SET", "repl-timeout", "2"});
    }
  }
  std::unique_ptr<breaking_network> network;
  sentinel_set set;
};

class sentinel_partitions : public partitions<networked_sentinels> {
 protected:
  void SetUp() override {
    partitions::SetUp();
    master = set().master_number();
  }
  void TearDown() override {
    heal();
    set().master().command({"FLUSHALL"});
  }
  [[nodiscard]] sentinel_set& set() const { return here->set; }
  [[nodiscard]] breaking_network& network() const { return *here->network; }
  [[nodiscard]] std::string url(const std::string& query,
                                const std::string& patience = "1s") const {
    return set().url("command_timeout=" + patience + "&" + query);
  }
  void cut_off_master_with_holder() {
    const std::vector<std::size_t> side = {master, servers + master, near_host};
    set().forget_sentinel(master);
    network().cut(side, hosts_but(side));
  }
  void heal() {
    network().join();
    set().set_patience_ms(sentinel_set::patience_ms);
    set().remember_sentinel(master);
    EXPECT_TRUE(set().is_whole_in_time());
  }
  void await_replaced() { set().await_master_other_than(master); }
  // It has given its replicas up.
  void await_alone() {
    EXPECT_TRUE(eventually([&] {
      const auto reply = set().server(master).command({"INFO", "replication"});
      return reply.find("connected_slaves:0") != reply.npos;
    }));
  }
  void expect_exclusive_with(const std::string& acks);
  void expect_client_report(const std::vector<std::size_t>& others);

  std::size_t master = 0;
};

void sentinel_partitions::expect_exclusive_with(const std::string& acks) {
  remote_client holder(network(), near_host, url("lease=2s&acks=" + acks));
  remote_client other(network(), far_host, url("lease=20s&acks=" + acks));
  cut_off(holder, other, [&] { cut_off_master_with_holder(); });
  expect_loss_report(holder);
  expect_next(other);
  await_alone();
  // No reachable replica is left, which differs from a master without replicas (hazard 7).
  for (int i = 0; i < 2; ++i)
    EXPECT_NE(status_name(MORTISE_OK), status_name(holder.ask("try order").status));
  heal();
  expect_as_others(holder, other);
}

TEST_P(sentinel_partitions,
       hazard_7_with_all_replicas_nobody_has_what_is_held_on_the_smaller_side) {
  expect_exclusive_with("all");
}

TEST_P(sentinel_partitions, hazard_7_with_one_replica_nobody_has_what_is_held_on_the_smaller_side) {
  expect_exclusive_with("1");
}

// Not promised without acknowledgements: a master that is cut off continues.
TEST_P(sentinel_partitions, hazard_7_without_them_two_have_it_until_the_sides_are_joined) {
  remote_client holder(network(), near_host, url("lease=2s"));
  remote_client other(network(), far_host, url("lease=20s"));
  cut_off(holder, other, [&] { cut_off_master_with_holder(); });
  const auto granted = other.receive();
  ASSERT_EQ(status_name(MORTISE_OK), status_name(granted.status)) << granted.message;
  EXPECT_GT(granted.token, held.token);
  heal();
  lost = holder.receive();
  EXPECT_EQ(status_name(MORTISE_LOST), status_name(lost.status));
  EXPECT_GT(lost.at, granted.at) << "better than the page says";
  EXPECT_EQ(status_name(MORTISE_LOST), status_name(holder.ask("unlock order").status));
  expect_as_others(holder, other);
}

void sentinel_partitions::expect_client_report(const std::vector<std::size_t>& others) {
  remote_client holder(network(), near_host, url("lease=2s"));
  remote_client other(network(), far_host, url("lease=20s"));
  cut_off(holder, other, [&] { network().cut({near_host}, others); });
  expect_loss_report(holder);
  expect_next(other);
  heal();
  expect_as_others(holder, other);
}

TEST_P(sentinel_partitions,
       hazard_1_a_client_that_is_cut_off_is_notified_before_another_has_the_lock) {
  expect_client_report(hosts_but({near_host}));
}

TEST_P(sentinel_partitions, hazard_1_a_client_that_reaches_all_but_the_master_is_notified_as_well) {
  expect_client_report({master});
}

// All clients reach all servers.
TEST_P(sentinel_partitions, hazard_26_the_line_of_a_master_that_its_peers_have_replaced_is_kept) {
  remote_client holder(network(), far_host, url("lease=60s&client_name=follower", "20s"));
  held = holder.ask("acquire order 20000");
  ASSERT_EQ(status_name(MORTISE_OK), status_name(held.status)) << held.message;
  remote_line line(network(), url("lease=20s&client_name=follower", "20s"), [&] {
    return set().server(master).command({"LLEN", queue_key("order")});
  });
  set().replicate();
  set().forget_sentinel(master);
  network().cut({master}, hosts_but({master}, 2 * servers));
  await_replaced();
  // A machine that stalls must not have them replace the next one, too, and lose what it granted.
  set().set_patience_ms(60'000);
  // A client that has not heard of it would unlock at the replaced one.
  ASSERT_TRUE(eventually([&] {
    const auto clients = set().server(master).command({"CLIENT", "LIST"});
    return clients.find(" name=follower ") == clients.npos;
  }));
  EXPECT_EQ(status_name(MORTISE_OK), status_name(holder.ask("held order").status));
  const auto left = holder.ask("unlock order");
  ASSERT_EQ(status_name(MORTISE_OK), status_name(left.status)) << left.message;
  line.expect_served_in_order(held.token);
}

// ---- all of it, again and again, while processes contend ------------------------------------

class sentinel_partition_chaos : public sentinel_partitions {
 protected:
  void contend(const std::string& query, bool is_exclusive) {
    contend_while(
        url("lease=500ms&" + query), is_exclusive, [this](unsigned number) { cut(number); },
        [this] { heal(); });
    for (std::size_t i = 0; i < contended_locks; ++i) {
      EXPECT_TRUE(eventually([&] {
        return set().master().command({"EXISTS", lock_key(std::to_string(i))}) == "0";
      }));
    }
  }

 private:
  void cut(unsigned number) {
    master = set().master_number();
    switch (number % 4) {
      case 0:
        return cut_off_master_with_holder();
      case 1:
        return network().cut({near_host}, hosts_but({near_host}));
      case 2:
        return network().cut({near_host}, {master});
      default:
        return network().cut({master}, hosts_but({master}, 2 * servers));
    }
  }
};

TEST_P(sentinel_partition_chaos, hazard_7_what_replicas_have_lets_no_two_hold) {
  contend("acks=all", true);
}

TEST_P(sentinel_partition_chaos, whatever_is_lost_no_token_is_given_twice_and_nothing_is_left) {
  contend("acks=0", false);
}

INSTANTIATE_TEST_SUITE_P(alone, sentinel_partition_chaos, best_medium, name_of_medium);
INSTANTIATE_TEST_SUITE_P(here, sentinel_partitions, best_medium, name_of_medium);
INSTANTIATE_TEST_SUITE_P(alone, sentinel_partitions, other_medium, name_of_medium);

}  // namespace
}  // namespace mortise::testing::sentinel_partition_test
