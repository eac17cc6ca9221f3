// A server with its queues, but without the subscriptions of their waiters: after a restart with
// its data, after a promotion, or after the end of all connections. Live waiters keep their places.
// Dead waiters delay the others only for a limited time.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "support/child.hpp"
#include "support/handles.hpp"
#include "support/server.hpp"
#include "support/waiters.hpp"

namespace mortise::testing::grace_period_test {
namespace {

constexpr int waiters = 8;
const std::vector<std::string> durable = {"--appendonly", "yes", "--appendfsync", "always"};

std::int64_t count_of_subscribers(test_server& server) {
  const auto inboxes = server.command({"PUBSUB", "CHANNELS", "mortise:inbox:*"});
  return std::count(inboxes.begin(), inboxes.end(), '\n') + 1;
}

// A process that waits for the whole lock, and reports the result.
class waiting_process {
 public:
  explicit waiting_process(kind which)
      : body_([=](child_end& test) {
          const auto client = open_client(test.receive());
          const auto lock = open_user(which, client);
          test.send("asks");
          test.send(status_name(lock->acquire(most_permits)));
          test.receive();
        }) {}
  void begin(const std::string& url) {
    body_.send(url);
    ASSERT_EQ("asks", body_.receive());
  }
  child& body() { return body_; }

 private:
  child body_;
};

class grace_period : public ::testing::TestWithParam<kind> {
 protected:
  void hold(const std::string& url) {
    client_ = open_client(url);
    holder_ = open_user(GetParam(), client_);
    ASSERT_EQ(MORTISE_OK, holder_->acquire(most_permits));
  }
  [[nodiscard]] bool are_waiting(test_server& at, int count) const {
    return eventually([&] {
      return at.command({"LLEN", queue_of(GetParam())}) == std::to_string(count);
    });
  }
  void queue_up(test_server& at, const std::string& url) {
    hold(url);
    for (int number = 1; number <= waiters; ++number) {
      all_.push_back(std::make_unique<waiter>(url, GetParam(), number));
      ASSERT_TRUE(are_waiting(at, number));
    }
  }
  // As soon as the holder is back, before any other client.
  void leave() {
    ASSERT_TRUE(answers(client_));
    ASSERT_EQ(MORTISE_OK, holder_->leave(most_permits));
  }
  void check_order() {
    expect_in_order(all_);
    all_.clear();
  }

  client_handle client_;
  std::unique_ptr<user> holder_;
  std::vector<std::unique_ptr<waiter>> all_;
};

TEST_P(grace_period, the_order_outlives_a_restart_with_data) {
  test_server server({.arguments = durable});
  queue_up(server, server.url());
  server.restart();
  leave();
  check_order();
}

// The holder died, and its lease has ended while the server was down. The first client that is back
// hands the lock over.
TEST_P(grace_period, the_order_outlives_a_restart_that_outlives_the_lease) {
  constexpr std::int64_t lease_ms = second_ms;
  test_server server({.arguments = durable});
  queue_up(server, server.url() + "?lease=1s");
  server.kill();
  holder_.reset();
  client_.reset();
  const auto begin = boot_now();
  while (ms_since(begin) < 2 * lease_ms) eventually([] { return false; }, 100);
  server.start();
  check_order();
}

TEST_P(grace_period, the_order_outlives_the_end_of_all_connections) {
  test_server server;
  queue_up(server, server.url());
  server.command({"CLIENT", "KILL", "TYPE", "pubsub"});
  leave();
  check_order();
}

// The name of the server: a path that leads to another one after a while.
class moving_path {
 public:
  explicit moving_path(const test_server& first)
      : path_("/tmp/mortise-path-" + std::to_string(getpid())) {
    lead_to(first);
  }
  ~moving_path() { unlink(path_.c_str()); }
  moving_path(const moving_path&) = delete;
  moving_path& operator=(const moving_path&) = delete;
  void lead_to(const test_server& server) {
    const auto next = path_ + "-next";
    ASSERT_EQ(0, symlink(server.socket_path().c_str(), next.c_str()));
    ASSERT_EQ(0, rename(next.c_str(), path_.c_str()));
  }
  [[nodiscard]] std::string url() const { return "unix://" + path_; }

 private:
  const std::string path_;
};

TEST_P(grace_period, the_order_outlives_a_promotion) {
  test_server old({.arguments = {"--port", "free", "--repl-diskless-sync-delay", "0"}});
  test_server replica;
  ASSERT_EQ("OK", replica.command({"REPLICAOF", "127.0.0.1", std::to_string(old.port())}));
  moving_path path(old);
  queue_up(old, path.url());
  ASSERT_TRUE(are_waiting(replica, waiters));
  path.lead_to(replica);
  ASSERT_EQ("OK", replica.command({"REPLICAOF", "NO", "ONE"}));
  old.kill();
  leave();
  check_order();
}

// The dead are waited for only while the server is in its grace period, and once.
TEST_P(grace_period, whoever_died_with_the_server_costs_the_others_a_moment) {
  waiting_process first(GetParam());
  waiting_process second(GetParam());
  test_server server({.arguments = durable});
  hold(server.url());
  first.begin(server.url());
  ASSERT_TRUE(are_waiting(server, 1));
  second.begin(server.url());
  ASSERT_TRUE(are_waiting(server, 2));
  all_.push_back(std::make_unique<waiter>(server.url(), GetParam(), 3));
  ASSERT_TRUE(are_waiting(server, 3));
  first.body().kill();
  second.body().kill();
  server.restart();
  leave();
  const auto begin = boot_now();
  check_order();
  EXPECT_LT(ms_since(begin), 15 * second_ms);
}

// On a server that is settled again, and all the more on one that always was.
TEST_P(grace_period, whoever_died_is_passed_at_once_when_the_server_is_settled) {
  waiting_process dying(GetParam());
  test_server server({.arguments = durable});
  hold(server.url());
  server.restart();
  ASSERT_TRUE(answers(client_));
  const std::string settled_ms = "7776000000";
  EXPECT_GT(std::stoll(server.command({"PTTL", "mortise:fence"})), std::stoll(settled_ms));
  ASSERT_EQ("1", server.command({"PEXPIRE", "mortise:fence", settled_ms}));
  dying.begin(server.url());
  ASSERT_TRUE(are_waiting(server, 1));
  all_.push_back(std::make_unique<waiter>(server.url(), GetParam(), 3));
  ASSERT_TRUE(are_waiting(server, 2));
  dying.body().kill();
  ASSERT_TRUE(eventually([&] { return count_of_subscribers(server) == 2; }));
  ASSERT_EQ(MORTISE_OK, holder_->leave(most_permits));
  // The release handed it over: the queue has no other waiter, and none was granted the lock in
  // between.
  EXPECT_EQ("0", server.command({"LLEN", queue_of(GetParam())}));
  check_order();
}

// Another client of the server, on no lock, whose connection is killed again and again.
class flapping_client {
 public:
  explicit flapping_client(test_server& server) : server_(server) {
    server.command({"ACL", "SETUSER", "flapping", "on", "nopass", "~*", "&*", "+@all"});
    client_ = open_client("unix://flapping:any@" + server.socket_path());
    EXPECT_TRUE(answers(client_));
  }
  ~flapping_client() {
    is_over_ = true;
    thread_.join();
  }
  flapping_client(const flapping_client&) = delete;
  flapping_client& operator=(const flapping_client&) = delete;

 private:
  // On a connection of its own: the server's is for the thread of the test.
  void cut() {
    const auto connection = server_.connect();
    while (!is_over_) {
      connection->command({"CLIENT", "KILL", "USER", "flapping"});
      eventually([&] { return is_over_.load(); }, 200);
    }
  }

  test_server& server_;
  client_handle client_;
  std::atomic<bool> is_over_{false};
  std::thread thread_{[this] { cut(); }};
};

// Before, each dead waiter cost 2 s.
TEST_P(grace_period, hazard_24_many_dead_waiters_cost_one_grace_period) {
  constexpr int deaths = 8;
  std::vector<std::unique_ptr<waiting_process>> dying;
  for (int i = 0; i < deaths; ++i) {
    dying.push_back(std::make_unique<waiting_process>(GetParam()));
  }
  test_server server;
  hold(server.url());
  for (int i = 0; i < deaths; ++i) {
    dying[i]->begin(server.url());
    ASSERT_TRUE(are_waiting(server, i + 1));
  }
  all_.push_back(std::make_unique<waiter>(server.url(), GetParam(), deaths + 1));
  ASSERT_TRUE(are_waiting(server, deaths + 1));
  const flapping_client flapping(server);
  ASSERT_TRUE(eventually([&] {
    return std::stoll(server.command({"PTTL", "mortise:fence"})) > 7'776'000'000;
  }));
  for (auto& process : dying) process->body().kill();
  ASSERT_TRUE(eventually([&] { return count_of_subscribers(server) == 3; }));
  ASSERT_EQ(MORTISE_OK, holder_->leave(most_permits));
  const auto begin = boot_now();
  check_order();
  EXPECT_LT(ms_since(begin), deaths * second_ms);
}

INSTANTIATE_TEST_SUITE_P(safety, grace_period,
                         ::testing::Values(kind::mutex, kind::rw, kind::semaphore),
                         [](const auto& item) { return name_of(item.param); });

}  // namespace
}  // namespace mortise::testing::grace_period_test
