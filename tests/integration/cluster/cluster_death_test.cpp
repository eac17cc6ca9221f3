// The lock of a dead process in a cluster (option `release_on_death`): its release goes to the
// server that has the slot by then.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "deployment/cluster/routing/slot.hpp"
#include "integration/cluster/cluster_fixture.hpp"
#include "support/child.hpp"

namespace mortise::testing::cluster_death_test {
namespace {

class clusters_death : public clusters {
 protected:
  // The lock of a killed process is free, after something happened to its slot.
  static void expect_free_after(const std::function<void(const std::string& key)>& event) {
    child holder([&](child_end& test) {
      const auto client = open_client(all->url() + "?lease=10m&release_on_death=on");
      const auto lock = open_lock(client, "order");
      test.send(status_name(mortise_lock_acquire(lock.get(), patience_ms, nullptr)));
      test.receive();
      test.send(status_name(mortise_lock_extend(lock.get(), 0, nullptr)));
      // The connection of the helper opens just after the server's own.
      eventually([] { return false; }, second_ms);
      test.send("ready");
      test.receive();
    });
    ASSERT_EQ(status_name(MORTISE_OK), holder.receive());
    event(lock_key("order"));
    holder.send("go on");
    ASSERT_EQ(status_name(MORTISE_OK), holder.receive());
    ASSERT_EQ("ready", holder.receive());
    holder.kill();
    const auto client = open_client(all->url());
    const auto lock = open_lock(client, "order");
    EXPECT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr));
  }
};

TEST_F(clusters_death, releases_at_the_server_of_the_slot) {
  expect_free_after([](const std::string& /*key*/) {});
}

TEST_F(clusters_death, releases_after_a_move_of_the_slot) {
  expect_free_after([](const std::string& key) {
    const auto from = all->owner_of(key);
    all->move_slot(cluster::slot_of(key), from, all->other_master(from));
  });
}

TEST_F(clusters_death, releases_after_a_failover) {
  expect_free_after([](const std::string& key) {
    const auto owner = all->owner_of(key);
    all->at(owner).command({"WAIT", "1", std::to_string(patience_ms)});
    all->fail_over(owner);
  });
}

}  // namespace
}  // namespace mortise::testing::cluster_death_test
