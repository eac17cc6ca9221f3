// The thread that reads: callers that lead from their submit on, leads that rest, callers that wait
// for anything, and callers that are woken together.
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <string>
#include <thread>
#include <vector>

#include "connection_fixture.hpp"
#include "net/threads/wake_scope.hpp"
#include "support/server.hpp"

namespace mortise::testing::connection_lead_test {
namespace {

using redis::flush;

// Messages are read although the lead rests: soon without a known waiter for one, and at once with
// one.
TEST(connection_lead, hears_messages_behind_a_call) {
  test_server server;
  session client(server.socket_path());
  ASSERT_TRUE(client.open().ok());
  for (std::size_t i = 1; i <= 40; ++i) {
    if (i == 20) client.connection->commands().expect_messages(1);
    EXPECT_EQ(client.ask({"PING"}), "PONG");
    EXPECT_EQ(server.command({"PUBLISH", "mortise:inbox", "hello"}), "1");
    ASSERT_TRUE(client.events.wait_for_pushes(i));
  }
  client.connection->commands().expect_messages(-1);
}

TEST(connection_lead, notices_a_break_behind_a_call) {
  test_server server;
  session client(server.socket_path());
  ASSERT_TRUE(client.open().ok());
  for (std::size_t i = 1; i <= 5; ++i) {
    EXPECT_EQ(client.ask_when_up({"PING"}), "PONG");
    server.command({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
    server.command({"CLIENT", "KILL", "TYPE", "pubsub"});
    ASSERT_TRUE(client.events.wait_for_downs(i));
    ASSERT_TRUE(client.events.wait_for_ups(i + 1));
  }
}

TEST(connection_lead, answers_requests_of_nobody_behind_a_call) {
  test_server server;
  session client(server.socket_path());
  ASSERT_TRUE(client.open().ok());
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(client.ask({"INCR", "n"}), std::to_string(2 * i + 1));
    test_request request;
    ASSERT_EQ(
        client.connection->commands().submit(request, encoded({"INCR", "n"}), flush::by_io_thread),
        status::ok);
    EXPECT_TRUE(client.connection->commands().await(request.wait, soon()));
    EXPECT_EQ(request.answer, std::to_string(2 * i + 2));
  }
}

// A caller that is finished before it comes to await() gives back the lead that it has had since
// its submit.
TEST(connection_lead, is_given_back_by_a_caller_that_was_finished_early) {
  test_server server;
  session client(server.socket_path());
  ASSERT_TRUE(client.open().ok());
  std::deque<test_request> requests;
  for (int i = 0; i < 50; ++i) {
    auto& one = requests.emplace_back();
    one.caller = &one.wait;
    ASSERT_EQ(client.connection->commands().submit(one, encoded({"PING"}), flush::before_await),
              status::ok);
    one.wait.finish();
    EXPECT_TRUE(client.connection->commands().await(one.wait, soon()));
    EXPECT_EQ(client.ask({"ECHO", "x"}), "x");
  }
  client.connection->close();
  for (const auto& one : requests) EXPECT_EQ(one.answer, "PONG");
}

// While it lives, the I/O thread does nothing else.
class busy_thread final : private net::task {
 public:
  explicit busy_thread(net::reactor& loop) : loop_(loop) {
    loop_.post(*this);
    while (!is_busy_) ::poll(nullptr, 0, 1);
  }
  ~busy_thread() {
    is_over_ = true;
    loop_.cancel(*this);
  }
  busy_thread(const busy_thread&) = delete;
  busy_thread& operator=(const busy_thread&) = delete;

 private:
  void run() noexcept override {
    is_busy_ = true;
    while (!is_over_) ::poll(nullptr, 0, 1);
  }

  net::reactor& loop_;
  std::atomic<bool> is_busy_{false};
  std::atomic<bool> is_over_{false};
};

// The caller's thread had no core until after the deadline. The reply arrived meanwhile.
TEST(connection_lead, reads_a_reply_that_is_there_at_the_deadline) {
  test_server server;
  std::deque<test_request> requests;
  session client(server.socket_path());
  ASSERT_TRUE(client.open().ok());
  for (int i = 1; i <= 20; ++i) {
    const busy_thread busy(client.loop);
    auto& one = requests.emplace_back();
    one.caller = &one.wait;
    const time_ns deadline = boot_now();
    ASSERT_EQ(
        client.connection->commands().submit(one, encoded({"INCR", "n"}), flush::before_await),
        status::ok);
    while (server.command({"GET", "n"}) != std::to_string(i)) ::poll(nullptr, 0, 1);
    EXPECT_EQ(server.command({"PING"}), "PONG");  // after the replies of the round before
    EXPECT_TRUE(client.connection->commands().await(one.wait, deadline));
    EXPECT_EQ(one.answer, std::to_string(i));
  }
}

// Like a thread at a queue: it reads for requests without a caller. Requests that it submits in
// between are sent, whether it comes back or not.
TEST(connection_lead, is_taken_by_a_caller_that_waits_for_anything) {
  test_server server;
  session client(server.socket_path());
  ASSERT_TRUE(client.open().ok());
  for (int i = 1; i <= 200; ++i) {
    net::caller anything(net::caller::wish::anything);
    struct notified final : test_request {
      void end() override {
        ++ends;
        (reader != nullptr ? *reader : wait).finish();
      }
      net::caller* reader = nullptr;
    } first, second;
    first.reader = &anything;
    ASSERT_EQ(
        client.connection->commands().submit(first, encoded({"INCR", "n"}), flush::by_io_thread),
        status::ok);
    ASSERT_TRUE(client.connection->commands().await(anything, soon()));
    EXPECT_EQ(first.answer, std::to_string(2 * i - 1));
    ASSERT_EQ(
        client.connection->commands().submit(second, encoded({"INCR", "n"}), flush::by_io_thread),
        status::ok);
    // Not by pipeline::await, which would send it.
    if (i % 2 == 0) {
      EXPECT_TRUE(second.wait.wait(soon()));
    } else {
      EXPECT_TRUE(client.connection->commands().await(second.wait, soon()));
    }
    EXPECT_EQ(second.answer, std::to_string(2 * i));
  }
}

// A thread that has read several answers likely submits as many requests, so its next one stays
// unsent for a moment. Then a waiter for messages ends the rest.
TEST(connection_lead, leaves_nothing_unsent_when_messages_are_expected) {
  test_server server;
  session client(server.socket_path());
  ASSERT_TRUE(client.open().ok());
  auto& commands = client.connection->commands();
  for (int i = 1; i <= 50; ++i) {
    net::caller anything(net::caller::wish::anything);
    struct last_request final : test_request {
      void end() override { reader->finish(); }
      net::caller* reader = nullptr;
    } last;
    last.reader = &anything;
    std::array<test_request, 7> before;
    const auto submit = [&](test_request& one) {
      ASSERT_EQ(commands.submit(one, encoded({"INCR", "n"}), flush::by_io_thread), status::ok);
    };
    for (auto& one : before) submit(one);
    submit(last);
    ASSERT_TRUE(commands.await(anything, soon()));
    test_request left;
    submit(left);
    commands.expect_messages(1);
    EXPECT_TRUE(left.wait.wait(soon()));
    EXPECT_EQ(left.answer, std::to_string(9 * i));
    commands.expect_messages(-1);
  }
}

TEST(connection_lead, sends_a_burst_of_a_caller_that_does_not_return) {
  test_server server;
  session client(server.socket_path());
  ASSERT_TRUE(client.open().ok());
  net::caller anything(net::caller::wish::anything);
  test_request first;
  client.events.when_pushed = [&] { anything.finish(); };
  ASSERT_EQ(client.connection->commands().submit(first, encoded({"PUBLISH", "mortise:inbox", "x"}),
                                                 flush::by_io_thread),
            status::ok);
  ASSERT_TRUE(client.connection->commands().await(anything, soon()));
  const std::string value(1000, 'v');
  std::deque<test_request> burst(100);
  for (auto& one : burst) {
    ASSERT_EQ(
        client.connection->commands().submit(one, encoded({"ECHO", value}), flush::by_io_thread),
        status::ok);
  }
  for (auto& one : burst) {
    EXPECT_TRUE(one.wait.wait(soon()));
    EXPECT_EQ(one.answer, value);
  }
}

TEST(connection_lead, wakes_callers_when_the_outermost_scope_ends) {
  net::caller sleeper;
  std::atomic<bool> is_awake{false};
  std::thread thread([&] {
    EXPECT_TRUE(sleeper.wait(soon()));
    is_awake = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // most likely it sleeps now
  {
    const net::wake_scope outer;
    {
      const net::wake_scope inner;
      sleeper.finish();
      sleeper.finish();
    }
    // Finished while it slept, it is not let go of before the outer scope ends.
    const bool was_awake = is_awake;
    EXPECT_TRUE(sleeper.is_done() || !was_awake);
  }
  EXPECT_TRUE(sleeper.is_done());
  thread.join();
}

// A caller whose deadline passes while it is finished, but not woken, stays until it is.
TEST(connection_lead, keeps_a_finished_caller_until_it_is_woken) {
  for (int i = 0; i < 200; ++i) {
    std::atomic<net::caller*> shown{nullptr};
    std::thread thread([&] {
      net::caller short_lived;
      shown = &short_lived;
      short_lived.wait(boot_now() + ns_per_ms);
      // Finished now or soon: the destructor must wait for the thread that finishes it.
      while (!short_lived.wait(boot_now() + ns_per_ms)) {
      }
    });
    while (shown == nullptr) std::this_thread::yield();
    {
      const net::wake_scope scope;
      shown.load()->finish();
      std::this_thread::sleep_for(std::chrono::milliseconds(i % 3));
    }
    thread.join();
  }
}

}  // namespace
}  // namespace mortise::testing::connection_lead_test
