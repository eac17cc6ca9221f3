// What a client shows of itself at the server, and what it believes of a server after it was
// stopped.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <string>

#include "support/child.hpp"
#include "support/clock_shim.hpp"
#include "support/handles.hpp"
#include "support/proxy.hpp"
#include "support/server.hpp"

namespace mortise::testing::presence_test {
namespace {

std::string record_key(test_server& server) { return server.command({"KEYS", "mortise:client:*"}); }

TEST(safety, a_client_says_farewell_when_it_is_freed) {
  test_server server;
  auto client = open_client(server.url());
  const auto key = record_key(server);
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  EXPECT_EQ(std::to_string(getpid()) + " " + host, server.command({"GET", key}));
  client.reset();
  // Long before its record would have ended by itself.
  EXPECT_TRUE(eventually([&] { return server.command({"EXISTS", key}) == "0"; }));
}

// The clock of a child is set ahead, to a moment when its next sign of life is due.
TEST(safety, a_client_shows_a_sign_of_life_long_before_its_record_ends) {
  constexpr time_ns ahead_ns = 21 * ns_per_s;
  child sleeper([&](child_end& test) {
    const auto client = open_client(test.receive());
    const auto lock = open_lock(client, "heart");
    const auto queue = open_queue(client);
    test.send("open");
    test.receive();
    // Its timeout wakes the I/O thread, which then finds the other work that is due.
    mortise_lock_acquire_async(lock.get(), queue.get(), 1, 200, nullptr);
    shift_clock(CLOCK_BOOTTIME, ahead_ns);
    test.receive();
  });
  test_server server;
  const auto client = open_client(server.url());
  const auto holder = open_lock(client, "heart");
  ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(holder.get(), patience_ms, nullptr));
  const auto ours = record_key(server);
  sleeper.send(server.url());
  ASSERT_EQ("open", sleeper.receive());
  auto key = record_key(server);
  key.erase(key.find(ours), ours.size());
  key.erase(key.find('\n'), 1);
  // One may be lost, and the record is still there.
  EXPECT_GT(std::stoll(server.command({"PTTL", key})), 2 * ahead_ns / ns_per_ms - second_ms);
  ASSERT_EQ("1", server.command({"PEXPIRE", key, "30000"}));
  sleeper.send("go on");
  EXPECT_TRUE(eventually([&] { return std::stoll(server.command({"PTTL", key})) > 30'000; }));
}

// What it did not read while it was stopped is no fault of the server's.
TEST(safety, hazard_01_a_process_that_was_stopped_keeps_its_healthy_connection) {
  constexpr std::int64_t timeout_ms = 2 * second_ms;
  child stopped([&](child_end& test) {
    const auto client = open_client(test.receive());
    const auto lock = open_lock(client, "stop");
    const auto queue = open_queue(client);
    mortise_lock_acquire_async(lock.get(), queue.get(), 1, patience_ms, nullptr);
    test.send("asked");
    test.receive();  // only the I/O thread reads meanwhile
    test.send(status_name(next_event(queue).status));
    test.send(status_name(mortise_client_ping(client.get(), nullptr)));
    test.receive();
  });
  test_server server;
  std::atomic<int> handshakes{0};
  std::atomic<int> tries{0};
  proxy between(server.socket_path(), [&](const fake_command& command) {
    if (command.is("HELLO")) ++handshakes;
    if (!command.is("MULTI")) return fault::none();
    ++tries;
    // So that the timers that watch over the connection are late before the reply is there.
    return fault::delay(timeout_ms / 2);
  });
  stopped.send(between.url() + "?command_timeout=" + std::to_string(timeout_ms) + "ms");
  ASSERT_EQ("asked", stopped.receive());
  ASSERT_TRUE(eventually([&] { return tries > 0; }));
  stopped.pause();
  const timespec longer_than_the_timeout{timeout_ms / second_ms + 1, 0};
  nanosleep(&longer_than_the_timeout, nullptr);
  stopped.resume();
  stopped.send("go on");
  EXPECT_EQ(status_name(MORTISE_OK), stopped.receive());
  EXPECT_EQ(status_name(MORTISE_OK), stopped.receive());
  EXPECT_EQ(1, handshakes.load());
  EXPECT_EQ(1, tries.load());
}

}  // namespace
}  // namespace mortise::testing::presence_test
