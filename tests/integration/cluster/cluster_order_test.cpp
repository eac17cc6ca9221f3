// The waiters of a cluster keep their places, whatever happens to its slots and masters.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "deployment/cluster/routing/slot.hpp"
#include "integration/cluster/cluster_fixture.hpp"
#include "support/handles.hpp"
#include "support/waiters.hpp"

namespace mortise::testing::cluster_order_test {
namespace {

constexpr int waiters = 6;
const std::string key = lock_key("order");

// What a waiter has to go through.
class clusters_order : public clusters, public ::testing::WithParamInterface<kind> {
 protected:
  void SetUp() override {
    client_ = open_client(all->url());
    holder_ = open_user(GetParam(), client_);
    ASSERT_EQ(status_name(MORTISE_OK), status_name(holder_->acquire(most_permits)));
    for (int number = 1; number <= waiters; ++number) {
      waiters_.push_back(std::make_unique<waiter>(all->url(), GetParam(), number));
      ASSERT_TRUE(eventually([&] {
        return all->command_at(key, {"LLEN", queue_of(GetParam())}) == std::to_string(number);
      }));
    }
    // A master that dies loses the writes that its replicas have not received.
    ASSERT_EQ("1", all->command_at(key, {"WAIT", "1", std::to_string(patience_ms)}));
  }
  void leave_in_order() {
    ASSERT_TRUE(answers(client_));
    EXPECT_EQ(status_name(MORTISE_OK), status_name(holder_->leave(most_permits)));
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

// The head of the queue would give back at once what it got, and so lose its place.
TEST_P(clusters_order, hazard_32_outlives_forged_grants) {
  auto head = all->command_at(key, {"LINDEX", queue_of(GetParam()), "0"});
  if (GetParam() != kind::mutex) head.erase(0, head.find(' ') + 1);
  const auto owner = head.substr(0, head.find(' ', head.rfind(':')));
  ASSERT_LT(owner.size(), head.size()) << "the secret follows";
  const auto fence = all->command_at(key, {"PUBSUB", "SHARDCHANNELS", "mortise:inbox:*"});
  const auto tag = fence.substr(fence.find('{'), fence.find('}') - fence.find('{') + 1);
  const auto inbox = "mortise:inbox:" + owner.substr(3, owner.find(':', 3) - 3) + tag;
  for (const std::string secret : {"", " ", " aaaaaaaaaaaaaaaaaaaaaa"}) {
    const auto forged = "G 9007199254000000 1999999999000000 0 " + owner + secret;
    EXPECT_EQ("1", all->command_at(key, {"SPUBLISH", inbox, forged}));
  }
  EXPECT_TRUE(always(
      [&] {
        return all->command_at(key, {"LLEN", queue_of(GetParam())}) == std::to_string(waiters);
      },
      second_ms / 2));
  leave_in_order();
}

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

TEST_P(clusters_order, outlives_the_end_of_all_connections) {
  all->at(all->owner_of(key)).command({"CLIENT", "KILL", "TYPE", "pubsub"});
  all->at(all->owner_of(key)).command({"CLIENT", "KILL", "TYPE", "normal"});
  leave_in_order();
}

INSTANTIATE_TEST_SUITE_P(safety, clusters_order,
                         ::testing::Values(kind::mutex, kind::rw, kind::semaphore),
                         [](const auto& item) { return name_of(item.param); });

}  // namespace
}  // namespace mortise::testing::cluster_order_test
