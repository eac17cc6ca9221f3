// Sentinels that announce addresses of a network that this process is not in, as in containers or
// behind NAT. Each server is reached through a proxy here.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "support/handles.hpp"
#include "support/partition/breaking_network.hpp"
#include "support/sentinel_set.hpp"
#include "support/tcp_proxy.hpp"

namespace mortise::testing::sentinel_address_map_test {
namespace {

constexpr std::size_t set_size = 3;

TEST(mapped_sentinels, a_hold_survives_a_failover_through_the_map) {
  const auto network = breaking_network::make(breaking_network::best(), 2 * set_size);
  sentinel_set set({.network = network.get()});
  std::vector<std::unique_ptr<tcp_proxy>> ways;
  std::string url = "redis+sentinel://";
  std::string map;
  for (std::size_t i = 0; i < set_size; ++i) {
    ways.push_back(std::make_unique<tcp_proxy>(set.sentinel(i).socket_path()));
    url += (i == 0 ? "localhost:" : ",localhost:") + std::to_string(ways.back()->port());
    ways.push_back(std::make_unique<tcp_proxy>(set.server(i).socket_path()));
    map += (i == 0 ? "" : ",") + network->address_of(i) + ":" +
           std::to_string(set.server(i).port()) +
           ">localhost:" + std::to_string(ways.back()->port());
  }
  const auto client =
      open_client(url + "/mymaster?command_timeout=5s&lease=60s&address_map=" + map);
  const auto lock = open_lock(client, "order");
  expect_acquired(lock);
  set.replicate();
  set.fail_over();
  const auto error = new_error();
  ASSERT_TRUE(eventually([&] {
    return mortise_lock_extend(lock.get(), 0, error.get()) == MORTISE_OK;
  })) << mortise_error_message(error.get());
  expect_released(lock);
}

}  // namespace
}  // namespace mortise::testing::sentinel_address_map_test
