// A cluster that announces addresses of a network that this process is not in, as in containers or
// behind NAT. Each server is reached through a proxy here.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "deployment/cluster/routing/slot.hpp"
#include "support/handles.hpp"
#include "support/partition/breaking_network.hpp"
#include "support/tcp_proxy.hpp"
#include "support/test_cluster.hpp"

namespace mortise::testing::cluster_address_map_test {
namespace {

constexpr std::size_t server_count = 6;

class mapped_cluster : public ::testing::Test {
 protected:
  mapped_cluster() {
    for (std::size_t i = 0; i < server_count; ++i) {
      ways.push_back(std::make_unique<tcp_proxy>(set.at(i).socket_path()));
      map += (i == 0 ? "" : ",") + set.address_of(i) + ">" + place(i);
    }
  }
  [[nodiscard]] std::string place(std::size_t server) const {
    return "localhost:" + std::to_string(ways[server]->port());
  }
  [[nodiscard]] std::string url(const std::string& query) const {
    return "redis+cluster://" + place(0) + "?command_timeout=1s&lease=60s" + query;
  }

  std::unique_ptr<breaking_network> network =
      breaking_network::make(breaking_network::best(), server_count);
  test_cluster set{{.network = network.get()}};
  std::vector<std::unique_ptr<tcp_proxy>> ways;
  std::string map;
};

// Every announcement is mapped: the topology, MOVED, and the replica that replaces a master.
TEST_F(mapped_cluster, a_hold_survives_a_moved_slot_and_a_failover_through_the_map) {
  const auto client = open_client(url("&address_map=" + map));
  for (int i = 0; i < 12; ++i)
    expect_acquired(open_lock(client, "of each master " + std::to_string(i)));
  const auto key = lock_key("order");
  const auto lock = open_lock(client, "order");
  expect_acquired(lock);
  const auto before = set.owner_of(key);
  set.move_slot(cluster::slot_of(key), before, set.other_master(before));
  const auto error = new_error();
  EXPECT_EQ(MORTISE_OK, mortise_lock_extend(lock.get(), 0, error.get()))
      << mortise_error_message(error.get());
  const auto owner = set.owner_of(key);
  ASSERT_NE(before, owner);
  set.at(owner).command({"WAIT", "1", std::to_string(patience_ms)});
  set.fail_over(owner);
  ASSERT_TRUE(eventually([&] {
    return mortise_lock_extend(lock.get(), 0, error.get()) == MORTISE_OK;
  })) << mortise_error_message(error.get());
  expect_released(lock);
}

TEST_F(mapped_cluster, a_server_that_is_not_reached_is_named_by_both_addresses) {
  const auto key = lock_key("order");
  const auto owner = set.owner_of(key);
  const auto refused = set.address_of(owner) + ">127.0.0.1:1";
  const auto other = set.other_master(owner);
  const auto client =
      open_client("redis+cluster://" + place(other) + "?command_timeout=1s&address_map=" + refused);
  const auto lock = open_lock(client, "order");
  const auto error = new_error();
  EXPECT_EQ(MORTISE_UNREACHABLE, mortise_lock_acquire(lock.get(), second_ms, error.get()));
  const std::string message = mortise_error_message(error.get());
  for (const auto& part : {" at " + set.address_of(owner) + ": ", std::string("127.0.0.1:1"),
                           "address_map gives 127.0.0.1:1 for " + set.address_of(owner),
                           std::string("or give the client the option address_map")}) {
    EXPECT_NE(std::string::npos, message.find(part)) << part << " in " << message;
  }
}

}  // namespace
}  // namespace mortise::testing::cluster_address_map_test
