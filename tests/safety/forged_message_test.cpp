// A user that may only publish, and knows the owner token of a waiter (hazard 32).
#include <gtest/gtest.h>

#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "support/handles.hpp"
#include "support/server.hpp"
#include "support/waiters.hpp"

namespace mortise::testing::forged_message_test {
namespace {

constexpr std::int64_t forged_token = 9'007'199'254'000'000;
constexpr std::int64_t attention_ms = 300;

// A waiter's entry in the queue, without its permits.
struct entry {
  std::string owner;
  std::string secret;
  [[nodiscard]] std::string inbox() const {
    return "mortise:inbox:" + owner.substr(3, owner.find(':', 3) - 3);
  }
};

std::string now_us() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return std::to_string(now.tv_sec * 1'000'000 + now.tv_nsec / 1000);
}

class forged_message : public ::testing::TestWithParam<kind> {
 protected:
  forged_message() {
    server_.command({"ACL", "SETUSER", "publisher", "on", ">secret", "resetkeys", "resetchannels",
                     "&mortise:inbox:*", "-@all", "+publish"});
  }
  // The holder has all of the lock, and the waiter a place in the queue.
  entry queue_up() {
    EXPECT_EQ(MORTISE_OK, holder_->acquire(most_permits));
    start();
    EXPECT_TRUE(eventually([&] { return server_.command({"LLEN", queue_of(GetParam())}) == "1"; }));
    auto text = server_.command({"LINDEX", queue_of(GetParam()), "0"});
    if (GetParam() != kind::mutex) text.erase(0, text.find(' ') + 1);
    const auto end = text.find(' ', text.rfind(':'));
    return {text.substr(0, end), text.substr(end + 1)};
  }
  void publish(const entry& waiter, const std::string& message) {
    raw_client publisher(server_.socket_path());
    EXPECT_EQ("OK", publisher.command({"AUTH", "publisher", "secret"}));
    EXPECT_EQ("1", publisher.command({"PUBLISH", waiter.inbox(), message}));
  }
  static std::string grant(const std::string& rest) {
    return "G " + std::to_string(forged_token) + " " + now_us() + " 0 " + rest;
  }
  std::int64_t fence() { return std::stoll(server_.command({"GET", "mortise:fence"})); }
  seen_event next(std::int64_t within_ms) { return next_event(queue_, within_ms); }
  std::int64_t evaluations() {
    const auto info = server_.command({"INFO", "commandstats"});
    const std::string name = "cmdstat_evalsha:calls=";
    const auto at = info.find(name);
    return at == std::string::npos ? 0 : std::stoll(info.substr(at + name.size()));
  }

  test_server server_;
  const client_handle holders_client_ = open_client(server_.url());
  const std::unique_ptr<user> holder_ = open_user(GetParam(), holders_client_);
  client_handle client_ = open_client(server_.url());
  queue_handle queue_ = open_queue(client_);
  lock_handle mutex_;
  rw_handle rw_;
  semaphore_handle semaphore_;

 private:
  void start() {
    mortise_status status = MORTISE_UNKNOWN;
    if (GetParam() == kind::mutex) {
      mutex_ = open_lock(client_, "order");
      status = mortise_lock_acquire_async(mutex_.get(), queue_.get(), 1, patience_ms, nullptr);
    } else if (GetParam() == kind::rw) {
      rw_ = open_rw(client_, "order");
      status = mortise_rw_write_acquire_async(rw_.get(), queue_.get(), 1, patience_ms, nullptr);
    } else {
      semaphore_ = open_semaphore(client_, "order", most_permits);
      status = mortise_semaphore_acquire_async(semaphore_.get(), queue_.get(), 1, 1, patience_ms,
                                               nullptr);
    }
    EXPECT_EQ(MORTISE_OK, status);
  }
};

TEST_P(forged_message, hazard_32_a_grant_without_the_secret_is_no_grant) {
  const auto waiter = queue_up();
  ASSERT_EQ(waiter.secret.size(), 22U) << "in the queue behind the owner token";
  const std::string false_secret(waiter.secret.rbegin(), waiter.secret.rend());
  for (const auto& rest :
       {waiter.owner, waiter.owner + " ", waiter.owner + " " + false_secret,
        waiter.owner + " " + waiter.secret.substr(1), waiter.owner + " " + waiter.secret + " "}) {
    publish(waiter, grant(rest));
    EXPECT_EQ(MORTISE_EVENT_NONE, next(attention_ms).kind) << rest;
  }
  // What was forged is also forgotten. After a failover the client would raise the counter to it.
  server_.command({"CLIENT", "KILL", "TYPE", "pubsub"});
  server_.command({"CLIENT", "KILL", "TYPE", "normal"});
  ASSERT_TRUE(answers(client_));
  EXPECT_LT(fence(), forged_token - 1'000'000'000);
  ASSERT_EQ(MORTISE_OK, holder_->leave(most_permits));
  const auto granted = next(patience_ms);
  EXPECT_EQ(MORTISE_OK, granted.status);
  EXPECT_LT(granted.token, forged_token - 1'000'000'000);
}

// So the test above forges what would be believed. A reader of the queue can do this, see
// docs/security.md.
TEST_P(forged_message, with_the_secret_it_would_be_a_grant) {
  const auto waiter = queue_up();
  publish(waiter, grant(waiter.owner + " " + waiter.secret));
  const auto granted = next(patience_ms);
  EXPECT_EQ(MORTISE_OK, granted.status);
  EXPECT_EQ(forged_token, granted.token);
}

TEST_P(forged_message, hazard_32_a_false_message_costs_at_most_a_request) {
  const auto waiter = queue_up();
  const auto before = evaluations();
  constexpr int rounds = 20;
  for (int i = 0; i < rounds; ++i) {
    for (const auto& message :
         {grant(waiter.owner), "N 0 " + waiter.owner, "N 60000 " + waiter.owner,
          "W " + waiter.owner, "R " + waiter.owner}) {
      publish(waiter, message);
    }
  }
  EXPECT_EQ(MORTISE_EVENT_NONE, next(attention_ms).kind);
  // The rest are the waiter's own checks and the holder's renewals.
  EXPECT_LE(evaluations() - before, 5 * rounds + 50);
  ASSERT_EQ(MORTISE_OK, holder_->leave(most_permits));
  EXPECT_EQ(MORTISE_OK, next(patience_ms).status);
}

INSTANTIATE_TEST_SUITE_P(kinds, forged_message,
                         ::testing::Values(kind::mutex, kind::rw, kind::semaphore),
                         [](const auto& test) { return name_of(test.param); });

}  // namespace
}  // namespace mortise::testing::forged_message_test
