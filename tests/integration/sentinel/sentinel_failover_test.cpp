// Hazards of a master that Sentinels replace: real servers and Sentinels.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "support/handles.hpp"
#include "support/sentinel_set.hpp"

namespace mortise::testing::sentinel_failover_test {
namespace {

struct waiter {
  client_handle client;
  lock_handle lock;
  queue_handle queue;
};

class sentinel : public ::testing::Test {
 protected:
  [[nodiscard]] std::string url() const {
    return set.url("lease=60s&command_timeout=2s&client_name=follower");
  }

  // Each is a client of its own, and waits behind those before it.
  std::vector<waiter> line_up(const std::string& name, int count) {
    std::vector<waiter> all;
    for (int i = 0; i < count; ++i) {
      waiter one{open_client(url()), nullptr, nullptr};
      one.lock = open_lock(one.client, name);
      one.queue = open_queue(one.client);
      EXPECT_EQ(MORTISE_OK, mortise_lock_acquire_async(one.lock.get(), one.queue.get(), i,
                                                       120 * second_ms, nullptr));
      EXPECT_TRUE(eventually([&] {
        return set.master().command({"LLEN", queue_key(name)}) == std::to_string(i + 1);
      }));
      all.push_back(std::move(one));
    }
    return all;
  }
  static void expect_grant(const waiter& one, std::int64_t& token) {
    const auto granted = next_event(one.queue, 60 * second_ms);
    EXPECT_EQ(MORTISE_EVENT_ACQUIRED, granted.kind);
    EXPECT_EQ(MORTISE_OK, granted.status);
    EXPECT_GT(granted.token, token);
    token = granted.token;
  }
  static bool is_silent(const waiter& one) {
    return next_event(one.queue, 0).kind == MORTISE_EVENT_NONE;
  }
  static void expect_held_by_another(const client_handle& client, const std::string& name) {
    const auto lock = open_lock(client, name);
    EXPECT_EQ(MORTISE_NOT_ACQUIRED, mortise_lock_try(lock.get(), nullptr));
  }
  void expect_all_kept(const std::function<void()>& fault);

  sentinel_set set;
};

// A holder still holds, waiters are granted in their order, a canceled call is canceled, and an
// upgrade succeeds, whatever ends the master. No call fails.
void sentinel::expect_all_kept(const std::function<void()>& fault) {
  const auto client = open_client(url());
  const auto held = open_lock(client, "held");
  const auto reading = open_rw(client, "reading");
  const auto error = new_error();
  ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(held.get(), patience_ms, nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_rw_read_acquire(reading.get(), patience_ms, nullptr));
  auto token = mortise_lock_token(held.get());
  const auto waiters = line_up("held", 5);
  set.replicate();
  const auto before = set.master_number();
  fault();
  // While no server serves.
  ASSERT_EQ(MORTISE_OK, mortise_lock_cancel(waiters[2].lock.get(), nullptr));
  EXPECT_EQ(MORTISE_CANCELLED, next_event(waiters[2].queue, 60 * second_ms).status);
  EXPECT_EQ(1, mortise_lock_is_held(held.get()));
  set.await_master_other_than(before);
  // A call without a timeout has `command_timeout`, which a failover may outlast.
  ASSERT_TRUE(answers(client));
  EXPECT_EQ(MORTISE_OK, mortise_rw_upgrade(reading.get(), error.get()))
      << mortise_error_message(error.get());
  EXPECT_EQ(MORTISE_OK, mortise_lock_extend(held.get(), 0, error.get()))
      << mortise_error_message(error.get());
  EXPECT_TRUE(is_silent(waiters[0]));
  EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(held.get(), error.get()))
      << mortise_error_message(error.get());
  for (std::size_t i = 0; i < waiters.size(); ++i) {
    if (i == 2) continue;
    expect_grant(waiters[i], token);
    for (auto later = i + 1; later < waiters.size(); ++later) {
      EXPECT_TRUE(is_silent(waiters[later])) << later << " before its time, with " << i;
    }
    ASSERT_TRUE(answers(waiters[i].client));
    EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(waiters[i].lock.get(), error.get()))
        << mortise_error_message(error.get());
  }
  EXPECT_EQ(MORTISE_OK, mortise_rw_write_unlock(reading.get(), error.get()))
      << mortise_error_message(error.get());
}

TEST_F(sentinel, hazard_10_all_is_kept_when_the_master_is_replaced_by_command) {
  expect_all_kept([&] { set.fail_over("follower"); });
}

TEST_F(sentinel, hazard_10_all_is_kept_when_the_master_is_killed) {
  expect_all_kept([&] { set.master().kill(); });
}

TEST_F(sentinel, hazard_10_all_is_kept_when_the_master_hangs) {
  expect_all_kept([&] { set.master().pause(); });
}

TEST_F(sentinel, the_log_tells_who_is_asked_instead) {
  const auto client = open_client(url());
  const auto queue = open_queue(client);
  watch_log(client, queue);
  set.replicate();
  set.fail_over();
  const auto line = next_line(queue, MORTISE_LOG_REDIRECTED);
  EXPECT_NE(std::string::npos, line.find(" moved from ")) << line;
}

// Any one of them is enough, and no message is needed.
TEST_F(sentinel, hazard_10_one_that_lives_and_is_asked_is_enough) {
  const auto client = open_client(url());
  const auto held = open_lock(client, "held");
  ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(held.get(), patience_ms, nullptr));
  set.replicate();
  set.sentinel(1).kill();
  set.forget_sentinel(1);
  const auto before = set.master_number();
  set.fail_over("follower");
  set.sentinel(2).pause();
  set.forget_sentinel(2);
  const auto again = open_client(url());
  expect_held_by_another(again, "held");
  EXPECT_NE(before, set.master_number());
  EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(held.get(), nullptr));
  set.sentinel(2).resume();
}

// The Sentinels answer, and publish nothing.
TEST_F(sentinel, hazard_28_a_client_that_missed_the_message_looks_when_it_is_refused) {
  const auto client = open_client(url());
  const auto lock = open_lock(client, "refused");
  ASSERT_EQ(MORTISE_OK, mortise_client_ping(client.get(), nullptr));
  for (std::size_t i = 0; i < 3; ++i) {
    set.sentinel(i).command({"ACL", "SETUSER", "default", "resetchannels"});
  }
  const auto before = set.master_number();
  set.fail_over();
  ASSERT_TRUE(
      eventually([&] { return set.server(before).command({"ROLE"}).starts_with("slave"); }));
  const auto error = new_error();
  EXPECT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, error.get()))
      << mortise_error_message(error.get());
  EXPECT_EQ("1", set.master().command({"EXISTS", lock_key("refused")}));
  EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), nullptr));
}

// A list whose members are masters of Sentinels.
TEST_F(sentinel, a_shard_and_a_vote_of_a_quorum_may_have_sentinels) {
  test_server second;
  test_server third;
  const auto own = set.url("shard=a&lease=60s&command_timeout=20s&client_name=follower");
  const auto shards = open_client("shard:" + own + "," + second.url() + "?shard=b");
  const auto quorum = open_client(
      "redlock:" + set.url("quarantine=0&lease=60s&command_timeout=20s&client_name=follower") +
      "," + second.url() + "," + third.url());
  constexpr int of_shards = 8;
  std::vector<lock_handle> held;
  held.reserve(of_shards + 1);
  for (int i = 0; i < of_shards; ++i) {
    held.push_back(open_lock(shards, "of shard " + std::to_string(i)));
  }
  held.push_back(open_lock(quorum, "voted for"));
  for (const auto& one : held) {
    ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(one.get(), patience_ms, nullptr));
  }
  // The two others may have been the quorum.
  EXPECT_TRUE(eventually([&] {
    return set.master().command({"EXISTS", lock_key("voted for")}) == "1";
  }));
  set.replicate();
  set.fail_over("follower");
  const auto error = new_error();
  for (const auto& one : held) {
    EXPECT_EQ(MORTISE_OK, mortise_lock_extend(one.get(), 0, error.get()))
        << mortise_error_message(error.get());
    EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(one.get(), error.get()))
        << mortise_error_message(error.get());
  }
  EXPECT_TRUE(eventually([&] {
    return set.master().command({"EXISTS", lock_key("voted for")}) == "0";
  }));
}

// Servers and Sentinels with passwords of their own, and a failover among them.
TEST(sentinel_login, each_is_logged_in_to_with_its_own) {
  sentinel_set set({.of_servers = {"--requirepass", "of-servers", "--masterauth", "of-servers"},
                    .of_sentinels = {"--requirepass", "of-sentinels"},
                    .settings = {{"auth-pass", "of-servers"}},
                    .server_login = {"AUTH", "of-servers"},
                    .sentinel_login = {"AUTH", "of-sentinels"}});
  auto url = set.url("sentinel_password=of-sentinels&command_timeout=20s&client_name=follower");
  url.insert(url.find("//") + 2, ":of-servers@");
  const auto client = open_client(url);
  const auto lock = open_lock(client, "held");
  ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr));
  set.replicate();
  set.fail_over("follower");
  EXPECT_EQ(MORTISE_OK, mortise_lock_extend(lock.get(), 0, nullptr));
  EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), nullptr));
}

}  // namespace
}  // namespace mortise::testing::sentinel_failover_test
