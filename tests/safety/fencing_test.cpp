// The protected resource refuses late holders by their tokens (hazard 1), and never the current
// holder.
#include <gtest/gtest.h>

#include <mutex>
#include <thread>
#include <vector>

#include "support/fenced_store.hpp"
#include "support/handles.hpp"
#include "support/server.hpp"

namespace mortise::testing::fencing_test {
namespace {

class reader {
 public:
  explicit reader(const client_handle& client) : rw_(open_rw(client, "fence")) {}
  std::int64_t begin() {
    EXPECT_EQ(MORTISE_OK, mortise_rw_read_acquire(rw_.get(), patience_ms, nullptr));
    return mortise_rw_token(rw_.get());
  }
  void end() { EXPECT_EQ(MORTISE_OK, mortise_rw_read_unlock(rw_.get(), nullptr)); }

 private:
  rw_handle rw_;
};

TEST(safety, a_reader_that_shares_a_hold_passes_a_fence_after_a_reader_with_a_higher_token) {
  test_server server;
  const auto client = open_client(server.url());
  const auto second_client = open_client(server.url());
  fenced_store store;
  reader first(client);
  reader other(second_client);
  reader second(client);
  const auto first_token = first.begin();
  EXPECT_TRUE(store.read(first_token));
  const auto other_token = other.begin();
  EXPECT_TRUE(store.read(other_token));
  other.end();
  const auto second_token = second.begin();
  EXPECT_LT(second_token, other_token) << "otherwise readers need no rule of their own";
  EXPECT_TRUE(store.read(second_token));
  first.end();
  second.end();

  const auto writer = open_rw(second_client, "fence");
  ASSERT_EQ(MORTISE_OK, mortise_rw_write_acquire(writer.get(), patience_ms, nullptr));
  EXPECT_TRUE(store.write(mortise_rw_token(writer.get())));
  for (const auto late : {first_token, other_token, second_token}) EXPECT_FALSE(store.read(late));
}

// Upgrades and downgrades are among what the writers do.
TEST(safety, a_fence_refuses_no_rightful_reader_or_writer_of_two_clients) {
  test_server server;
  const std::vector<client_handle> clients = [&] {
    std::vector<client_handle> made;
    for (int i = 0; i < 2; ++i) made.push_back(open_client(server.url()));
    return made;
  }();
  fenced_store store;
  std::mutex mutex;
  const auto is_accepted = [&](mortise_rw* rw, bool is_write) {
    const std::lock_guard lock(mutex);
    const auto token = mortise_rw_token(rw);
    return is_write ? store.write(token) : store.read(token);
  };
  const auto read = [&](const client_handle& client) {
    const auto rw = open_rw(client, "fence");
    for (int i = 0; i < 200; ++i) {
      ASSERT_EQ(MORTISE_OK, mortise_rw_read_acquire(rw.get(), patience_ms, nullptr));
      EXPECT_TRUE(is_accepted(rw.get(), false));
      if (i % 4 == 0 && mortise_rw_upgrade(rw.get(), nullptr) == MORTISE_OK) {
        EXPECT_TRUE(is_accepted(rw.get(), true));
        ASSERT_EQ(MORTISE_OK, mortise_rw_downgrade(rw.get(), nullptr));
        EXPECT_TRUE(is_accepted(rw.get(), false));
      }
      ASSERT_EQ(MORTISE_OK, mortise_rw_read_unlock(rw.get(), nullptr));
    }
  };
  const auto write = [&](const client_handle& client) {
    const auto rw = open_rw(client, "fence");
    for (int i = 0; i < 50; ++i) {
      ASSERT_EQ(MORTISE_OK, mortise_rw_write_acquire(rw.get(), patience_ms, nullptr));
      EXPECT_TRUE(is_accepted(rw.get(), true));
      ASSERT_EQ(MORTISE_OK, mortise_rw_write_unlock(rw.get(), nullptr));
    }
  };
  std::vector<std::thread> threads;
  for (const auto& client : clients) {
    for (int i = 0; i < 4; ++i) threads.emplace_back(read, std::cref(client));
    threads.emplace_back(write, std::cref(client));
  }
  for (auto& each : threads) each.join();
}

}  // namespace
}  // namespace mortise::testing::fencing_test
