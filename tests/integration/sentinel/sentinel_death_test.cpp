// The lock of a dead process after a failover (option `release_on_death`): the helper has a
// connection to the new master.
#include <gtest/gtest.h>

#include <string>

#include "support/child.hpp"
#include "support/handles.hpp"
#include "support/sentinel_set.hpp"

namespace mortise::testing::sentinel_death_test {
namespace {

TEST(sentinel_death, releases_at_the_new_master) {
  sentinel_set set;
  const auto url = set.url("lease=10m&command_timeout=5s");
  child holder([&](child_end& test) {
    const auto client = open_client(url + "&release_on_death=on&client_name=follower");
    const auto lock = open_lock(client, "order");
    test.send(status_name(mortise_lock_acquire(lock.get(), patience_ms, nullptr)));
    test.receive();
    EXPECT_TRUE(
        eventually([&] { return mortise_lock_extend(lock.get(), 0, nullptr) == MORTISE_OK; }));
    // The connection of the helper opens just after the client's own.
    eventually([] { return false; }, second_ms);
    test.send("extended");
    test.receive();
  });
  ASSERT_EQ(status_name(MORTISE_OK), holder.receive());
  set.replicate();
  set.fail_over("follower");
  holder.send("go on");
  ASSERT_EQ("extended", holder.receive());
  holder.kill();
  const auto client = open_client(url);
  const auto lock = open_lock(client, "order");
  EXPECT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr));
}

}  // namespace
}  // namespace mortise::testing::sentinel_death_test
