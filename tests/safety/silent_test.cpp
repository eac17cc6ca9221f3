// Hazards of waiters that are silent and yet connected: stopped, or dead while another process
// keeps their sockets open. The server takes them for alive, so each is granted its turn.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "support/child.hpp"
#include "support/handles.hpp"
#include "support/server.hpp"

namespace mortise::testing::silent_test {
namespace {

// A silent waiter delays those behind it by one grant that is not confirmed.
constexpr std::int64_t each_silent_ms = 2 * second_ms;
// For the waiter that is served, and a loaded machine.
constexpr std::int64_t grace_ms = 1500;

// A process that waits for the lock on command.
std::unique_ptr<child> make_waiter(const std::string& url) {
  return std::make_unique<child>([url](child_end& test) {
    const auto client = open_client(url);
    const auto lock = open_lock(client, "silent");
    test.receive();
    static_cast<void>(mortise_lock_acquire(lock.get(), MORTISE_FOREVER, nullptr));
    test.receive();
  });
}

// Starts all waiters, in order and behind a holder, silences the first, and releases the lock.
// Returns how long the last, which is alive, has waited since then.
template <class Silence>
std::int64_t wait_behind(test_server& server, std::vector<std::unique_ptr<child>>& waiters,
                         Silence&& silence) {
  const auto client = open_client(server.url());
  const auto other = open_client(server.url());
  const auto holder = open_lock(client, "silent");
  const auto live = open_lock(other, "silent");
  const auto queue = open_queue(other);
  const auto wait_for = [&](std::size_t length) {
    return eventually([&] {
      return server.command({"LLEN", queue_key("silent")}) == std::to_string(length);
    });
  };
  EXPECT_EQ(MORTISE_OK, mortise_lock_acquire(holder.get(), patience_ms, nullptr));
  for (std::size_t i = 0; i < waiters.size(); ++i) {
    waiters[i]->send("wait");
    EXPECT_TRUE(wait_for(i + 1));
  }
  EXPECT_EQ(MORTISE_OK,
            mortise_lock_acquire_async(live.get(), queue.get(), 1, MORTISE_FOREVER, nullptr));
  EXPECT_TRUE(wait_for(waiters.size() + 1));
  for (const auto& each : waiters) silence(*each);
  const auto begin = boot_now();
  EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(holder.get(), nullptr));
  EXPECT_EQ(MORTISE_OK, next_event(queue, 2 * patience_ms).status);
  EXPECT_EQ(1, mortise_lock_is_held(live.get()));
  return ms_since(begin);
}

TEST(safety, hazard_24_each_stopped_waiter_costs_the_next_one_grant) {
  for (const int silent : {0, 1, 2, 3}) {
    test_server server;
    std::vector<std::unique_ptr<child>> waiters;
    for (int i = 0; i < silent; ++i) waiters.push_back(make_waiter(server.url()));
    const auto waited = wait_behind(server, waiters, [](child& each) { each.pause(); });
    EXPECT_LT(waited, silent * each_silent_ms + grace_ms) << silent << " were silent";
  }
}

// A child of the dead process does not know the sockets that it inherited. It was forked without a
// hook.
TEST(safety, hazard_24_each_dead_waiter_whose_child_keeps_its_sockets_costs_the_next_one_grant) {
  int lifeline[2];  // the children of the dead end with it
  ASSERT_EQ(0, pipe(lifeline));
  constexpr int silent = 2;
  {
    test_server server;
    std::vector<std::unique_ptr<child>> waiters;
    for (int i = 0; i < silent; ++i) {
      waiters.push_back(std::make_unique<child>([&](child_end& test) {
        const auto client = open_client(server.url());
        const auto lock = open_lock(client, "silent");
        const auto queue = open_queue(client);
        test.receive();
        static_cast<void>(
            mortise_lock_acquire_async(lock.get(), queue.get(), 1, MORTISE_FOREVER, nullptr));
        test.receive();
        if (syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) == 0) {
          close(lifeline[1]);
          char end = 0;
          while (read(lifeline[0], &end, 1) > 0) {
          }
          _exit(0);
        }
        test.send("forked");
        test.receive();
      }));
    }
    const auto waited = wait_behind(server, waiters, [](child& each) {
      each.send("fork");
      EXPECT_EQ("forked", each.receive());
      each.kill();
    });
    EXPECT_LT(waited, silent * each_silent_ms + grace_ms);
    // They were taken for alive, or the test has shown nothing.
    EXPECT_GE(waited, second_ms);
  }
  close(lifeline[1]);
  close(lifeline[0]);
}

// An administrator deletes the key of a lock that is stuck, and need not wait for its lease.
TEST(safety, hazard_14_waiters_notice_that_the_key_was_deleted) {
  test_server server;
  const auto url = server.url() + "?lease=60s";
  const auto client = open_client(url);
  const auto other = open_client(url);
  const auto holder = open_lock(client, "stuck");
  const auto waiter = open_lock(other, "stuck");
  const auto queue = open_queue(other);
  ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(holder.get(), patience_ms, nullptr));
  ASSERT_EQ(MORTISE_OK,
            mortise_lock_acquire_async(waiter.get(), queue.get(), 1, MORTISE_FOREVER, nullptr));
  ASSERT_TRUE(eventually([&] { return server.command({"LLEN", queue_key("stuck")}) == "1"; }));
  const auto begin = boot_now();
  ASSERT_EQ("1", server.command({"DEL", lock_key("stuck")}));
  EXPECT_EQ(MORTISE_OK, next_event(queue).status);
  EXPECT_LT(ms_since(begin), 2 * second_ms + 500);
}

}  // namespace
}  // namespace mortise::testing::silent_test
