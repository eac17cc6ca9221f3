// The rights of docs/protocols.md are enough, and docs/operations.md is right about two that can be
// omitted. tests/checks/docs/rights.py has the others.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "interop/article_locks.hpp"
#include "support/handles.hpp"
#include "support/pages.hpp"
#include "support/server.hpp"

namespace mortise::testing::rights_test {
namespace {

class rights : public ::testing::Test {
 protected:
  rights() {
    EXPECT_EQ("OK", server_.command(rights_on_page("docs/server.md")));
    for (const auto& rule : further_rights_on_page("docs/server.md")) server_.command(rule);
    EXPECT_EQ("OK", server_.command(rights_on_page("docs/protocols.md", "k")));
  }
  ~rights() override {
    EXPECT_EQ("", server_.command({"ACL", "LOG"})) << "the server has refused something";
  }
  client_handle open(const std::string& protocol) {
    return open_client("unix://locker:PASSWORD@" + server_.socket_path() +
                       "?poll_interval=20ms&protocol=" + protocol);
  }
  test_server server_;
};

TEST_F(rights, are_enough_for_mutexes) {
  const auto bare = server_.connect();
  for (const auto& format : mutex_formats()) {
    const auto client = open(format.protocol);
    const auto lock = open_lock(client, "k");
    const auto other = format.other(*bare, "k");
    ASSERT_TRUE(other->take(300));
    EXPECT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr));
    EXPECT_EQ(MORTISE_OK, mortise_lock_extend(lock.get(), 60'000, nullptr));
    const info_handle info(mortise_info_new());
    EXPECT_EQ(MORTISE_OK, mortise_lock_query(lock.get(), info.get(), nullptr));
    EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), nullptr)) << format.protocol;
  }
}

TEST_F(rights, are_enough_for_read_write_locks) {
  for (const auto& format : rw_formats()) {
    const auto client = open(format.protocol);
    auto* const rw = mortise_rw_new(client.get(), "k", 1, nullptr, nullptr);
    EXPECT_EQ(MORTISE_OK, mortise_rw_read_try(rw, nullptr)) << format.protocol;
    EXPECT_EQ(MORTISE_OK, mortise_rw_extend(rw, 60'000, nullptr));
    EXPECT_EQ(MORTISE_OK, mortise_rw_read_unlock(rw, nullptr));
    EXPECT_EQ(MORTISE_OK, mortise_rw_write_try(rw, nullptr));
    EXPECT_EQ(MORTISE_OK, mortise_rw_write_unlock(rw, nullptr));
    mortise_rw_free(rw);
  }
}

// A client whose user has all rights of Mortise's own protocol but one.
class without_right : public ::testing::Test {
 protected:
  void revoke(const std::string& right) {
    server_.command({"ACL", "SETUSER", "guest", "on", "nopass", "resetkeys", "resetchannels",
                     "~{mortise:*", "~mortise:*", "&mortise:*", "+@all", "-@dangerous", "+info"});
    // Before 7.0 the right to one form of a command could be given, and not removed again.
    if (right == "client|kill") return;
    EXPECT_EQ("OK", server_.command({"ACL", "SETUSER", "guest", "+client|kill", "-" + right}));
  }
  client_handle open(const std::string& query) {
    return open_client("unix://guest:x@" + server_.socket_path() + "?" + query);
  }
  std::string refused() { return server_.command({"ACL", "LOG"}); }
  test_server server_;
};

// Each finds its grant by asking. The queue's order holds, and no waiter waits for an old lease.
TEST_F(without_right, publish_five_waiters_are_served_in_order_and_soon) {
  revoke("publish");
  constexpr int count = 5;
  const auto owner = open("lease=60s");
  const auto held = open_lock(owner, "k");
  ASSERT_EQ(MORTISE_OK, mortise_lock_try(held.get(), nullptr));
  std::vector<client_handle> clients;
  std::vector<lock_handle> locks;
  std::vector<std::thread> waiters;
  std::vector<int> order;  // under the lock
  for (int i = 0; i < count; ++i) {
    clients.push_back(open("lease=60s"));
    locks.push_back(open_lock(clients.back(), "k"));
    waiters.emplace_back([&, i] {
      EXPECT_EQ(MORTISE_OK, mortise_lock_acquire(locks[i].get(), 3 * patience_ms, nullptr));
      order.push_back(i);
      EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(locks[i].get(), nullptr));
    });
    const auto places = std::to_string(i + 1);
    while (server_.command({"LLEN", "{mortise:k}:q"}) != places) std::this_thread::yield();
  }
  const auto begin = boot_now();
  EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(held.get(), nullptr));
  for (auto& waiter : waiters) waiter.join();
  // Less than 2 s each.
  EXPECT_LT(boot_now() - begin, count * 2 * ns_per_s);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  EXPECT_NE(refused().find("publish"), std::string::npos);
}

// Tokens would be drawn by the clock alone, and could fall.
TEST_F(without_right, incrby_a_client_is_refused) {
  revoke("incrby");
  EXPECT_THROW(open(""), std::runtime_error);
}

// It would be seeded by the clock, below what it has come to.
TEST_F(without_right, get_a_client_is_refused_and_hazard_30_tokens_do_not_fall) {
  server_.command({"SET", "mortise:fence", "4000000000000000"});
  revoke("get");
  EXPECT_THROW(open(""), std::runtime_error);
  EXPECT_EQ(server_.command({"GET", "mortise:fence"}), "4000000000000000");
}

// What a hung server still has to read from the old connection comes before the new one's requests.
TEST_F(without_right, client_kill_a_hung_server_leaves_no_ghost) {
  revoke("client|kill");
  const auto client = open("lease=60s&command_timeout=200ms");
  for (int round = 0; round < 3; ++round) {
    const auto lock = open_lock(client, "k");
    server_.pause();
    EXPECT_EQ(MORTISE_UNKNOWN, mortise_lock_acquire(lock.get(), 300, nullptr));
    server_.resume();
    const auto next = open_lock(client, "k");
    EXPECT_EQ(MORTISE_OK, mortise_lock_acquire(next.get(), patience_ms, nullptr));
    EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(next.get(), nullptr));
  }
  // Before 7.0 the log named the command without its form.
  EXPECT_NE(refused().find("\nclient"), std::string::npos);
}

// What the scripts of a protocol look with first.
struct first_look {
  const char* name;
  const char* protocol;
  const char* to_acquire;
  const char* to_release;
  const char* to_query;
};

// A right that is removed while a lock is held. Each step names it, and no key that could not be
// read is taken for another's.
class right_lost_in_a_hold : public ::testing::TestWithParam<first_look> {
 protected:
  right_lost_in_a_hold() {
    server_.command({"ACL", "SETUSER", "guest", "on", "nopass", "~*", "&*", "+@all"});
    // Where the server has it, a release by it needs to look at nothing.
    server_.command({"ACL", "SETUSER", "guest", "-delifeq"});
    server_.command({"ACL", "SETUSER", "guest", "-delex"});
    client_ = open();
    other_client_ = open();
  }
  client_handle open() {
    return open_client("unix://guest:x@" + server_.socket_path() +
                       "?lease=60s&protocol=" + GetParam().protocol);
  }
  void expect_named(const std::string& right, const std::function<mortise_status()>& step) {
    ASSERT_EQ("OK", server_.command({"ACL", "SETUSER", "guest", "-" + right}));
    EXPECT_EQ(MORTISE_REFUSED, step());
    ASSERT_EQ("OK", server_.command({"ACL", "SETUSER", "guest", "+" + right}));
    const std::string message = mortise_error_message(error_.get());
    EXPECT_NE(message.find("lacks the right +" + right + ";"), std::string::npos) << message;
  }
  test_server server_;
  client_handle client_, other_client_;
  const error_handle error_ = new_error();
  const info_handle info_{mortise_info_new()};
};

using mutex_right = right_lost_in_a_hold;

TEST_P(mutex_right, hazard_17_is_named_and_costs_no_hold) {
  const auto& look = GetParam();
  const auto lock = open_lock(client_, "k");
  const auto other = open_lock(other_client_, "k");
  auto* const error = error_.get();
  ASSERT_EQ(MORTISE_OK, mortise_lock_try(lock.get(), nullptr));
  expect_named(look.to_acquire, [&] { return mortise_lock_extend(lock.get(), 70'000, error); });
  EXPECT_EQ(1, mortise_lock_is_held(lock.get()));
  EXPECT_EQ(MORTISE_OK, mortise_lock_extend(lock.get(), 70'000, nullptr));
  expect_named(look.to_acquire,
               [&] { return mortise_lock_acquire(other.get(), patience_ms, error); });
  expect_named(look.to_query, [&] { return mortise_lock_query(other.get(), info_.get(), error); });
  expect_named(look.to_release, [&] { return mortise_lock_unlock(lock.get(), error); });
}

INSTANTIATE_TEST_SUITE_P(rights, mutex_right,
                         ::testing::Values(first_look{"token", "token", "get", "get", "get"},
                                           first_look{"hash", "hash", "hexists", "hdel", "hkeys"},
                                           first_look{"timestamp", "timestamp", "get", "get",
                                                      "get"}),
                         [](const auto& of) { return of.param.name; });

using rw_right = right_lost_in_a_hold;

TEST_P(rw_right, hazard_17_is_named_and_costs_no_hold) {
  const auto& look = GetParam();
  const auto lock = open_rw(client_, "k");
  const auto other = open_rw(other_client_, "k");
  auto* const error = error_.get();
  ASSERT_EQ(MORTISE_OK, mortise_rw_write_try(lock.get(), nullptr));
  expect_named(look.to_acquire, [&] { return mortise_rw_extend(lock.get(), 70'000, error); });
  EXPECT_EQ(MORTISE_OK, mortise_rw_extend(lock.get(), 70'000, nullptr));
  expect_named(look.to_acquire,
               [&] { return mortise_rw_write_acquire(other.get(), patience_ms, error); });
  expect_named(look.to_query, [&] { return mortise_rw_query(other.get(), info_.get(), error); });
  expect_named(look.to_release, [&] { return mortise_rw_write_unlock(lock.get(), error); });
}

INSTANTIATE_TEST_SUITE_P(rights, rw_right,
                         ::testing::Values(first_look{"queued", "queued", "zscore", "zscore",
                                                      "zscore"},
                                           first_look{"two_key", "two_key", "get", "get", "get"},
                                           first_look{"hash", "hash", "hlen", "hlen", "hlen"}),
                         [](const auto& of) { return of.param.name; });

}  // namespace
}  // namespace mortise::testing::rights_test
