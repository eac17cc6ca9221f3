// The lock of a dead process in a cluster (option `release_on_death`): its release goes to the
// server that has the slot by then.
#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

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

// The slot attaches while the server does not answer. Then all requests are sent.
TEST_F(clusters_death, releases_claims_that_were_requested_before_the_slot_was_attached) {
  constexpr std::int64_t count = 8;
  child holder([&](child_end& test) {
    ::mallopt(M_PERTURB, 0xa5);  // freed memory is not what it was
    const auto client = open_client(all->url() + "?lease=10m&release_on_death=on");
    expect_acquired(open_lock(client, "other"));
    const auto queue = open_queue(client);
    std::vector<semaphore_handle> permits;
    test.send("open");
    test.receive();
    for (std::int64_t i = 0; i < count; ++i) {
      permits.push_back(open_semaphore(client, "order", count));
      EXPECT_EQ(MORTISE_OK, mortise_semaphore_acquire_async(permits.back().get(), queue.get(), i, 1,
                                                            patience_ms, nullptr));
    }
    test.send("requested");
    for (std::int64_t i = 0; i < count; ++i) EXPECT_EQ(MORTISE_OK, next_event(queue).status);
    test.send("held");
    test.receive();
  });
  ASSERT_EQ("open", holder.receive());
  const auto owner = all->owner_of(lock_key("order"));
  all->pause(owner);
  holder.send("go on");
  EXPECT_EQ("requested", holder.receive());
  all->heal();
  ASSERT_EQ("held", holder.receive());
  // The connection of the helper opens just after the server's own.
  eventually([] { return false; }, second_ms);
  holder.kill();
  const auto client = open_client(all->url());
  const auto permits = open_semaphore(client, "order", count);
  EXPECT_EQ(MORTISE_OK, mortise_semaphore_acquire(permits.get(), count, patience_ms, nullptr));
}

// The server of the slot has the scripts of mutexes only (hazard 27).
TEST_F(clusters_death, hazard_27_releases_a_lock_of_another_kind) {
  child holder([&](child_end& test) {
    const auto client = open_client(all->url() + "?lease=10m&release_on_death=on");
    const auto rw = open_rw(client, "order");
    test.send(status_name(mortise_rw_write_acquire(rw.get(), patience_ms, nullptr)));
    eventually([] { return false; }, second_ms);
    test.send("ready");
    test.receive();
  });
  ASSERT_EQ(status_name(MORTISE_OK), holder.receive());
  ASSERT_EQ("ready", holder.receive());
  holder.kill();
  const auto client = open_client(all->url());
  const auto rw = open_rw(client, "order");
  EXPECT_EQ(MORTISE_OK, mortise_rw_write_acquire(rw.get(), patience_ms, nullptr));
}

}  // namespace
}  // namespace mortise::testing::cluster_death_test
