// Locks in a cluster whose slots move and whose masters fail. One cluster serves all tests of a
// process, and is made whole again after each.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cluster/slot.hpp"
#include "safety/handles.hpp"
#include "safety/waiters.hpp"
#include "support/test_cluster.hpp"

namespace mortise::testing {
namespace {

constexpr int waiters = 6;
const std::string key = lock_key("order");

class clusters : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!all) all = std::make_unique<test_cluster>();
  }
  void TearDown() override {
    all->heal();
    all->flush();
  }

  static std::string problem_of(const std::string& url, mortise_status expected) {
    const auto error = new_error();
    const client_handle client(mortise_client_new(url.data(), url.size(), nullptr, error.get()));
    EXPECT_FALSE(client);
    EXPECT_EQ(expected, mortise_error_code(error.get())) << mortise_error_message(error.get());
    return mortise_error_message(error.get());
  }
  static void expect_acquired(const lock_handle& lock) {
    const auto error = new_error();
    EXPECT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, error.get()))
        << mortise_error_message(error.get());
  }
  static void expect_released(const lock_handle& lock) {
    const auto error = new_error();
    EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), error.get()))
        << mortise_error_message(error.get());
  }

  inline static std::unique_ptr<test_cluster> all;
};

// What a waiter has to go through.
class clusters_order : public clusters, public ::testing::WithParamInterface<kind> {
 protected:
  void SetUp() override {
    client_ = open_client(all->url());
    holder_ = open_user(GetParam(), client_);
    ASSERT_EQ(told(MORTISE_OK), told(holder_->acquire(permits)));
    for (int number = 1; number <= waiters; ++number) {
      waiters_.push_back(std::make_unique<waiter>(all->url(), GetParam(), number));
      ASSERT_TRUE(eventually([&] {
        return all->command_at(key, {"LLEN", queue_of(GetParam())}) == std::to_string(number);
      }));
    }
    // What a master has told nobody is lost with it.
    ASSERT_EQ("1", all->command_at(key, {"WAIT", "1", std::to_string(patience_ms)}));
  }
  void leave_in_order() {
    ASSERT_TRUE(answers(client_));
    EXPECT_EQ(told(MORTISE_OK), told(holder_->leave(permits)));
    expect_in_order(waiters_);
  }
  void TearDown() override {
    waiters_.clear();
    holder_.reset();
    client_.reset();
    clusters::TearDown();
  }

  client_handle client_;
  std::unique_ptr<user> holder_;
  std::vector<std::unique_ptr<waiter>> waiters_;
};

TEST_P(clusters_order, outlives_a_slot_that_moves) {
  const auto from = all->owner_of(key);
  all->move_slot(cluster::slot_of(key), from, all->other_master(from));
  leave_in_order();
}

TEST_P(clusters_order, outlives_a_failover_by_hand) {
  all->fail_over(all->owner_of(key));
  leave_in_order();
}

TEST_P(clusters_order, outlives_a_takeover) {
  all->fail_over(all->owner_of(key), {"TAKEOVER"});
  leave_in_order();
}

TEST_P(clusters_order, outlives_a_master_that_is_killed) {
  all->kill(all->owner_of(key));
  leave_in_order();
}

TEST_P(clusters_order, outlives_a_master_that_hangs) {
  all->pause(all->owner_of(key));
  leave_in_order();
}

INSTANTIATE_TEST_SUITE_P(safety, clusters_order,
                         ::testing::Values(kind::mutex, kind::rw, kind::semaphore),
                         [](const auto& item) { return name_of(item.param); });

TEST_F(clusters, names_are_shared_out_and_all_are_had) {
  const auto client = open_client(all->url());
  std::vector<lock_handle> locks;
  for (int i = 0; i < 30; ++i) {
    locks.push_back(open_lock(client, "name " + std::to_string(i)));
    ASSERT_EQ(MORTISE_OK, mortise_lock_try(locks.back().get(), nullptr));
  }
  for (std::size_t number = 0; number < all->size(); ++number) {
    EXPECT_NE("0", all->at(number).command({"DBSIZE"})) << number;
  }
  for (const auto& lock : locks) expect_released(lock);
}

TEST_F(clusters, a_try_is_told_at_once_that_another_has_it) {
  const auto client = open_client(all->url());
  const auto other = open_client("redis+cluster://" + all->address_of(2));
  const auto mine = open_lock(client, "mine");
  expect_acquired(mine);
  const auto wanted = open_lock(other, "mine");
  EXPECT_EQ(MORTISE_NOT_ACQUIRED, mortise_lock_try(wanted.get(), nullptr));
  std::thread later([&] { expect_acquired(wanted); });
  expect_released(mine);
  later.join();
  EXPECT_LT(mortise_lock_token(mine.get()), mortise_lock_token(wanted.get()));
  expect_released(wanted);
}

}  // namespace
}  // namespace mortise::testing
