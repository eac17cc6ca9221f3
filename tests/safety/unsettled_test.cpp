// A server that has its queues, and nobody who waits in them is subscribed: it was started again
// with its data, it was a replica until a moment ago, or all its connections were ended. Whoever
// lives keeps its place, and whoever is dead costs the others only so much.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "safety/handles.hpp"
#include "support/child.hpp"
#include "support/server.hpp"

namespace mortise::testing {
namespace {

constexpr int waiters = 8;
constexpr int permits = 3;
const std::vector<std::string> durable = {"--appendonly", "yes", "--appendfsync", "always"};

// One lock of a kind, with the whole of it and parts.
class user {
 public:
  virtual ~user() = default;
  virtual mortise_status acquire(int weight) = 0;
  virtual mortise_status leave(int weight) = 0;
  [[nodiscard]] virtual std::int64_t token() const = 0;
};

class mutex_user final : public user {
 public:
  explicit mutex_user(const client_handle& client) : lock_(open_lock(client, "order")) {}
  mortise_status acquire(int /*weight*/) override {
    return mortise_lock_acquire(lock_.get(), patience_ms, nullptr);
  }
  mortise_status leave(int /*weight*/) override {
    return mortise_lock_unlock(lock_.get(), nullptr);
  }
  [[nodiscard]] std::int64_t token() const override { return mortise_lock_token(lock_.get()); }

 private:
  lock_handle lock_;
};

class rw_user final : public user {
 public:
  explicit rw_user(const client_handle& client) : rw_(open_rw(client, "order")) {}
  mortise_status acquire(int weight) override {
    return weight == permits ? mortise_rw_write_acquire(rw_.get(), patience_ms, nullptr)
                             : mortise_rw_read_acquire(rw_.get(), patience_ms, nullptr);
  }
  mortise_status leave(int weight) override {
    return weight == permits ? mortise_rw_write_unlock(rw_.get(), nullptr)
                             : mortise_rw_read_unlock(rw_.get(), nullptr);
  }
  [[nodiscard]] std::int64_t token() const override { return mortise_rw_token(rw_.get()); }

 private:
  rw_handle rw_;
};

class semaphore_user final : public user {
 public:
  explicit semaphore_user(const client_handle& client)
      : semaphore_(open_semaphore(client, "order", permits)) {}
  mortise_status acquire(int weight) override {
    return mortise_semaphore_acquire(semaphore_.get(), weight, patience_ms, nullptr);
  }
  mortise_status leave(int /*weight*/) override {
    return mortise_semaphore_release(semaphore_.get(), nullptr);
  }
  [[nodiscard]] std::int64_t token() const override {
    return mortise_semaphore_token(semaphore_.get());
  }

 private:
  semaphore_handle semaphore_;
};

enum class kind : std::uint8_t { mutex, rw, semaphore };

std::unique_ptr<user> open_user(kind which, const client_handle& client) {
  if (which == kind::mutex) return std::make_unique<mutex_user>(client);
  if (which == kind::rw) return std::make_unique<rw_user>(client);
  return std::make_unique<semaphore_user>(client);
}

std::string queue_of(kind which) {
  const auto* const suffix = which == kind::mutex ? ":q" : which == kind::rw ? ":rq" : ":sq";
  return lock_key("order") + suffix;
}

std::int64_t count_of_subscribers(test_server& server) {
  const auto inboxes = server.command({"PUBSUB", "CHANNELS", "mortise:inbox:*"});
  return std::count(inboxes.begin(), inboxes.end(), '\n') + 1;
}

// How much the waiter with this number wants.
int weight_of(kind which, int number) {
  if (which == kind::mutex) return permits;
  return number % 3 == 0 ? permits : which == kind::rw ? 1 : number % 3;
}

// A client that waits in a thread of its own, and gives back what it gets at once.
class waiter {
 public:
  waiter(const std::string& url, kind which, int number)
      : client_(open_client(url)),
        lock_(open_user(which, client_)),
        weight_(weight_of(which, number)),
        thread_([this] {
          status_ = lock_->acquire(weight_);
          token_ = lock_->token();
          left_ = lock_->leave(weight_);
        }) {}
  ~waiter() { thread_.join(); }
  waiter(const waiter&) = delete;
  waiter& operator=(const waiter&) = delete;

  // Its fencing token.
  std::int64_t end() {
    thread_.join();
    thread_ = std::thread([] {});
    EXPECT_EQ(MORTISE_OK, status_);
    EXPECT_EQ(MORTISE_OK, left_);
    return token_;
  }
  [[nodiscard]] int weight() const { return weight_; }

 private:
  const client_handle client_;
  const std::unique_ptr<user> lock_;
  const int weight_;
  mortise_status status_ = MORTISE_UNKNOWN;
  mortise_status left_ = MORTISE_UNKNOWN;
  std::int64_t token_ = 0;
  std::thread thread_;
};

// A process that waits for the whole lock, and tells how that ends.
class waiting_process {
 public:
  explicit waiting_process(kind which)
      : body_([=](child_end& test) {
          const auto client = open_client(test.hear());
          const auto lock = open_user(which, client);
          test.say("asks");
          test.say(told(lock->acquire(permits)));
          test.hear();
        }) {}
  void begin(const std::string& url) {
    body_.say(url);
    ASSERT_EQ("asks", body_.hear());
  }
  child& body() { return body_; }

 private:
  child body_;
};

class unsettled : public ::testing::TestWithParam<kind> {
 protected:
  void hold(const std::string& url) {
    client_ = open_client(url);
    holder_ = open_user(GetParam(), client_);
    ASSERT_EQ(MORTISE_OK, holder_->acquire(permits));
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
  // As soon as the holder is back, whoever else is.
  void leave() {
    ASSERT_TRUE(answers(client_));
    ASSERT_EQ(MORTISE_OK, holder_->leave(permits));
  }
  // Of two who could not have it together, the first to come was the first to be let in.
  void check_order() {
    std::vector<std::int64_t> tokens;
    tokens.reserve(all_.size());
    for (const auto& one : all_) tokens.push_back(one->end());
    for (std::size_t i = 0; i < all_.size(); ++i) {
      for (std::size_t j = i + 1; j < all_.size(); ++j) {
        if (all_[i]->weight() + all_[j]->weight() <= permits) continue;
        EXPECT_LT(tokens[i], tokens[j]) << "waiters " << i + 1 << " and " << j + 1;
      }
    }
    all_.clear();
  }

  client_handle client_;
  std::unique_ptr<user> holder_;
  std::vector<std::unique_ptr<waiter>> all_;
};

TEST_P(unsettled, the_order_outlives_a_restart_with_data) {
  test_server server({.arguments = durable});
  queue_up(server, server.url());
  server.restart();
  leave();
  check_order();
}

// The holder died, and its lease has ended while the server was down: whoever is back first hands
// over.
TEST_P(unsettled, the_order_outlives_a_restart_that_outlives_the_lease) {
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

TEST_P(unsettled, the_order_outlives_the_end_of_all_connections) {
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

TEST_P(unsettled, the_order_outlives_a_promotion) {
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

// The dead are waited for only while the server is unsettled, and once.
TEST_P(unsettled, whoever_died_with_the_server_costs_the_others_a_moment) {
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
TEST_P(unsettled, whoever_died_is_passed_at_once_when_the_server_is_settled) {
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
  ASSERT_EQ(MORTISE_OK, holder_->leave(permits));
  // It was handed over by the release: nobody else is in the queue, or was granted it in between.
  EXPECT_EQ("0", server.command({"LLEN", queue_of(GetParam())}));
  check_order();
}

INSTANTIATE_TEST_SUITE_P(safety, unsettled,
                         ::testing::Values(kind::mutex, kind::rw, kind::semaphore),
                         [](const auto& item) {
                           return item.param == kind::mutex ? "mutex"
                                  : item.param == kind::rw  ? "rw"
                                                            : "semaphore";
                         });

}  // namespace
}  // namespace mortise::testing
