// redis::connection against a real server that does what it should.
#include "integration/single/connection_fixture.hpp"

#include <sys/time.h>

#include <atomic>
#include <csignal>
#include <deque>
#include <thread>

#include "support/fake_server.hpp"
#include "support/server.hpp"

namespace mortise::testing::connection_test {
namespace {

using redis::flush;

TEST(connection, answers_a_command_and_an_error_alike) {
  test_server server;
  session client(server.socket_path());
  ASSERT_TRUE(client.open().ok());
  EXPECT_EQ(client.ask({"PING"}), "PONG");
  EXPECT_EQ(client.ask({"SET", "a", "1"}), "OK");
  EXPECT_EQ(client.ask({"GET", "a"}), "1");
  EXPECT_EQ(client.ask({"GET", "b"}), "(nil)");
  const std::string nowhere(40, '0');
  EXPECT_TRUE(client.ask({"EVALSHA", nowhere, "0"}).starts_with("-NOSCRIPT No matching script."));
  EXPECT_EQ(client.ask({"CLIENT", "GETNAME"}), "mortise-test");
  EXPECT_TRUE(client.connection->last_problem().ok());
}

TEST(connection, works_over_tcp_by_name_and_by_number) {
  test_server server({.arguments = {"--port", "free"}});
  for (const auto* host : {"127.0.0.1", "localhost"}) {
    session client(
        "", [&](auto& config) { config.where = net::resolver_for_host(host, server.port()); });
    const auto opened = client.open();
    ASSERT_TRUE(opened.ok()) << opened.message;
    EXPECT_EQ(client.ask({"PING"}), "PONG");
  }
}

TEST(connection, answers_in_the_order_of_sending_without_waiting) {
  test_server server;
  session client(server.socket_path());
  ASSERT_TRUE(client.open().ok());
  std::deque<test_request> requests(3000);
  for (auto& one : requests) {
    const auto mode = &one == &requests.front() ? flush::now : flush::by_io_thread;
    ASSERT_EQ(client.connection->commands().submit(one, encoded({"INCR", "n"}), mode), status::ok);
  }
  ASSERT_TRUE(client.connection->commands().await(requests.back().wait, soon()));
  for (std::size_t i = 0; i < requests.size(); ++i) {
    ASSERT_EQ(requests[i].answer, std::to_string(i + 1));
    ASSERT_EQ(requests[i].ends, 1);
  }
}

TEST(connection, serves_many_blocked_threads) {
  test_server server;
  session client(server.socket_path());
  ASSERT_TRUE(client.open().ok());
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([&, key = "n" + std::to_string(t)] {
      for (int i = 1; i <= 300; ++i) {
        if (client.ask({"INCR", key}) != std::to_string(i)) ++wrong;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// Asks again from inside the reply, so many times.
class chain final : public test_request {
 public:
  chain(redis::connection& connection, std::string key, int rounds)
      : connection_(connection), bytes_(encoded({"INCR", key})), left_(rounds) {}
  status go() noexcept { return connection_.commands().submit(*this, bytes_, flush::by_io_thread); }

 private:
  void end() override {
    if (--left_ > 0 && go() == status::ok) return;
    test_request::end();
  }
  redis::connection& connection_;
  const std::string bytes_;
  int left_;
};

TEST(connection, mixes_blocked_callers_with_chains_that_nobody_waits_for) {
  test_server server;
  session client(server.socket_path());
  ASSERT_TRUE(client.open().ok());
  std::deque<chain> chains;
  for (int i = 0; i < 20; ++i)
    chains.emplace_back(*client.connection, "c" + std::to_string(i), 300);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, key = "t" + std::to_string(t)] {
      for (int i = 1; i <= 300; ++i) {
        if (client.ask({"INCR", key}) != std::to_string(i)) ++wrong;
      }
    });
  }
  for (auto& one : chains) ASSERT_EQ(one.go(), status::ok);
  for (auto& thread : threads) thread.join();
  for (auto& one : chains) {
    ASSERT_TRUE(client.connection->commands().await(one.wait, soon()));
    EXPECT_EQ(one.answer, "300");
  }
  EXPECT_EQ(wrong, 0);
}

TEST(connection, gives_the_last_reply_of_several_or_the_first_error) {
  test_server server;
  session client(server.socket_path());
  ASSERT_TRUE(client.open().ok());
  const auto multi = encoded({"MULTI"});
  const auto exec = encoded({"EXEC"});
  test_request good;
  good.caller = &good.wait;
  good.reply_count = 4;
  ASSERT_EQ(
      client.connection->commands().submit(
          good, multi + encoded({"SET", "a", "1"}) + encoded({"INCR", "a"}) + exec, flush::now),
      status::ok);
  test_request bad;
  bad.caller = &bad.wait;
  bad.reply_count = 4;
  ASSERT_EQ(client.connection->commands().submit(
                bad, multi + encoded({"SET", "a"}) + encoded({"INCR", "a"}) + exec, flush::now),
            status::ok);
  EXPECT_EQ(client.ask({"GET", "a"}), "2");
  EXPECT_EQ(good.answer, "OK 2");
  EXPECT_EQ(bad.answer, "-ERR wrong number of arguments for 'set' command");
  EXPECT_EQ(good.ends, 1);
  EXPECT_EQ(bad.ends, 1);
}

TEST(connection, carries_large_requests_and_replies) {
  test_server server;
  session client(server.socket_path());
  ASSERT_TRUE(client.open().ok());
  const std::string large(3U << 20U, 'x');
  EXPECT_EQ(client.ask({"SET", "large", large}), "OK");
  EXPECT_EQ(client.ask({"GET", "large"}), large);
  EXPECT_EQ(client.ask({"PING"}), "PONG");
}

TEST(connection, hears_messages_between_replies) {
  test_server server;
  session client(server.socket_path());
  ASSERT_TRUE(client.open().ok());
  const char* script = "redis.call('PUBLISH', KEYS[1], ARGV[1]) return ARGV[1]";
  for (int i = 0; i < 200; ++i) {
    const auto text = std::to_string(i);
    EXPECT_EQ(client.ask({"EVAL", script, "1", "mortise:inbox", text}), text);
  }
  ASSERT_TRUE(client.events.wait_for_pushes(200));
  EXPECT_EQ(client.events.pushes[199].first, "mortise:inbox");
  EXPECT_EQ(client.events.pushes[199].second, "199");
}

TEST(connection, hears_messages_while_nobody_asks) {
  test_server server;
  session client(server.socket_path());
  ASSERT_TRUE(client.open().ok());
  EXPECT_EQ(server.command({"PUBLISH", "mortise:inbox", "hello"}), "1");
  EXPECT_TRUE(client.events.wait_for_pushes(1));
}

// As a waiter for a grant: its request is answered at once, its end comes as a message.
TEST(connection, finishes_a_caller_that_sleeps_without_an_open_request) {
  test_server server;
  session client(server.socket_path());
  struct answered final : test_request {
    void end() override {
      ++ends;
      // Only now may the message come.
      is_answered.store(true);
    }
    std::atomic<bool> is_answered{false};
  } request;
  request.caller = &request.wait;
  client.events.when_pushed = [&] { request.wait.finish(); };
  ASSERT_TRUE(client.open().ok());
  std::thread caller([&] {
    EXPECT_EQ(client.connection->commands().submit(request, encoded({"PING"}), flush::now),
              status::ok);
    EXPECT_TRUE(client.connection->commands().await(request.wait, soon()));
  });
  while (!request.is_answered.load()) std::this_thread::yield();
  EXPECT_EQ(client.ask({"PING"}), "PONG");
  server.command({"PUBLISH", "mortise:inbox", "granted"});
  caller.join();
  EXPECT_TRUE(request.wait.is_done());
}

TEST(connection, finishes_a_leading_caller_from_another_thread) {
  // The server never answers ECHO, so the caller leads until it is finished.
  fake_server server([](fake_peer& peer, const fake_command& command) {
    if (!command.is("ECHO")) fake_server::answer_healthy(peer, command);
  });
  session client(server.socket_path(), [](auto& config) { config.is_silence_normal = true; });
  ASSERT_TRUE(client.open().ok());
  std::deque<test_request> requests;
  for (int i = 1; i <= 200; ++i) {
    auto& one = requests.emplace_back();
    one.caller = &one.wait;
    std::thread caller([&] {
      EXPECT_EQ(client.connection->commands().submit(one, encoded({"ECHO", "x"}), flush::now),
                status::ok);
      EXPECT_TRUE(client.connection->commands().await(one.wait, soon()));
    });
    ASSERT_TRUE(server.wait_for("ECHO", i));
    one.wait.finish();
    caller.join();
  }
  client.connection->close();
  for (const auto& one : requests) EXPECT_EQ(one.answer, "(broken, sent)");
}

TEST(connection, passes_the_lead_on_when_the_leader_is_finished) {
  fake_server server([](fake_peer& peer, const fake_command& command) {
    if (!command.is("ECHO")) fake_server::answer_healthy(peer, command);
  });
  session client(server.socket_path(), [](auto& config) { config.is_silence_normal = true; });
  ASSERT_TRUE(client.open().ok());
  std::vector<std::thread> threads;
  std::deque<test_request> requests(8);
  for (auto& one : requests) {
    one.caller = &one.wait;
    threads.emplace_back([&] {
      EXPECT_EQ(client.connection->commands().submit(one, encoded({"ECHO", "x"}), flush::now),
                status::ok);
      EXPECT_TRUE(client.connection->commands().await(one.wait, soon()));
    });
  }
  ASSERT_TRUE(server.wait_for("ECHO", 8));
  for (std::size_t i = 0; i < 7; ++i) {
    requests[i].wait.finish();
    threads[i].join();
  }
  // One is left to read the replies to all eight.
  for (int i = 0; i < 8; ++i) server.send_to_all("$1\r\nx\r\n");
  threads[7].join();
  client.connection->close();
  for (const auto& one : requests) EXPECT_EQ(one.ends, 1);
  EXPECT_EQ(requests[7].answer, "x");
}

TEST(connection, lets_a_request_in_the_name_of_a_sleeping_caller_end_its_wait) {
  test_server server;
  session client(server.socket_path());
  ASSERT_TRUE(client.open().ok());
  for (int i = 0; i < 100; ++i) {
    test_request request;
    request.caller = &request.wait;
    std::thread other([&] {
      EXPECT_EQ(
          client.connection->commands().submit(request, encoded({"PING"}), flush::by_io_thread),
          status::ok);
    });
    EXPECT_TRUE(client.connection->commands().await(request.wait, soon()));
    other.join();
    EXPECT_EQ(request.answer, "PONG");
  }
}

TEST(connection, spins_if_it_is_configured) {
  test_server server;
  for (const std::int64_t busy_poll_us : {0, 200, -1}) {
    session client(server.socket_path(), [&](auto& config) { config.busy_poll_us = busy_poll_us; });
    ASSERT_TRUE(client.open().ok());
    ASSERT_EQ(client.ask({"SET", "n", "0"}), "OK");
    for (int i = 1; i <= 500; ++i) EXPECT_EQ(client.ask({"INCR", "n"}), std::to_string(i));
  }
}

// Hazard 24: a caller that is refused without a connection waits for on_up, so none may be refused
// after on_up has begun.
TEST(connection, admits_everybody_before_on_up) {
  for (const bool has_resp3 : {true, false}) {
    fake_server server([&](fake_peer& peer, const fake_command& command) {
      if (command.is("HELLO") && !has_resp3) return peer.send("-NOPROTO sorry\r\n");
      fake_server::answer_healthy(peer, command);
    });
    session client(server.socket_path());
    test_request first;
    test_request second;
    client.events.when_up = [&] {
      EXPECT_EQ(client.connection->commands().submit(first, encoded({"PING"}), flush::now),
                status::ok);
      std::thread other([&] {
        EXPECT_EQ(client.connection->commands().submit(second, encoded({"PING"}), flush::now),
                  status::ok);
      });
      other.join();
    };
    ASSERT_TRUE(client.open().ok());
    EXPECT_TRUE(first.wait.wait(soon()));
    EXPECT_TRUE(second.wait.wait(soon()));
    EXPECT_EQ(first.answer, "PONG");
    EXPECT_EQ(second.answer, "PONG");
  }
}

// Hazard 22: signals interrupt every system call of the callers, and none of the I/O thread's.
TEST(connection, takes_no_notice_of_a_signal_storm) {
  test_server server;
  session client(server.socket_path());
  ASSERT_TRUE(client.open().ok());
  static std::atomic<int> storms{0};
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = [](int) { ++storms; };
  ::sigaction(SIGALRM, &action, &before);
  const itimerval every{{0, 100}, {0, 100}};
  ::setitimer(ITIMER_REAL, &every, nullptr);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, key = "n" + std::to_string(t)] {
      for (int i = 1; i <= 1000; ++i) {
        if (client.ask({"INCR", key}) != std::to_string(i)) ++wrong;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  const itimerval never{};
  ::setitimer(ITIMER_REAL, &never, nullptr);
  ::sigaction(SIGALRM, &before, nullptr);
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(storms.load(), 0);
}

}  // namespace
}  // namespace mortise::testing::connection_test
