// A connection that is open and delivers nothing, because the process was frozen or a NAT dropped
// the flow. The server accepts new connections.
#include <gtest/gtest.h>

#include <string>

#include "support/handles.hpp"
#include "support/server.hpp"
#include "support/tcp_proxy.hpp"

namespace mortise::testing::silent_connection_test {
namespace {

class silent_connection : public ::testing::Test {
 protected:
  [[nodiscard]] mortise_status attempt(const lock_handle& lock) {
    return mortise_lock_try(lock.get(), error_.get());
  }
  [[nodiscard]] std::string message() const { return mortise_error_message(error_.get()); }

  test_server server_;
  tcp_proxy network_{server_.socket_path()};
  error_handle error_ = new_error();
};

TEST_F(silent_connection, hazard_26_a_call_succeeds_over_a_new_connection) {
  const auto client = open_client(network_.url());
  const auto lock = open_lock(client, "a");
  for (int round = 0; round < 2; ++round) {
    network_.control("forget");
    ASSERT_EQ(MORTISE_OK, attempt(lock)) << message();
    network_.control("forget");
    ASSERT_EQ(MORTISE_OK, mortise_lock_extend(lock.get(), 0, error_.get())) << message();
    network_.control("forget");
    ASSERT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), error_.get())) << message();
  }
}

TEST_F(silent_connection, hazard_26_a_hold_survives) {
  const auto client = open_client(network_.url() + "?lease=3s");
  const auto lock = open_lock(client, "a");
  ASSERT_EQ(MORTISE_OK, attempt(lock)) << message();
  network_.control("forget");
  EXPECT_TRUE(always([&] { return mortise_lock_is_held(lock.get()) == 1; }, 5 * second_ms));
  EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), error_.get())) << message();
}

TEST_F(silent_connection, hazard_24_a_waiter_is_granted_the_lock) {
  const auto client = open_client(network_.url());
  const auto other = open_client(server_.url());
  const auto lock = open_lock(client, "a");
  const auto holder = open_lock(other, "a");
  ASSERT_EQ(MORTISE_OK, attempt(holder));
  const auto queue = queue_handle(mortise_queue_new(client.get(), 0, nullptr));
  ASSERT_EQ(MORTISE_OK,
            mortise_lock_acquire_async(lock.get(), queue.get(), 1, patience_ms, nullptr));
  ASSERT_TRUE(eventually([&] { return server_.command({"LLEN", "{mortise:a}:q"}) == "1"; }));
  network_.control("forget");
  ASSERT_EQ(MORTISE_OK, mortise_lock_unlock(holder.get(), nullptr));
  const auto event = event_handle(mortise_event_new());
  ASSERT_EQ(MORTISE_OK, mortise_queue_next(queue.get(), patience_ms, event.get(), nullptr));
  EXPECT_EQ(MORTISE_OK, mortise_event_status(event.get()));
}

}  // namespace
}  // namespace mortise::testing::silent_connection_test
