// Slots that migrate as a whole (CLUSTER MIGRATESLOTS), while their locks are held, waited for and
// cancelled. Valkey from 9 on can do that: `./dev test --deployments` runs these on it.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "deployment/cluster/routing/slot.hpp"
#include "integration/cluster/cluster_fixture.hpp"
#include "support/waiters.hpp"

namespace mortise::testing::cluster_migration_test {
namespace {

const std::string key = lock_key("order");

class cluster_migration : public clusters {
 protected:
  void SetUp() override {
    ASSERT_TRUE(all->has_migration()) << "name a server that has it in MORTISE_TEST_SERVER";
  }
  // All slots of the server that has the lock's, to another.
  static void migrate() {
    const auto slot = cluster::slot_of(key);
    const auto from = all->owner_of(key);
    all->migrate_slots(slot, slot, from, all->other_master(from));
    EXPECT_NE(from, all->owner_of(key));
  }
};

TEST_F(cluster_migration, a_hold_goes_along_and_tokens_rise) {
  const auto client = open_client(all->url() + "?lease=2s");
  const auto lock = open_lock(client, "order");
  std::int64_t last = 0;
  for (int turn = 0; turn < 4; ++turn) {
    expect_acquired(lock);
    EXPECT_LT(last, mortise_lock_token(lock.get()));
    last = mortise_lock_token(lock.get());
    migrate();
    EXPECT_TRUE(always([&] { return mortise_lock_is_held(lock.get()) == 1; }, 2500));
    EXPECT_EQ(last, mortise_lock_token(lock.get()));
    expect_released(lock);
  }
}

TEST_F(cluster_migration, those_who_wait_keep_their_places) {
  for (const auto one : {kind::mutex, kind::rw, kind::semaphore}) {
    const auto client = open_client(all->url());
    const auto holder = open_user(one, client);
    ASSERT_EQ(status_name(MORTISE_OK), status_name(holder->acquire(most_permits)));
    std::vector<std::unique_ptr<waiter>> waiters;
    for (int number = 1; number <= 5; ++number) {
      waiters.push_back(std::make_unique<waiter>(all->url(), one, number));
      ASSERT_TRUE(eventually([&] {
        return all->command_at(key, {"LLEN", queue_of(one)}) == std::to_string(number);
      }));
    }
    migrate();
    EXPECT_EQ(status_name(MORTISE_OK), status_name(holder->leave(most_permits)));
    expect_in_order(waiters);
    waiters.clear();
    all->flush();
  }
}

TEST_F(cluster_migration, who_cancels_meanwhile_is_gone_and_leaves_nothing) {
  const auto client = open_client(all->url());
  const auto other = open_client(all->url());
  const auto held = open_lock(client, "order");
  expect_acquired(held);
  std::atomic<bool> is_over{false};
  std::thread comes_and_goes([&] {
    const auto contended = open_lock(other, "order");
    while (!is_over)
      EXPECT_EQ(MORTISE_TIMED_OUT, mortise_lock_acquire(contended.get(), 300, nullptr));
  });
  for (int turn = 0; turn < 4; ++turn) migrate();
  is_over = true;
  comes_and_goes.join();
  EXPECT_TRUE(eventually([&] {
    return all->command_at(key, {"EXISTS", queue_key("order")}) == "0";
  }));
  expect_released(held);
  EXPECT_TRUE(eventually([&] { return all->command_at(key, {"EXISTS", key}) == "0"; }));
}

}  // namespace
}  // namespace mortise::testing::cluster_migration_test
