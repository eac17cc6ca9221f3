// The log of a client reports faults that fail no call.
#include <gtest/gtest.h>

#include <string>

#include "support/handles.hpp"
#include "support/server.hpp"

namespace mortise::testing::log_test {
namespace {

class client_log : public ::testing::Test {
 protected:
  void SetUp() override { watch_log(client, queue); }

  test_server server;
  const client_handle client = open_client(server.url() + "?command_timeout=1500ms");
  const queue_handle queue = open_queue(client);
};

TEST_F(client_log, tells_that_a_server_is_slow) {
  const auto lock = open_lock(client, "slow");
  const auto calls = open_queue(client);
  server.pause();
  EXPECT_EQ(MORTISE_OK,
            mortise_lock_acquire_async(lock.get(), calls.get(), 1, patience_ms, nullptr));
  const auto line = next_line(queue, MORTISE_LOG_SLOW);
  EXPECT_NE(std::string::npos, line.find("answers are overdue")) << line;
  server.resume();
  EXPECT_EQ(MORTISE_OK, next_event(calls).status);
}

TEST_F(client_log, tells_that_a_server_refuses_and_that_it_no_longer_does) {
  ASSERT_EQ("OK", server.command({"CONFIG", "SET", "requirepass", "another one"}));
  server.command({"CLIENT", "KILL", "TYPE", "pubsub"});
  next_line(queue, MORTISE_LOG_DISCONNECTED);
  const auto line = next_line(queue, MORTISE_LOG_REFUSED);
  EXPECT_NE(std::string::npos, line.find("requires a password")) << line;
  EXPECT_EQ(std::string::npos, line.find("another one")) << line;
  ASSERT_EQ("OK", server.command({"CONFIG", "SET", "requirepass", ""}));
  next_line(queue, MORTISE_LOG_RECONNECTED);
}

}  // namespace
}  // namespace mortise::testing::log_test
