// A server that is out of memory and breaks its connections (hazard 13). Holds stay held and can be
// released. No grant has a token that falls.
#include <chrono>
#include <string>
#include <thread>

#include "support/handles.hpp"
#include "support/server.hpp"

namespace mortise::testing::full_server_test {
namespace {

class full_server_test : public ::testing::Test {
 protected:
  void fill() { ASSERT_EQ("OK", server_.command({"CONFIG", "SET", "maxmemory", "1"})); }
  void make_room() { ASSERT_EQ("OK", server_.command({"CONFIG", "SET", "maxmemory", "0"})); }
  // Everybody's but the fixture's own.
  void break_connections() {
    ASSERT_GE(std::stoi(server_.command({"CLIENT", "KILL", "TYPE", "pubsub", "SKIPME", "yes"})), 1);
  }
  std::int64_t fence() { return std::stoll(server_.command({"GET", "mortise:fence"})); }

  test_server server_;
};

TEST_F(full_server_test, hazard_13_a_hold_outlives_its_connection_and_is_given_back) {
  const auto client = open_client(server_.url() + "?lease=2s");
  const auto lock = open_lock(client, "kept");
  ASSERT_EQ(MORTISE_OK, mortise_lock_try(lock.get(), nullptr));
  const auto token = mortise_lock_token(lock.get());
  fill();
  for (int i = 0; i < 3; ++i) {
    break_connections();
    // For longer than its lease, so that it has been renewed.
    const auto begin = boot_now();
    while (ms_since(begin) < 2400) {
      ASSERT_EQ(1, mortise_lock_is_held(lock.get())) << "at the " << i << ". break";
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
  EXPECT_EQ(MORTISE_OK, mortise_lock_extend(lock.get(), 60'000, nullptr));
  EXPECT_EQ(token, mortise_lock_token(lock.get()));
  EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), nullptr));
  EXPECT_EQ("0", server_.command({"EXISTS", lock_key("kept")}));
}

TEST_F(full_server_test, hazard_13_parts_outlive_a_lease_and_are_given_back) {
  const auto client = open_client(server_.url() + "?lease=2s");
  const auto reader = open_rw(client, "read");
  const auto semaphore = open_semaphore(client, "permits", 3);
  const auto other_client = open_client(server_.url() + "?lease=60s");
  const auto other_reader = open_rw(other_client, "read");
  ASSERT_EQ(MORTISE_OK, mortise_rw_read_try(reader.get(), nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_semaphore_try(semaphore.get(), 2, nullptr));
  // The key lasts longer than the reader's lease, so it would not have to be prolonged.
  ASSERT_EQ(MORTISE_OK, mortise_rw_read_try(other_reader.get(), nullptr));
  fill();
  const auto begin = boot_now();
  while (ms_since(begin) < 4500) {
    ASSERT_EQ(1, mortise_rw_is_reading(reader.get()));
    ASSERT_EQ(1, mortise_semaphore_is_held(semaphore.get()));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_EQ(MORTISE_OK, mortise_rw_read_unlock(reader.get(), nullptr));
  EXPECT_EQ(MORTISE_OK, mortise_rw_read_unlock(other_reader.get(), nullptr));
  EXPECT_EQ(MORTISE_OK, mortise_semaphore_release(semaphore.get(), nullptr));
  EXPECT_EQ("0", server_.command({"EXISTS", lock_key("read"), lock_key("permits")}));
}

TEST_F(full_server_test, hazard_13_nothing_is_acquired_and_the_reason_is_reported) {
  fill();
  const auto client = open_client(server_.url());
  const auto lock = open_lock(client, "wanted");
  const auto error = new_error();
  EXPECT_EQ(MORTISE_REFUSED, mortise_lock_acquire(lock.get(), 1000, error.get()));
  EXPECT_EQ(0U, std::string(mortise_error_server_text(error.get())).find("OOM"));
  EXPECT_EQ(MORTISE_OK, mortise_client_ping(client.get(), nullptr));
  make_room();
  EXPECT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr));
}

// A server brought back from an old copy has an old counter, also when it has no memory to spare.
TEST_F(full_server_test, hazard_13_the_fence_is_lifted_all_the_same) {
  const auto first = open_client(server_.url());
  const auto lock = open_lock(first, "fenced");
  ASSERT_EQ(MORTISE_OK, mortise_lock_try(lock.get(), nullptr));
  const auto token = mortise_lock_token(lock.get());
  ASSERT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), nullptr));
  for (const auto* old : {"1500000000000000", "1"}) {
    ASSERT_EQ("OK", server_.command({"SET", "mortise:fence", old}));
    fill();
    const auto client = open_client(server_.url());
    EXPECT_GT(fence(), token);
    make_room();
    const auto later = open_lock(client, "fenced");
    ASSERT_EQ(MORTISE_OK, mortise_lock_try(later.get(), nullptr));
    EXPECT_GT(mortise_lock_token(later.get()), token);
  }
}

}  // namespace
}  // namespace mortise::testing::full_server_test
