// What Mortise writes in the formats of other programs, to the byte, and what it takes from them.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "interop/article_locks.hpp"
#include "support/handles.hpp"
#include "support/proxy.hpp"
#include "support/server.hpp"

namespace mortise::testing::written_test {
namespace {

constexpr std::int64_t lease_ms = 30'000;
constexpr std::int64_t written_ms = lease_ms + lease_ms / 10 + 2;  // with the server's margin
// How far a time that was read before or after may be off.
constexpr std::int64_t slack_ms = 10'000;

class written : public ::testing::Test {
 protected:
  lock_handle open(const std::string& protocol) {
    client_ = open_client(server_.url() + "?lease=30s&poll_interval=20ms&protocol=" + protocol);
    return open_lock(client_, "k");
  }
  std::string run(const std::vector<std::string>& command) { return server_.command(command); }
  std::int64_t number(const std::vector<std::string>& command) { return std::stoll(run(command)); }

  test_server server_;
  client_handle client_;
};

TEST_F(written, token_is_the_owner_with_a_ttl) {
  const auto lock = open("token");
  ASSERT_EQ(MORTISE_OK, mortise_lock_try(lock.get(), nullptr));
  EXPECT_TRUE(run({"GET", "k"}).starts_with("m1:"));
  EXPECT_NEAR(static_cast<double>(written_ms), static_cast<double>(number({"PTTL", "k"})),
              slack_ms);
}

TEST_F(written, timestamp_is_seconds_with_a_fraction) {
  const auto lock = open("timestamp");
  ASSERT_EQ(MORTISE_OK, mortise_lock_try(lock.get(), nullptr));
  const auto value = run({"GET", "k"});
  EXPECT_EQ(value.find_first_not_of("0123456789."), std::string::npos) << value;
  EXPECT_EQ(value.size() - 4, value.find('.')) << value;
  EXPECT_NEAR(static_cast<double>(wall_ms() + written_ms), std::stod(value) * 1000, slack_ms);
}

TEST_F(written, timestamp_of_never_does_not_end) {
  const auto lock = open("timestamp");
  const info_handle info(mortise_info_new());
  for (const auto* never : {"2147483649", "2147483649.0"}) {
    run({"SET", "k", never});
    EXPECT_EQ(MORTISE_TIMED_OUT, mortise_lock_acquire(lock.get(), 1'500, nullptr));
    ASSERT_EQ(MORTISE_OK, mortise_lock_query(lock.get(), info.get(), nullptr));
    EXPECT_EQ(-1, mortise_info_time_left_ms(info.get()));
    EXPECT_EQ(never, run({"GET", "k"}));
  }
}

TEST_F(written, timestamps_that_are_past_are_taken_over_and_what_is_none_is_foreign) {
  const auto lock = open("timestamp");
  for (const auto* past : {"1500000000", "1500000000.25", "1500000000."}) {
    run({"SET", "k", past});
    EXPECT_EQ(MORTISE_OK, mortise_lock_try(lock.get(), nullptr)) << past;
    EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), nullptr));
  }
  for (const auto* none : {"", "soon", "nan", "inf", "0x10", "-1", "1e3", " 1", "1.2.3"}) {
    run({"SET", "k", none});
    EXPECT_EQ(MORTISE_REFUSED, mortise_lock_try(lock.get(), nullptr)) << none;
    EXPECT_EQ(none, run({"GET", "k"}));
  }
}

// The winner's value was changed by another program that had lost.
TEST_F(written, timestamp_that_another_has_changed_is_no_longer_ours) {
  const auto lock = open("timestamp");
  ASSERT_EQ(MORTISE_OK, mortise_lock_try(lock.get(), nullptr));
  const auto changed = std::to_string(wall_ms() / 1000 + 100);
  run({"GETSET", "k", changed});
  EXPECT_EQ(MORTISE_LOST, mortise_lock_extend(lock.get(), 60'000, nullptr));
  EXPECT_EQ(changed, run({"GET", "k"}));
}

TEST_F(written, binary_timestamp_is_8_bytes_a_second_late_with_a_ttl) {
  const auto lock = open("timestamp_binary");
  ASSERT_EQ(MORTISE_OK, mortise_lock_try(lock.get(), nullptr));
  const auto value = run({"GET", "k"});
  ASSERT_EQ(8U, value.size());
  const auto left = number({"PTTL", "k"});
  EXPECT_NEAR(static_cast<double>(written_ms), static_cast<double>(left), slack_ms);
  // Both end together, but for the tolerance; the margin is for what passes between the two looks.
  const auto tolerance = from_big_endian(value) - wall_ms() - left;
  EXPECT_GE(tolerance, 500);
  EXPECT_LE(tolerance, 1100);
}

// Its program died between SETNX and EXPIRE.
TEST_F(written, binary_timestamp_without_a_ttl_ends_by_its_value) {
  const auto lock = open("timestamp_binary");
  run({"SET", "k", big_endian(wall_ms() + 500)});
  EXPECT_EQ(MORTISE_NOT_ACQUIRED, mortise_lock_try(lock.get(), nullptr));
  EXPECT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr));
  EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), nullptr));
  run({"SET", "k", "1500000000"});
  EXPECT_EQ(MORTISE_REFUSED, mortise_lock_try(lock.get(), nullptr));
}

class rw_written : public written {
 protected:
  mortise_rw* open_rw(const std::string& options) {
    rw_client_ = open_client(server_.url() + "?renewal=off&" + options);
    rw_ = mortise_rw_new(rw_client_.get(), "k", 1, nullptr, nullptr);
    return rw_;
  }
  void TearDown() override { mortise_rw_free(rw_); }
  client_handle rw_client_;
  mortise_rw* rw_ = nullptr;
};

TEST_F(rw_written, two_keys_hold_1_with_a_ttl) {
  auto* const rw = open_rw("lease=30s&protocol=two_key");
  ASSERT_EQ(MORTISE_OK, mortise_rw_read_try(rw, nullptr));
  EXPECT_EQ("1", run({"GET", "k:read"}));
  EXPECT_GT(number({"PTTL", "k:read"}), 20'000);
  EXPECT_EQ("0", run({"EXISTS", "k:write"}));
  ASSERT_EQ(MORTISE_OK, mortise_rw_read_unlock(rw, nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_rw_write_try(rw, nullptr));
  EXPECT_EQ("1", run({"GET", "k:write"}));
  EXPECT_GT(number({"PTTL", "k:write"}), 20'000);
  EXPECT_EQ("0", run({"EXISTS", "k:read"}));
}

// Stopped again and again, also between what a script asks of the clock and what it writes, the
// server still knows whose keys these are.
TEST_F(rw_written, hazard_6_a_slow_server_knows_its_two_keys) {
  auto* const rw = open_rw("lease=30s&command_timeout=20s&protocol=two_key");
  std::atomic<bool> is_over = false;
  std::thread stutter([&] {
    while (!is_over) {
      server_.pause();
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
      server_.resume();
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  });
  for (int round = 0; round < 30 && !HasFailure(); ++round) {
    EXPECT_EQ(MORTISE_OK, mortise_rw_read_acquire(rw, patience_ms, nullptr)) << round;
    EXPECT_EQ(MORTISE_OK, mortise_rw_read_unlock(rw, nullptr)) << round;
    EXPECT_EQ("0", run({"EXISTS", "k:read"})) << round;
    EXPECT_EQ(MORTISE_OK, mortise_rw_write_acquire(rw, patience_ms, nullptr)) << round;
    EXPECT_EQ(MORTISE_OK, mortise_rw_write_unlock(rw, nullptr)) << round;
  }
  is_over = true;
  stutter.join();
}

// A reader with a longer lease wrote the key, and Mortise's shorter hold does not cut it.
TEST_F(rw_written, another_reader_s_longer_lease_is_left_to_it) {
  auto* const rw = open_rw("lease=1s&protocol=two_key");
  run({"SET", "k:read", "1", "PX", "60000"});
  ASSERT_EQ(MORTISE_OK, mortise_rw_read_try(rw, nullptr));
  EXPECT_GT(number({"PTTL", "k:read"}), 30'000);
  ASSERT_EQ(MORTISE_OK, mortise_rw_read_unlock(rw, nullptr));
  EXPECT_GT(number({"PTTL", "k:read"}), 30'000);
}

TEST_F(rw_written, another_reader_s_key_without_a_ttl_is_left_as_it_is) {
  auto* const rw = open_rw("lease=1s&protocol=two_key");
  ASSERT_EQ(MORTISE_OK, mortise_rw_read_try(rw, nullptr));
  run({"SET", "k:read", "1"});
  EXPECT_EQ(MORTISE_OK, mortise_rw_read_unlock(rw, nullptr));
  ASSERT_EQ(MORTISE_OK, mortise_rw_read_try(rw, nullptr));
  EXPECT_EQ(MORTISE_OK, mortise_rw_read_unlock(rw, nullptr));
  EXPECT_EQ("-1", run({"PTTL", "k:read"}));
}

// The other programs take a read for over after 1 s and a write after 3 s, as in the article.
TEST_F(rw_written, a_hold_longer_than_the_lifetimes_counts_as_long_as_it_lasts) {
  auto* const rw = open_rw("lease=5s&read_lifetime=1s&write_lifetime=3s&protocol=hash");
  for (const bool is_reader : {true, false}) {
    ASSERT_EQ(MORTISE_OK,
              is_reader ? mortise_rw_read_try(rw, nullptr) : mortise_rw_write_try(rw, nullptr));
    const auto began = number({"HGET", "k", is_reader ? "read" : "write"});
    const auto ends = began + (is_reader ? 1000 : 3000);
    EXPECT_NEAR(static_cast<double>(wall_ms() + 5502), static_cast<double>(ends), 4000);
    EXPECT_GT(number({"PTTL", "k"}), 3000);
    ASSERT_EQ(MORTISE_OK, is_reader ? mortise_rw_read_unlock(rw, nullptr)
                                    : mortise_rw_write_unlock(rw, nullptr));
  }
}

// Each hold is identified in its own way: the field, its own time, and no other holder in between.
TEST_F(rw_written, hazard_17_a_hold_in_a_hash_ends_with_its_field_its_lease_and_its_exclusion) {
  auto* const rw = open_rw("lease=10s&protocol=hash");
  ASSERT_EQ(MORTISE_OK, mortise_rw_read_try(rw, nullptr));
  run({"DEL", "k"});
  EXPECT_EQ(MORTISE_LOST, mortise_rw_extend(rw, 20'000, nullptr));
  EXPECT_EQ("0", run({"EXISTS", "k"}));
  mortise_rw_read_unlock(rw, nullptr);

  ASSERT_EQ(MORTISE_OK, mortise_rw_read_try(rw, nullptr));
  const auto found = run({"HGET", "k", "read"});
  run({"HSET", "k", "write", std::to_string(wall_ms())});
  EXPECT_EQ(MORTISE_LOST, mortise_rw_extend(rw, 20'000, nullptr));
  EXPECT_EQ(found, run({"HGET", "k", "read"}));
  mortise_rw_read_unlock(rw, nullptr);
  run({"DEL", "k"});
}

// The release that a client sends when its lease ends is late.
TEST_F(rw_written, a_hold_whose_lease_is_over_is_not_released_although_it_is_still_written) {
  std::atomic<std::int64_t> late{0};
  proxy between(server_.socket_path(), [&](const fake_command& command) {
    const bool is_script = command.is("EVALSHA") || command.is("EVAL");
    if (is_script) eventually([&] { return wall_ms() > late.load(); });
    return fault::none();
  });
  rw_client_ = open_client(between.url() + "?lease=1s&renewal=off&protocol=hash");
  rw_ = mortise_rw_new(rw_client_.get(), "k", 1, nullptr, nullptr);
  ASSERT_EQ(MORTISE_OK, mortise_rw_write_try(rw_, nullptr));
  late = number({"HGET", "k", "write"}) + 1200;
  for (const auto* kept : {"k", "{k}:mortise"}) run({"PEXPIRE", kept, "60000"});
  mortise_rw_write_unlock(rw_, nullptr);
  EXPECT_TRUE(eventually([&] { return wall_ms() > late.load(); }));
  ASSERT_EQ(MORTISE_OK, mortise_client_ping(rw_client_.get(), nullptr));
  EXPECT_EQ("1", run({"HEXISTS", "k", "write"}));
}

TEST_F(rw_written, what_others_wrote_counts_for_their_lifetimes) {
  auto* const rw = open_rw("lease=30s&read_lifetime=1s&write_lifetime=60s&protocol=hash");
  const auto earlier = std::to_string(wall_ms() - 10'000);
  run({"HSET", "k", "write", earlier});
  EXPECT_EQ(MORTISE_NOT_ACQUIRED, mortise_rw_read_try(rw, nullptr));
  run({"DEL", "k"});
  run({"HSET", "k", "read", earlier});
  EXPECT_EQ(MORTISE_OK, mortise_rw_write_try(rw, nullptr));
}

}  // namespace
}  // namespace mortise::testing::written_test
