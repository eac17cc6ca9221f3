// A server of a quorum that refuses a waiter notifies the owner of its vote, if that asks for it.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "support/handles.hpp"
#include "support/server.hpp"

namespace mortise::testing::quorum_contention_test {
namespace {

const std::string name = "report";

class quorum_contention : public ::testing::Test {
 protected:
  [[nodiscard]] std::string url(const std::string& options = "") const {
    return "redlock:" + servers[0].url() + "?quarantine=0" + options + "," + servers[1].url() +
           "," + servers[2].url();
  }
  // How many messages the servers have published.
  std::int64_t messages() {
    std::int64_t count = 0;
    for (auto& server : servers) {
      const auto statistics = server.command({"INFO", "commandstats"});
      const std::string key = "cmdstat_publish:calls=";
      const auto at = statistics.find(key);
      if (at != std::string::npos) count += std::stoll(statistics.substr(at + key.size()));
    }
    return count;
  }

  std::array<test_server, 3> servers;
  client_handle holder = open_client(url("&contended=on"));
  client_handle other = open_client(url());
  queue_handle queue = open_queue(holder);
  queue_handle ended = open_queue(other);
};

TEST_F(quorum_contention, a_try_is_no_waiter) {
  const auto lock = open_lock(holder, name);
  const auto tries = open_lock(other, name);
  ASSERT_EQ(MORTISE_OK, mortise_lock_watch(lock.get(), queue.get(), 1, nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_lock_try(lock.get(), nullptr));
  EXPECT_EQ(MORTISE_NOT_ACQUIRED, mortise_lock_try(tries.get(), nullptr));
  EXPECT_EQ(0, messages());
  EXPECT_EQ(MORTISE_EVENT_NONE, next_event(queue, 0).kind);
}

TEST_F(quorum_contention, a_waiter_is_reported_once_although_each_server_sends_a_message) {
  const auto lock = open_lock(holder, name);
  const auto waits = open_lock(other, name);
  ASSERT_EQ(MORTISE_OK, mortise_lock_watch(lock.get(), queue.get(), 1, nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_lock_try(lock.get(), nullptr));
  ASSERT_EQ(MORTISE_OK,
            mortise_lock_acquire_async(waits.get(), ended.get(), 2, patience_ms, nullptr));
  const auto seen = next_event(queue);
  EXPECT_EQ(MORTISE_EVENT_CONTENDED, seen.kind);
  EXPECT_EQ(mortise_lock_token(lock.get()), seen.token);
  EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), nullptr));
  EXPECT_EQ(MORTISE_EVENT_ACQUIRED, next_event(ended).kind);
  EXPECT_EQ(MORTISE_EVENT_NONE, next_event(queue, 0).kind);
}

TEST_F(quorum_contention, a_waiter_sends_nothing_to_an_owner_that_does_not_ask_for_it) {
  const auto lock = open_lock(other, name);
  const auto waits = open_lock(holder, name);
  ASSERT_EQ(MORTISE_OK, mortise_lock_try(lock.get(), nullptr));
  EXPECT_EQ(MORTISE_TIMED_OUT, mortise_lock_acquire(waits.get(), second_ms, nullptr));
  EXPECT_EQ(0, messages());
}

TEST_F(quorum_contention, a_writer_is_reported_to_readers_and_a_reader_to_a_writer) {
  const auto read = open_rw(holder, name);
  const auto write = open_rw(holder, name);
  const auto waits = open_rw(other, name);
  ASSERT_EQ(MORTISE_OK, mortise_rw_watch(read.get(), queue.get(), 1, nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_rw_watch(write.get(), queue.get(), 2, nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_rw_read_try(read.get(), nullptr));
  ASSERT_EQ(MORTISE_OK,
            mortise_rw_write_acquire_async(waits.get(), ended.get(), 3, patience_ms, nullptr));
  EXPECT_EQ(1, next_event(queue).tag);
  EXPECT_EQ(MORTISE_OK, mortise_rw_read_unlock(read.get(), nullptr));
  EXPECT_EQ(MORTISE_EVENT_ACQUIRED, next_event(ended).kind);
  EXPECT_EQ(MORTISE_OK, mortise_rw_write_unlock(waits.get(), nullptr));

  ASSERT_EQ(MORTISE_OK, mortise_rw_write_acquire(write.get(), patience_ms, nullptr));
  ASSERT_EQ(MORTISE_OK,
            mortise_rw_read_acquire_async(waits.get(), ended.get(), 4, patience_ms, nullptr));
  const auto seen = next_event(queue);
  EXPECT_EQ(MORTISE_EVENT_CONTENDED, seen.kind);
  EXPECT_EQ(2, seen.tag);
  EXPECT_EQ(MORTISE_OK, mortise_rw_write_unlock(write.get(), nullptr));
  EXPECT_EQ(MORTISE_EVENT_ACQUIRED, next_event(ended).kind);
}

}  // namespace
}  // namespace mortise::testing::quorum_contention_test
