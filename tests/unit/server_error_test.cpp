#include "redis/resp/server_error.hpp"

#include <gtest/gtest.h>

#include <string>

namespace mortise::testing::server_error_test {
namespace {

using redis::error_code;
using redis::unfitness_of;

// The texts of Redis 6.2.14 and 7.0.15, and of Valkey 8.1.8 and 9.1.2.
TEST(server_error, has_its_code_wherever_it_was_met) {
  const std::string readonly = "READONLY You can't write against a read only replica.";
  for (const auto& text :
       {readonly, "EXECABORT Transaction discarded because of: " + readonly,
        readonly + " script: ad4b2374e104980e08195416c36f12994b47216a, on @user_script:2.",
        readonly + " script: on @user_script:2.",
        "ERR Error running script (call to f_ad4b2374e104980e08195416c36f12994b47216a): "
        "@user_script:2: @user_script: 2: -" +
            readonly,
        "@user_script: 2: -" + readonly}) {
    EXPECT_EQ(error_code(text), "READONLY") << text;
    ASSERT_NE(unfitness_of(text), nullptr) << text;
    EXPECT_STREQ(unfitness_of(text)->summary, "a replica now");
  }
  EXPECT_EQ(error_code("EXECABORT Transaction discarded because of previous errors."), "EXECABORT");
  EXPECT_EQ(
      error_code("ERR Error running script (call to f_1): @user_script:1: WRONGTYPE Operation"),
      "WRONGTYPE");
  EXPECT_EQ(error_code("ERR Error running script (call to f_1): no"), "no");
  EXPECT_EQ(error_code("OOM"), "OOM");
  EXPECT_EQ(error_code(""), "");
}

TEST(server_error, is_about_the_server_or_about_the_command) {
  for (const auto* text :
       {"LOADING Valkey is loading the dataset in memory", "CLUSTERDOWN Hash slot not served",
        "NOAUTH Authentication required.",
        "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
        "EXECABORT Transaction discarded because of: MASTERDOWN Link with MASTER is down"}) {
    EXPECT_NE(unfitness_of(text), nullptr) << text;
  }
  // Nor does a name in another error's text turn it into one of these.
  for (const auto* text :
       {"NOSCRIPT No matching script.", "BUSY Redis is busy", "OOM command not allowed",
        "FOREIGN {mortise:READONLY x} holds a list", "ERR READONLY", "READONLYX no", "",
        "ERR Error running script (call to f_1): @user_script:9: @user_script: 9: READONLY x"}) {
    EXPECT_EQ(unfitness_of(text), nullptr) << text;
  }
}

}  // namespace
}  // namespace mortise::testing::server_error_test
