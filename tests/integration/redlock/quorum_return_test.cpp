// A server of a quorum that hangs, is cut off and returns, while the client locks at full speed.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "integration/redlock/quorum_fixture.hpp"

namespace mortise::testing::quorum_return_test {
namespace {

class quorum_return : public quorum {
 protected:
  // Pairs of calls for other names, by so many threads, until the end of the test.
  void begin_load(const client_handle& client) {
    constexpr int users = 4;
    for (int user = 0; user < users; ++user) {
      load.emplace_back([&, user] {
        const auto lock = open_lock(client, "load" + std::to_string(user));
        while (!is_over) {
          const bool is_had =
              mortise_lock_acquire(lock.get(), 5 * second_ms, nullptr) == MORTISE_OK;
          if (is_had && mortise_lock_unlock(lock.get(), nullptr) == MORTISE_OK) ++pairs;
        }
      });
    }
  }
  void end_load() {
    is_over = true;
    for (auto& user : load) user.join();
    load.clear();
  }
  void TearDown() override { end_load(); }

  std::vector<std::thread> load;
  std::atomic<bool> is_over{false};
  std::atomic<std::int64_t> pairs{0};
};

TEST_F(quorum_return, one_that_hangs_and_returns_stops_nobody_and_keeps_no_vote) {
  start(3);
  const auto client = open_client(url("quarantine=0&lease=60s&command_timeout=1s"));
  const options_handle terms(mortise_options_new_from(client.get(), nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_options_set_lease_ms(terms.get(), 1500, nullptr));
  const auto short_lived = open_lock(client, "held", terms.get());
  expect_acquired(short_lived);
  const auto probe = open_lock(client, name);
  begin_load(client);
  ASSERT_TRUE(eventually([&] { return pairs > 100; }));
  servers[2]->pause();
  // The connection is given up meanwhile, and what was asked on it is owed.
  for (int i = 0; i < 40; ++i) {
    EXPECT_EQ(MORTISE_OK, mortise_lock_acquire(probe.get(), patience_ms, nullptr));
    EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(probe.get(), nullptr));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  servers[2]->resume();
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(MORTISE_OK, mortise_lock_acquire(probe.get(), patience_ms, nullptr));
    EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(probe.get(), nullptr));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_EQ(1, mortise_lock_is_held(short_lived.get()));
  end_load();
  EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(short_lived.get(), nullptr));
  for (int user = 0; user < 4; ++user) {
    const auto key = lock_key("load" + std::to_string(user));
    EXPECT_TRUE(eventually([&] { return owner_at(2, key) == "(nil)"; })) << key;
  }
  EXPECT_TRUE(eventually([&] { return is_free(); }));
}

// The connection's bound is reached, and yet each vote is given back once there is room.
TEST_F(quorum_return, one_that_returns_is_brought_every_release_that_it_is_owed) {
  constexpr int locks = 400;
  start(3);
  // Sent only, because on a slow machine the two others may not answer all of them in time.
  const auto client =
      open_client_patiently(url("quarantine=0&lease=60s&command_timeout=300ms&release=sent"));
  std::vector<lock_handle> held;
  for (int i = 0; i < locks; ++i) {
    held.push_back(open_lock(client, "held" + std::to_string(i)));
    expect_acquired(held.back());
  }
  ASSERT_TRUE(eventually([&] { return owner_at(2, lock_key("held399")) != "(nil)"; }));
  servers[2]->pause();
  for (const auto& lock : held) {
    ASSERT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), nullptr));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  servers[2]->resume();
  for (int i = 0; i < locks; ++i) {
    const auto key = lock_key("held" + std::to_string(i));
    ASSERT_TRUE(eventually([&] { return owner_at(2, key) == "(nil)"; })) << key;
  }
}

}  // namespace
}  // namespace mortise::testing::quorum_return_test
