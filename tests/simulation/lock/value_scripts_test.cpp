// The scripts that store the value of a hold.
#include <gtest/gtest.h>

#include <string>

#include "protocol/scripts/scripts.hpp"
#include "simulation/harness/simulated_redis.hpp"

namespace mortise::simulation::value_scripts_test {
namespace {

const std::string alice = "m1:a:1.1::550";
const std::string bob = "m1:b:1.1::550";
const std::string whole = "1073741824";
const std::string key = "lock:value:";

class value_scripts : public ::testing::Test {
 protected:
  // Whether the value was set, or removed if it is empty.
  bool set(const redis::script& script, const std::string& owner, const std::string& weight,
           const std::string& value) {
    const auto answer = server_.call(
        {"EVAL", std::string(script.text), "2", "lock", key + owner, owner, weight, value});
    return answer.integer == 1;
  }
  bool set(const std::string& owner, const std::string& value) {
    return set(scripts::queued_value, owner, "1", value);
  }
  // A mutex whose lease ends in 500 ms.
  void take(const std::string& held) {
    server_.call({"SET", "lock", held, "PX", held.back() == '*' ? "1500" : "500"});
  }
  // A holder of a shared lock whose lease ends in 500 ms.
  void enter(const std::string& weight, const std::string& owner) {
    server_.call({"ZADD", "lock", std::to_string(now_us_ / 1000 + 500), weight + " " + owner});
  }
  void pass_ms(std::int64_t ms) { now_us_ += ms * 1000; }
  std::string value_of(const std::string& owner) {
    const auto* const value = server_.find(key + owner);
    return value == nullptr ? "" : value->text;
  }

  std::int64_t now_us_ = 1'790'000'000'000'000;
  simulated_redis server_{[this] { return now_us_; }};
};

TEST_F(value_scripts, hazard_17_only_the_owner_of_a_mutex_sets_a_value) {
  EXPECT_FALSE(set(alice, "here"));
  take(bob);
  EXPECT_FALSE(set(alice, "here"));
  EXPECT_EQ(value_of(alice), "");
  take(alice);
  EXPECT_TRUE(set(alice, "here"));
  EXPECT_EQ(value_of(alice), "here");
}

TEST_F(value_scripts, a_value_ends_with_the_lease) {
  take(alice);
  pass_ms(200);
  EXPECT_TRUE(set(alice, "here"));
  pass_ms(290);
  EXPECT_EQ(value_of(alice), "here");
  pass_ms(20);
  EXPECT_EQ(value_of(alice), "");
}

TEST_F(value_scripts, hazard_17_a_lease_that_is_over_has_no_value) {
  take(alice + "*");
  EXPECT_TRUE(set(alice, "here"));
  pass_ms(510);  // in the queue's turn the key still exists
  EXPECT_EQ(value_of(alice), "");
  EXPECT_FALSE(set(alice, "late"));
  EXPECT_EQ(value_of(alice), "");
}

TEST_F(value_scripts, an_empty_value_is_removed_whoever_holds) {
  take(alice);
  EXPECT_TRUE(set(alice, "here"));
  take(bob);
  EXPECT_TRUE(set(alice, ""));
  EXPECT_EQ(value_of(alice), "");
}

TEST_F(value_scripts, hazard_17_only_a_holder_of_a_shared_lock_sets_a_value) {
  enter("1", bob);
  EXPECT_FALSE(set(scripts::shared_value, alice, "1", "here"));
  enter("2", alice);
  EXPECT_TRUE(set(scripts::shared_value, alice, "2", "here"));
  EXPECT_EQ(value_of(alice), "here");
  pass_ms(510);
  EXPECT_FALSE(set(scripts::shared_value, alice, "2", "late"));
  EXPECT_EQ(value_of(alice), "");
}

TEST_F(value_scripts, a_writer_whose_upgrade_has_no_reply_sets_a_value) {
  enter(whole, alice);
  EXPECT_TRUE(set(scripts::shared_value, alice, "1", "writes"));
  EXPECT_EQ(value_of(alice), "writes");
}

}  // namespace
}  // namespace mortise::simulation::value_scripts_test
