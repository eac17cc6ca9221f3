// Mutexes in the formats of other programs: both sides exclude each other on one key.
#include <gtest/gtest.h>

#include <future>
#include <string>
#include <thread>

#include "interop/article_locks.hpp"
#include "support/handles.hpp"
#include "support/server.hpp"

namespace mortise::testing::interop_mutex_test {
namespace {

constexpr std::int64_t long_ms = 60'000;

class mutex_interop : public ::testing::TestWithParam<mutex_format> {
 protected:
  [[nodiscard]] std::string url(const std::string& options) const {
    return server_.url() + "?protocol=" + GetParam().protocol + "&poll_interval=20ms&" + options;
  }
  std::string run(const std::vector<std::string>& command) { return bare_->command(command); }
  // All that the key is, but for how long.
  std::string content() { return run({"DUMP", key_}); }
  bool exists() { return run({"EXISTS", key_}) == "1"; }
  // An acquire in the background.
  static std::future<mortise_status> acquire_later(const lock_handle& lock) {
    return std::async(std::launch::async,
                      [&] { return mortise_lock_acquire(lock.get(), patience_ms, nullptr); });
  }

  const std::string key_ = "an article's lock";
  test_server server_;
  std::unique_ptr<raw_client> bare_ = server_.connect();
  std::unique_ptr<article_lock> other_ = GetParam().other(*bare_, key_);
  client_handle client_ = open_client(url("lease=30s"));
  lock_handle lock_ = open_lock(client_, key_);
};

TEST_P(mutex_interop, it_holds_and_we_are_refused_until_it_releases) {
  ASSERT_TRUE(other_->take(long_ms));
  const auto before = content();
  EXPECT_EQ(MORTISE_NOT_ACQUIRED, mortise_lock_try(lock_.get(), nullptr));
  auto waiting = acquire_later(lock_);
  EXPECT_TRUE(always([&] { return content() == before; }, 200));  // a loser changes nothing
  EXPECT_EQ(std::future_status::timeout, waiting.wait_for(std::chrono::seconds(0)));
  other_->release();
  EXPECT_EQ(MORTISE_OK, waiting.get());
  EXPECT_FALSE(other_->take(long_ms));
  EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(lock_.get(), nullptr));
}

TEST_P(mutex_interop, we_hold_and_it_is_refused_until_we_release) {
  ASSERT_EQ(MORTISE_OK, mortise_lock_try(lock_.get(), nullptr));
  EXPECT_GT(mortise_lock_token(lock_.get()), 0);
  EXPECT_EQ(GetParam().type, run({"TYPE", key_}));
  EXPECT_FALSE(other_->take(long_ms));
  EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(lock_.get(), nullptr));
  EXPECT_FALSE(exists());
  EXPECT_TRUE(other_->take(long_ms));
}

TEST_P(mutex_interop, its_lease_ends_and_we_get_in) {
  const auto begin = boot_now();
  ASSERT_TRUE(other_->take(2000));
  EXPECT_EQ(MORTISE_NOT_ACQUIRED, mortise_lock_try(lock_.get(), nullptr));
  EXPECT_EQ(MORTISE_OK, mortise_lock_acquire(lock_.get(), patience_ms, nullptr));
  EXPECT_GE(ms_since(begin), 1900);
}

TEST_P(mutex_interop, our_lease_ends_and_it_gets_in_and_our_unlock_leaves_it_alone) {
  const auto client = open_client(url("lease=2s&renewal=off"));
  const auto lock = open_lock(client, key_);
  ASSERT_EQ(MORTISE_OK, mortise_lock_try(lock.get(), nullptr));
  EXPECT_FALSE(other_->take(long_ms));
  EXPECT_TRUE(eventually([&] { return other_->take(long_ms); }));
  EXPECT_EQ(0, mortise_lock_is_held(lock.get()));
  const auto before = content();
  EXPECT_EQ(MORTISE_LOST, mortise_lock_unlock(lock.get(), nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_client_ping(client.get(), nullptr));  // behind what it gives back
  EXPECT_EQ(before, content());
}

TEST_P(mutex_interop, hazard_17_a_hold_that_was_taken_over_is_neither_renewed_nor_released) {
  const auto client = open_client(url("lease=600ms"));
  const auto queue = open_queue(client);
  for (const bool is_unlocked : {true, false}) {
    const auto lock = open_lock(client, key_);
    ASSERT_EQ(MORTISE_OK, mortise_lock_watch(lock.get(), queue.get(), 1, nullptr));
    ASSERT_EQ(MORTISE_OK, mortise_lock_try(lock.get(), nullptr));
    run({"DEL", key_});
    ASSERT_TRUE(other_->take(long_ms));
    const auto before = content();
    if (is_unlocked) {
      EXPECT_EQ(MORTISE_LOST, mortise_lock_unlock(lock.get(), nullptr));
    } else {
      EXPECT_EQ(MORTISE_EVENT_LOST, next_loss(queue).kind);
    }
    EXPECT_EQ(before, content());
    other_->release();
  }
}

TEST_P(mutex_interop, our_renewal_keeps_it_out) {
  const auto client = open_client(url("lease=2s"));
  const auto lock = open_lock(client, key_);
  ASSERT_EQ(MORTISE_OK, mortise_lock_try(lock.get(), nullptr));
  EXPECT_TRUE(always([&] { return !other_->take(long_ms); }, 4000));
  EXPECT_EQ(1, mortise_lock_is_held(lock.get()));
  EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), nullptr));
}

TEST_P(mutex_interop, hazard_16_a_broken_connection_neither_loses_the_hold_nor_takes_it_twice) {
  ASSERT_EQ(MORTISE_OK, mortise_lock_try(lock_.get(), nullptr));
  const auto waiter = open_lock(client_, key_);
  auto waiting = acquire_later(waiter);
  run({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
  run({"CLIENT", "KILL", "TYPE", "pubsub"});
  EXPECT_FALSE(other_->take(long_ms));
  EXPECT_EQ(std::future_status::timeout, waiting.wait_for(std::chrono::milliseconds(200)));
  ASSERT_TRUE(
      eventually([&] { return mortise_client_ping(client_.get(), nullptr) == MORTISE_OK; }));
  EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(lock_.get(), nullptr));
  EXPECT_EQ(MORTISE_OK, waiting.get());
  EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(waiter.get(), nullptr));
  EXPECT_TRUE(other_->take(long_ms));
}

TEST_P(mutex_interop, our_fencing_tokens_rise) {
  std::int64_t last = 0;
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(lock_.get(), patience_ms, nullptr));
    EXPECT_GT(mortise_lock_token(lock_.get()), last);
    last = mortise_lock_token(lock_.get());
    ASSERT_EQ(MORTISE_OK, mortise_lock_unlock(lock_.get(), nullptr));
    if (round == 1) run({"DEL", "mortise:fence"});
  }
}

TEST_P(mutex_interop, further_holds_of_the_owner_are_counted_here) {
  const auto client = open_client(url("reentrant=on"));
  const auto lock = open_lock(client, key_);
  ASSERT_EQ(MORTISE_OK, mortise_lock_try(lock.get(), nullptr));
  const auto before = content();
  EXPECT_EQ(MORTISE_OK, mortise_lock_try(lock.get(), nullptr));
  EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), nullptr));
  EXPECT_EQ(before, content());
  EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), nullptr));
  EXPECT_FALSE(exists());
}

TEST_P(mutex_interop, attempts_are_counted) {
  ASSERT_TRUE(other_->take(long_ms));
  const auto client = open_client(url("poll_attempts=2"));
  const auto lock = open_lock(client, key_);
  EXPECT_EQ(MORTISE_NOT_ACQUIRED, mortise_lock_acquire(lock.get(), MORTISE_FOREVER, nullptr));
}

TEST_P(mutex_interop, a_key_of_another_kind_is_foreign_and_left_untouched) {
  run({"LPUSH", key_, "a list"});
  const auto before = content();
  const auto error = new_error();
  EXPECT_EQ(MORTISE_REFUSED, mortise_lock_acquire(lock_.get(), patience_ms, error.get()));
  const std::string text = mortise_error_server_text(error.get());
  EXPECT_NE(text.find("FOREIGN the key " + key_ + " holds a list"), std::string::npos) << text;
  const info_handle info(mortise_info_new());
  EXPECT_EQ(MORTISE_REFUSED, mortise_lock_query(lock_.get(), info.get(), nullptr));
  EXPECT_EQ(before, content());
}

TEST_P(mutex_interop, the_server_is_asked_who_holds) {
  const info_handle info(mortise_info_new());
  ASSERT_EQ(MORTISE_OK, mortise_lock_query(lock_.get(), info.get(), nullptr));
  EXPECT_EQ(0, mortise_info_is_held(info.get()));
  ASSERT_EQ(MORTISE_OK, mortise_lock_try(lock_.get(), nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_lock_query(lock_.get(), info.get(), nullptr));
  EXPECT_EQ(1, mortise_info_is_held(info.get()));
  EXPECT_EQ(1, mortise_info_is_mine(info.get()));
  EXPECT_GT(mortise_info_time_left_ms(info.get()), 20'000);
  ASSERT_EQ(MORTISE_OK, mortise_lock_unlock(lock_.get(), nullptr));
  ASSERT_TRUE(other_->take(long_ms));
  ASSERT_EQ(MORTISE_OK, mortise_lock_query(lock_.get(), info.get(), nullptr));
  EXPECT_EQ(1, mortise_info_is_held(info.get()));
  EXPECT_EQ(0, mortise_info_is_mine(info.get()));
}

TEST_P(mutex_interop, everything_of_ours_beside_the_lock_ends_by_itself) {
  ASSERT_EQ(MORTISE_OK, mortise_lock_try(lock_.get(), nullptr));
  const auto note = "{" + key_ + "}:mortise";
  if (run({"EXISTS", note}) == "1") {
    EXPECT_GT(std::stoll(run({"PTTL", note})), 0);
  }
  ASSERT_EQ(MORTISE_OK, mortise_lock_unlock(lock_.get(), nullptr));
  EXPECT_EQ("0", run({"EXISTS", note}));
}

TEST_P(mutex_interop, names_that_are_keys_of_ours_are_refused) {
  for (const std::string name : {"mortise:fence", "{mortise:orders}"}) {
    const auto error = new_error();
    EXPECT_EQ(nullptr,
              mortise_lock_new(client_.get(), name.data(), name.size(), nullptr, error.get()));
    EXPECT_EQ(MORTISE_INVALID_ARGUMENT, mortise_error_status(error.get()));
  }
}

INSTANTIATE_TEST_SUITE_P(formats, mutex_interop, ::testing::ValuesIn(mutex_formats()),
                         [](const auto& format) { return format.param.protocol; });

}  // namespace
}  // namespace mortise::testing::interop_mutex_test
