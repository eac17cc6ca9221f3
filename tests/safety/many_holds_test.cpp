// Hazards of many holds of one client, whose renewals travel together.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "support/handles.hpp"
#include "support/server.hpp"

namespace mortise::testing::many_holds_test {
namespace {

constexpr int hold_count = 200;

class many_holds {
 public:
  many_holds(const test_server& server, const std::string& query)
      : client_(open_client(server.url() + query)), queue_(open_queue(client_)) {
    for (int i = 0; i < hold_count; ++i) {
      locks_.push_back(open_lock(client_, name_of(i)));
      EXPECT_EQ(MORTISE_OK, mortise_lock_acquire(locks_.back().get(), patience_ms, nullptr));
      EXPECT_EQ(MORTISE_OK, mortise_lock_watch(locks_.back().get(), queue_.get(), i, nullptr));
    }
  }
  static std::string name_of(int number) { return "many." + std::to_string(number); }
  [[nodiscard]] int held() const {
    int count = 0;
    for (const auto& lock : locks_) count += mortise_lock_is_held(lock.get());
    return count;
  }
  [[nodiscard]] bool is_held(int number) const {
    return mortise_lock_is_held(locks_[static_cast<std::size_t>(number)].get()) == 1;
  }
  // The longest time that any hold is believed to last.
  [[nodiscard]] std::int64_t longest_ms() const {
    std::int64_t longest = 0;
    for (const auto& lock : locks_) longest = std::max(longest, mortise_lock_valid_ms(lock.get()));
    return longest;
  }
  // The events so far, by kind.
  std::map<std::int32_t, int> events(std::int64_t patience = 0) {
    std::map<std::int32_t, int> seen;
    for (auto event = next_event(queue_, patience); event.kind != MORTISE_EVENT_NONE;
         event = next_event(queue_, patience)) {
      ++seen[event.kind];
    }
    return seen;
  }

 private:
  client_handle client_;
  queue_handle queue_;
  std::vector<lock_handle> locks_;
};

void sleep_ms(std::int64_t ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

std::int64_t count_of(test_server& server, const std::string& command) {
  const auto text = server.command({"INFO", "commandstats"});
  const auto start = "cmdstat_" + command + ":calls=";
  const auto at = text.find(start);
  return at == std::string::npos ? 0 : std::stoll(text.substr(at + start.size()));
}

TEST(safety, hazard_18_many_holds_survive_a_stall_that_is_shorter_than_their_margin) {
  test_server server;
  many_holds holds(server, "?lease=9s");
  server.command({"CONFIG", "RESETSTAT"});
  sleep_ms(2500);
  server.pause();  // while the renewals are due
  sleep_ms(1500);
  server.resume();
  ASSERT_TRUE(eventually([&] { return count_of(server, "pexpire") >= 2 * hold_count; }));
  EXPECT_EQ(hold_count, holds.held());
  const auto seen = holds.events();
  EXPECT_TRUE(seen.empty()) << seen.begin()->first;
  // The renewals travel together, or this test has shown nothing about them.
  EXPECT_LT(count_of(server, "evalsha") * 4, count_of(server, "pexpire"));
}

TEST(safety, hazard_01_many_holds_end_with_their_leases_while_the_server_stalls) {
  test_server server;
  many_holds holds(server, "?lease=2s&command_timeout=30s");
  sleep_ms(1000);
  server.pause();
  const auto paused = boot_now();
  // No renewal arrives from here on, so no lease lasts longer than from its last request.
  while (ms_since(paused) < 2000) {
    const auto before = boot_now();
    EXPECT_LE(holds.longest_ms(), 2000 - (before - paused) / ns_per_ms);
    sleep_ms(50);
  }
  EXPECT_EQ(0, holds.held());
  const auto seen = holds.events(500);
  EXPECT_EQ(hold_count, seen.count(MORTISE_EVENT_LOST) ? seen.at(MORTISE_EVENT_LOST) : 0);
  EXPECT_EQ(hold_count, seen.count(MORTISE_EVENT_AT_RISK) ? seen.at(MORTISE_EVENT_AT_RISK) : 0);
  server.resume();
  // The answers that come now bring no hold back.
  ASSERT_TRUE(eventually([&] { return server.command({"DBSIZE"}) != "-1"; }));
  sleep_ms(300);
  EXPECT_EQ(0, holds.held());
}

TEST(safety, hazard_17_one_lost_hold_among_many_is_the_only_one) {
  test_server server;
  many_holds holds(server, "?lease=6s");
  server.command({"DEL", lock_key(many_holds::name_of(5))});
  server.command({"SET", lock_key(many_holds::name_of(6)), "m1:fedcba9876543210:1.1::1602"});
  server.command({"DEL", lock_key(many_holds::name_of(7))});
  server.command({"RPUSH", lock_key(many_holds::name_of(7)), "x"});
  ASSERT_TRUE(eventually([&] { return holds.held() == hold_count - 3; }));
  for (const int lost : {5, 6, 7}) EXPECT_FALSE(holds.is_held(lost)) << lost;
  const auto seen = holds.events(500);
  EXPECT_EQ(3, seen.count(MORTISE_EVENT_LOST) ? seen.at(MORTISE_EVENT_LOST) : 0);
  EXPECT_EQ("list", server.command({"TYPE", lock_key(many_holds::name_of(7))}));
  EXPECT_EQ(hold_count - 3, holds.held());
}

}  // namespace
}  // namespace mortise::testing::many_holds_test
