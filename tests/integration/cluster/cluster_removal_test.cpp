// Servers that leave the cluster, and an entry of the client's list that gets another server.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>

#include "deployment/cluster/cluster_server.hpp"
#include "deployment/cluster/routing/slot.hpp"
#include "integration/cluster/cluster_fixture.hpp"
#include "net/reactor.hpp"
#include "support/test_cluster.hpp"

namespace mortise::testing::cluster_removal_test {
namespace {

bool has_client(test_server& at, const std::string& name) {
  return at.command({"CLIENT", "LIST"}).find("name=" + name) != std::string::npos;
}

TEST_F(clusters, the_connection_to_a_server_that_left_the_cluster_is_closed) {
  test_cluster set(
      {.masters = 3, .replicas_each = 0, .arguments = {"--cluster-require-full-coverage", "no"}});
  const auto client = open_client(set.url() + "?command_timeout=600ms&client_name=stayer");
  const auto lock = open_lock(client, "order");
  const auto key = lock_key("order");
  const auto left = set.owner_of(key);
  expect_acquired(lock);
  ASSERT_TRUE(has_client(set.at(left), "stayer"));
  const auto to = set.other_master(left);
  set.move_slot(cluster::slot_of(key), left, to);
  const auto id = set.at(left).command({"CLUSTER", "MYID"});
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (i == left) continue;
    ASSERT_EQ("OK", set.at(i).command({"CLUSTER", "FORGET", id}));
  }
  expect_released(lock);  // the client learns that its slot moved, and asks for the topology
  const auto is_closed = [&] { return !has_client(set.at(left), "stayer"); };
  // On a loaded machine it may ask the server that left, which still reports itself. Then only
  // another move makes it ask again.
  auto owner = to;
  for (int i = 0; i < 3 && !eventually(is_closed, patience_ms / 4); ++i) {
    const auto next = set.size() - left - owner;
    set.move_slot(cluster::slot_of(key), owner, next);
    owner = next;
    expect_acquired(lock);
    expect_released(lock);
  }
  EXPECT_TRUE(eventually(is_closed));
  EXPECT_TRUE(has_client(set.at(owner), "stayer"));
  expect_acquired(lock);
  expect_released(lock);
}

// The connection comes up, and no gate is notified.
class quiet_listener final : public deployment::cluster_server::listener {
 public:
  std::string why;  // of the last end
  std::atomic<int> ups{0};
  std::atomic<int> downs{0};

 private:
  void on_server_up(deployment::cluster_server& /*which*/) noexcept override { ++ups; }
  void on_server_replaced(deployment::cluster_server& /*which*/) noexcept override {}
  void on_server_down(deployment::cluster_server& /*which*/,
                      const outcome& result) noexcept override {
    why = result.words();
    ++downs;
  }
  void on_server_overdue(deployment::cluster_server& /*which*/) noexcept override {}
  void on_server_note(log_subject /*what*/, const outcome& /*result*/) noexcept override {}
  void on_server_push(std::string_view /*channel*/, std::string_view /*payload*/,
                      time_ns /*now*/) noexcept override {}
  void on_server_unsubscribed(deployment::cluster_server& /*which*/,
                              std::string_view /*channel*/) noexcept override {}
  void on_server_listening(std::string_view /*channel*/) noexcept override {}
};

TEST_F(clusters, an_entry_of_a_server_that_left_connects_to_the_next_one_and_knows_nothing_of_it) {
  const auto place_of = [](std::size_t number) {
    return cluster::endpoint{"127.0.0.1", all->at(number).port()};
  };
  net::reactor loop;
  ASSERT_TRUE(loop.start().ok());
  quiet_listener listener;
  const auto place = std::make_shared<deployment::server_place>(
      place_of(0), std::make_shared<const address_map>(""));
  redis::connection_config config;
  config.where = place;
  config.is_of_cluster = true;
  config.client_name = "wanderer";
  deployment::cluster_server server(loop, 0, place, config, settings(), "client", nullptr,
                                    listener);
  ASSERT_TRUE(server.begin().ok());
  ASSERT_TRUE(eventually([&] { return listener.ups == 1; }));
  server.connection().commands().break_off(
      outcome::of(status::unreachable, "a reconnect is counted"));
  ASSERT_TRUE(eventually([&] { return listener.ups == 2; }));
  const auto reconnects = [&] {
    statistics::snapshot all_counts;
    server.statistics().add_to(all_counts, "it");
    double sum = 0;
    for (const auto& one : all_counts.samples()) {
      if (one.name == "mortise_reconnects_total") sum += one.value;
    }
    return sum;
  };
  EXPECT_EQ(1, reconnects());

  server.rest();
  ASSERT_TRUE(eventually([&] { return listener.downs == 2; }));
  server.change(place_of(1));
  EXPECT_EQ(place_of(1), server.where());
  EXPECT_EQ(0, reconnects());
  EXPECT_NE(std::string::npos, server.connection().last_problem().words().find(place_of(1).text()));
  ASSERT_TRUE(server.begin().ok());
  ASSERT_TRUE(eventually([&] { return listener.ups == 3; }));
  EXPECT_TRUE(has_client(all->at(1), "wanderer"));
  EXPECT_TRUE(eventually([&] { return !has_client(all->at(0), "wanderer"); }));
  EXPECT_TRUE(server.problem().ok());
  EXPECT_EQ(0, reconnects()) << "the first connection to this server";

  ASSERT_NE("0", all->at(1).command({"CLIENT", "KILL", "TYPE", "normal"}));
  ASSERT_TRUE(eventually([&] { return listener.downs == 3; }));
  EXPECT_EQ(0U, listener.why.find(place_of(1).text() + ":")) << listener.why;
  server.close(0);
}

}  // namespace
}  // namespace mortise::testing::cluster_removal_test
