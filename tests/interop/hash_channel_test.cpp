// How waiters for a lock of Redisson's format learn of its release: on its channel, and without it
// when the lease ends. A lease of these tests is far longer than a test may last.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "interop/article_locks.hpp"
#include "support/handles.hpp"
#include "support/proxy.hpp"
#include "support/server.hpp"

namespace mortise::testing::hash_channel_test {
namespace {

constexpr std::int64_t long_ms = 600'000;
// A waiter looks by itself after 15 s.
constexpr std::int64_t word_ms = 10'000;
const std::string key = "redisson's";
const std::string channel = "redisson_lock__channel:{" + key + "}";

std::unique_ptr<article_lock> other_side(raw_client& bare) {
  for (const auto& format : mutex_formats()) {
    if (format.protocol == "hash") return format.other(bare, key);
  }
  throw std::logic_error("no format hash");
}

bool is_heard(test_server& server) {
  return server.command({"PUBSUB", "NUMSUB", channel}) == channel + "\n1";
}

std::future<mortise_status> acquire_later(const lock_handle& lock) {
  return std::async(std::launch::async,
                    [&] { return mortise_lock_acquire(lock.get(), patience_ms, nullptr); });
}

class hash_channel : public ::testing::TestWithParam<bool> {
 protected:
  // The parameter: a server that has only RESP2, where messages have a socket of their own.
  test_server server_{GetParam() ? server_options{.arguments = {"--rename-command", "HELLO", ""}}
                                 : server_options{}};
  std::unique_ptr<raw_client> bare_ = server_.connect();
  std::unique_ptr<article_lock> other_ = other_side(*bare_);
  client_handle client_ = open_client(server_.url() + "?protocol=hash");
  lock_handle lock_ = open_lock(client_, key);
};

TEST_P(hash_channel, nobody_listens_who_does_not_wait) {
  ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(lock_.get(), patience_ms, nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_lock_unlock(lock_.get(), nullptr));
  ASSERT_TRUE(other_->take(long_ms));
  EXPECT_EQ(MORTISE_NOT_ACQUIRED, mortise_lock_try(lock_.get(), nullptr));
  EXPECT_FALSE(is_heard(server_));
  EXPECT_EQ(std::string::npos, server_.command({"INFO", "commandstats"}).find("unsubscribe"));
  auto waiting = acquire_later(lock_);
  EXPECT_TRUE(eventually([&] { return is_heard(server_); }));
  other_->release();
  EXPECT_EQ(MORTISE_OK, waiting.get());
  EXPECT_TRUE(eventually([&] { return !is_heard(server_); }));
}

TEST_P(hash_channel, who_gives_up_listens_no_more) {
  ASSERT_TRUE(other_->take(long_ms));
  EXPECT_EQ(MORTISE_TIMED_OUT, mortise_lock_acquire(lock_.get(), 1'500, nullptr));
  EXPECT_TRUE(eventually([&] { return !is_heard(server_); }));
}

TEST_P(hash_channel, a_release_wakes_all_who_wait_and_each_gets_its_turn) {
  constexpr int crowd = 8;
  std::vector<lock_handle> locks;
  std::vector<std::thread> threads;
  ASSERT_TRUE(other_->take(long_ms));
  for (int i = 0; i < crowd; ++i) locks.push_back(open_lock(client_, key));
  const auto begin = boot_now();
  std::atomic<int> turns{0};
  std::atomic<int> holders{0};
  for (const auto& lock : locks) {
    threads.emplace_back([&] {
      if (mortise_lock_acquire(lock.get(), patience_ms, nullptr) != MORTISE_OK) return;
      EXPECT_EQ(1, ++holders);
      --holders;
      EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), nullptr));
      ++turns;
    });
  }
  EXPECT_TRUE(eventually([&] { return is_heard(server_); }));
  other_->release();
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(crowd, turns.load());
  EXPECT_LT(ms_since(begin), word_ms);
}

TEST_P(hash_channel, is_listened_to_again_after_a_reconnect) {
  ASSERT_TRUE(other_->take(long_ms));
  auto waiting = acquire_later(lock_);
  ASSERT_TRUE(eventually([&] { return is_heard(server_); }));
  bare_->command({"CLIENT", "KILL", "TYPE", "pubsub"});
  bare_->command({"CLIENT", "KILL", "TYPE", "normal"});
  ASSERT_TRUE(eventually([&] { return is_heard(server_); }));
  const auto begin = boot_now();
  other_->release();
  EXPECT_EQ(MORTISE_OK, waiting.get());
  EXPECT_LT(ms_since(begin), word_ms);
}

// Messages that were published while there was no connection.
TEST_P(hash_channel, a_release_during_a_break_is_found_by_the_look_after_it) {
  ASSERT_TRUE(other_->take(long_ms));
  auto waiting = acquire_later(lock_);
  ASSERT_TRUE(eventually([&] { return is_heard(server_); }));
  const auto begin = boot_now();
  bare_->send({"CLIENT", "KILL", "TYPE", "pubsub"});
  bare_->send({"CLIENT", "KILL", "TYPE", "normal"});
  bare_->send({"DEL", key});
  EXPECT_EQ(MORTISE_OK, waiting.get());
  EXPECT_LT(ms_since(begin), word_ms);
}

// The release comes after the look that found the lock taken, and before the channel is listened
// to.
TEST(hash_channel_race, hazard_24_a_release_before_the_subscription_is_found_by_the_look_after_it) {
  test_server server;
  const auto bare = server.connect();
  const auto other = other_side(*bare);
  std::atomic<int> subscriptions{0};
  proxy between(server.socket_path(), [&](const fake_command& command) {
    const bool is_ours = command.is("SUBSCRIBE") && command.words.at(1) == channel;
    if (is_ours && ++subscriptions == 1) other->release();
    return fault::none();
  });
  const auto client = open_client(between.url() + "?protocol=hash");
  const auto lock = open_lock(client, key);
  ASSERT_TRUE(other->take(long_ms));
  const auto begin = boot_now();
  EXPECT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr));
  EXPECT_LT(ms_since(begin), word_ms);
  EXPECT_EQ(1, subscriptions.load());
}

// The key is deleted without a message.
TEST_P(hash_channel, hazard_24_a_lost_message_is_made_up_for_when_the_lease_ends) {
  ASSERT_TRUE(other_->take(1000));
  auto waiting = acquire_later(lock_);
  EXPECT_EQ(MORTISE_OK, waiting.get());
}

TEST_P(hash_channel, who_may_not_listen_still_gets_in) {
  server_.command(
      {"ACL", "SETUSER", "deaf", "on", "nopass", "~*", "resetchannels", "&mortise:*", "+@all"});
  const auto client = open_client("unix://deaf:x@" + server_.socket_path() + "?protocol=hash");
  const auto lock = open_lock(client, key);
  ASSERT_TRUE(other_->take(1000));
  EXPECT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr));
  EXPECT_EQ(MORTISE_OK, mortise_client_ping(client.get(), nullptr));
  EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), nullptr));
}

TEST_P(hash_channel, our_release_says_what_redisson_s_does) {
  const auto listener = server_.connect();
  listener->command({"SUBSCRIBE", channel});
  ASSERT_EQ(MORTISE_OK, mortise_lock_try(lock_.get(), nullptr));
  const auto owner = bare_->command({"HKEYS", key});
  EXPECT_EQ(8U, owner.find('-')) << owner;
  EXPECT_EQ(36U, owner.find(':')) << owner;
  EXPECT_EQ("1", bare_->command({"HGET", key, owner}));
  ASSERT_EQ(MORTISE_OK, mortise_lock_unlock(lock_.get(), nullptr));
  EXPECT_EQ("message\n" + channel + "\n0", listener->read_reply());
}

// A name that has a hash tag of its own is not given another, in no format of Redisson's.
TEST_P(hash_channel, a_name_with_braces_is_its_own_tag) {
  const std::string name = "theirs{tag}";
  const auto listener = server_.connect();
  listener->command({"SUBSCRIBE", "redisson_lock__channel:" + name});
  const auto holder = open_lock(client_, name);
  const auto other = open_client(server_.url() + "?protocol=hash");
  const auto waiter = open_lock(other, name);
  ASSERT_EQ(MORTISE_OK, mortise_lock_try(holder.get(), nullptr));
  auto waiting = acquire_later(waiter);
  ASSERT_TRUE(eventually([&] {
    return server_.command({"PUBSUB", "NUMSUB", "redisson_lock__channel:" + name}) ==
           "redisson_lock__channel:" + name + "\n2";
  }));
  const auto begin = boot_now();
  ASSERT_EQ(MORTISE_OK, mortise_lock_unlock(holder.get(), nullptr));
  EXPECT_EQ("message\nredisson_lock__channel:" + name + "\n0", listener->read_reply());
  EXPECT_EQ(MORTISE_OK, waiting.get());
  EXPECT_LT(ms_since(begin), word_ms);
  EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(waiter.get(), nullptr));
}

INSTANTIATE_TEST_SUITE_P(resp, hash_channel, ::testing::Bool(), [](const auto& parameter) {
  return parameter.param ? std::string("two") : std::string("three");
});

}  // namespace
}  // namespace mortise::testing::hash_channel_test
