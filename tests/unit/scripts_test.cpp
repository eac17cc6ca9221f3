#include "protocol/scripts/scripts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>

#include "lock/gate/owner.hpp"
#include "lock/lease.hpp"
#include "support/script_rule.hpp"

namespace mortise::scripts {
namespace {

TEST(scripts, each_has_a_name_a_text_and_a_hash_of_its_own) {
  ASSERT_FALSE(all().empty());
  std::set<std::string_view> hashes;
  for (const auto* script : all()) {
    EXPECT_FALSE(script->name.empty());
    EXPECT_FALSE(script->text.empty());
    ASSERT_EQ(script->sha1.size(), 40U) << script->name;
    EXPECT_EQ(script->sha1.find_first_not_of("0123456789abcdef"), std::string_view::npos);
    EXPECT_TRUE(hashes.insert(script->sha1).second) << script->name;
  }
}

TEST(scripts, are_in_the_order_of_their_names) {
  EXPECT_TRUE(std::is_sorted(all().begin(), all().end(), [](const auto* left, const auto* right) {
    return left->name < right->name;
  }));
}

TEST(scripts, are_sent_without_comment_lines_and_with_includes_resolved) {
  for (const auto* script : all()) {
    EXPECT_NE(script->text.substr(0, 2), "--") << script->name;
    EXPECT_EQ(script->text.find("\n--"), std::string_view::npos) << script->name;
    EXPECT_EQ(script->text.find("#include"), std::string_view::npos) << script->name;
  }
}

// Fails where a script gives `name` another value, and where none gives it one.
void expect_constant(const std::string& name, std::int64_t value) {
  const auto start = "\nlocal " + name + " = ";
  int found = 0;
  for (const auto* script : all()) {
    const auto at = script->text.find(start);
    if (at == std::string_view::npos) continue;
    ++found;
    const std::string number(script->text.substr(at + start.size(), 32));
    EXPECT_EQ(std::strtod(number.c_str(), nullptr), static_cast<double>(value))
        << name << " of " << script->name;
  }
  EXPECT_GT(found, 0) << name;
}

TEST(scripts, agree_with_the_lock_logic_about_numbers) {
  expect_constant("WHOLE", lock::exclusive_permits);
  expect_constant("QUEUE_TURN", lock::queue_turn_ms);
  expect_constant("QUEUE_LIFE", lock::queue_life_ms);
  expect_constant("LEAST_TOKEN", lock::least_token);
  const std::int64_t late_ms = 2000;
  expect_constant("ASK_AFTER, DEAD_AFTER, ANSWER_TIME", late_ms);
  EXPECT_LT(lock::check_interval_ms, late_ms) << "who looks in time is not asked to";
}

TEST(scripts, name_their_commands_and_keys_as_managed_services_demand) {
  using testing::refusal_of_script;
  for (const auto* script : all()) {
    // Such a service refuses a listing of locks, which looks at keys that it finds. It also refuses
    // renewals of many locks, so the client renews each lock by itself.
    const bool is_refused = script == &key_scan || script == &queued_renew_many;
    EXPECT_EQ(!refusal_of_script(script->text).empty(), is_refused)
        << script->name << ": " << refusal_of_script(script->text);
  }
  // The rule sees each way to break it.
  for (const char* bad :
       {"return redis.call(ARGV[1], KEYS[1])", "redis.call(a and 'GET' or 'SET', KEYS[1])",
        "local call = redis.call", "return redis.pcall('GET', key)", "redis.call('GET', 'a')",
        "redis.call('DEL', KEYS[1], KEYS[2] .. 'b')", "redis.call('GET', KEYS[i])",
        "redis.call('PUBLISH', 'x' .. KEYS[1], '')", "redis.call('EXISTS', KEYS[1], key)",
        "redis.call('SET', KEYS[1], KEYS[2] .. 'b')"}) {
    EXPECT_TRUE(refusal_of_script(bad).starts_with("ERR bad lua script")) << bad;
  }
  EXPECT_EQ(refusal_of_script("redis.call('PUBLISH', channel, f(a, ')')) redis.call('TIME')"), "");
}

}  // namespace
}  // namespace mortise::scripts
