// The option health_check=strict: nothing is asked of a server that was found bad.
#include <gtest/gtest.h>

#include <string>

#include "support/handles.hpp"
#include "support/server.hpp"

namespace mortise::testing::health_strict_test {
namespace {

void let_evict(test_server& server, bool is_on) {
  server.command({"CONFIG", "SET", "maxmemory", "1gb"});
  server.command({"CONFIG", "SET", "maxmemory-policy", is_on ? "allkeys-lru" : "noeviction"});
}

// Tries until the server has been found bad.
void expect_refused(const lock_handle& lock) {
  const auto error = new_error();
  auto status = MORTISE_UNREACHABLE;
  ASSERT_TRUE(eventually([&] {
    status = static_cast<mortise_status_code>(mortise_lock_try(lock.get(), error.get()));
    return status != MORTISE_UNREACHABLE;
  }));
  EXPECT_EQ(status, MORTISE_REFUSED);
  const std::string message = mortise_error_message(error.get());
  EXPECT_NE(message.find("maxmemory_policy is bad"), std::string::npos) << message;
}

TEST(strict_health_check, hazard_12_nothing_is_asked_of_a_server_that_evicts) {
  test_server server;
  let_evict(server, true);
  const auto client = open_client(server.url() + "?health_check=strict&connect=lazy");
  const auto lock = open_lock(client, "x");
  expect_refused(lock);
  EXPECT_EQ(server.command({"EXISTS", "{mortise:x}"}), "0");
  let_evict(server, false);
  EXPECT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr));
}

TEST(strict_health_check, hazard_12_nor_of_one_that_is_connected_to_later) {
  test_server server;
  const auto client = open_client(server.url() + "?health_check=strict");
  const auto lock = open_lock(client, "x");
  ASSERT_EQ(MORTISE_OK, mortise_lock_try(lock.get(), nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), nullptr));
  let_evict(server, true);
  server.command({"CLIENT", "KILL", "SKIPME", "yes"});
  ASSERT_TRUE(
      eventually([&] { return mortise_client_ping(client.get(), nullptr) == MORTISE_REFUSED; }));
  expect_refused(lock);
  EXPECT_EQ(server.command({"EXISTS", "{mortise:x}"}), "0");
  let_evict(server, false);
  EXPECT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr));
}

}  // namespace
}  // namespace mortise::testing::health_strict_test
