// Facts in the error texts of all server versions.
#include "redis/resp/error_text.hpp"

#include <gtest/gtest.h>

#include <string>

#include "protocol/refusal.hpp"
#include "protocol/scripts/scripts.hpp"

namespace mortise::testing::error_text_test {
namespace {

using kind = redis::missing_right::kind;

constexpr std::string_view sha1 = "0523826e14637c1cc9153c8506277da7a8456298";

TEST(error_text, a_missing_right_is_found_in_every_versions_words) {
  struct {
    const char* error;
    kind what;
    const char* command;
    bool is_in_script;
    int line;
  } const cases[] = {
      // Redis 6.2
      {"NOPERM this user has no permissions to run the 'zadd' command or its subcommand",
       kind::command, "zadd", false, 0},
      {"ERR Error running script (call to f_0523826e14637c1cc9153c8506277da7a8456298): "
       "@user_script:12: @user_script: 12: The user executing the script can't run this command or "
       "subcommand",
       kind::command, "", true, 12},
      {"ERR Error running script (call to f_0523826e14637c1cc9153c8506277da7a8456298): "
       "@user_script:1: @user_script: 1: The user executing the script can't access at least one "
       "of the keys mentioned in the command arguments",
       kind::key, "", true, 1},
      // Redis 7.0
      {"NOPERM this user has no permissions to run the 'client|kill' command", kind::command,
       "client|kill", false, 0},
      {"NOPERM this user has no permissions to access one of the keys used as arguments", kind::key,
       "", false, 0},
      {"NOPERM this user has no permissions to access one of the channels used as arguments",
       kind::channel, "", false, 0},
      {"ERR The user executing the script can't run this command or subcommand script: "
       "0523826e14637c1cc9153c8506277da7a8456298, on @user_script:3.",
       kind::command, "", true, 3},
      {"ERR The user executing the script can't publish to the channel mentioned in the command "
       "script: 0523826e14637c1cc9153c8506277da7a8456298, on @user_script:1.",
       kind::channel, "", true, 1},
      {"EXECABORT Transaction discarded because of: this user has no permissions to run the 'exec' "
       "command",
       kind::command, "exec", false, 0},
      // Redis 7.2, Valkey
      {"NOPERM User a b 'c' has no permissions to run the 'zadd' command", kind::command, "zadd",
       false, 0},
      {"NOPERM No permissions to access a key", kind::key, "", false, 0},
      {"NOPERM No permissions to access a channel", kind::channel, "", false, 0},
      {"ERR ACL failure in script: User u has no permissions to run the 'zadd' command script: "
       "0523826e14637c1cc9153c8506277da7a8456298, on @user_script:1.",
       kind::command, "zadd", true, 1},
      {"ERR ACL failure in script: No permissions to access a key script: on @user_script:1.",
       kind::key, "", true, 1},
  };
  for (const auto& expected : cases) {
    const auto found = redis::find_missing_right(expected.error);
    ASSERT_TRUE(found) << expected.error;
    EXPECT_EQ(found->what, expected.what) << expected.error;
    EXPECT_EQ(found->command, expected.command) << expected.error;
    EXPECT_EQ(found->is_in_script, expected.is_in_script) << expected.error;
    EXPECT_EQ(found->line, expected.line) << expected.error;
    const bool names_script = std::string_view(expected.error).find(sha1) != std::string_view::npos;
    EXPECT_EQ(found->script_sha1, names_script ? sha1 : "") << expected.error;
  }
  for (const auto* other : {"", "ERR unknown command 'x'", "WRONGPASS invalid", "NOAUTH no",
                            "OOM command not allowed. script: x, on @user_script:1."}) {
    EXPECT_FALSE(redis::find_missing_right(other)) << other;
  }
}

TEST(error_text, a_quarantine_says_how_much_of_it_is_left) {
  EXPECT_EQ(17'054, protocol::read_error("QUARANTINE 17054").wait_ms);
  for (const auto* const other : {"QUARANTINE", "QUARANTINE soon", "QUARANTINE -1", "BUSY 12"}) {
    EXPECT_EQ(0, protocol::read_error(other).wait_ms) << other;
  }
}

TEST(error_text, hazard_28_a_script_may_have_begun_before_it_met_the_end_of_its_rights) {
  const auto plain =
      protocol::read_error("NOPERM User u has no permissions to run the 'set' command");
  EXPECT_EQ(plain.details.code, status::refused);
  EXPECT_FALSE(plain.details.is_ambiguous);
  EXPECT_NE(plain.details.message.find("+set;"), std::string::npos) << plain.details.message;
  const auto nested = protocol::read_error(
      "ERR ACL failure in script: User READONLY has no permissions to run the 'set' command "
      "script: x, on @user_script:1.");
  EXPECT_EQ(nested.what, lock::answer::unknown);
  EXPECT_EQ(nested.details.code, status::unknown);
  EXPECT_TRUE(nested.details.is_ambiguous);
  EXPECT_NE(nested.details.message.find("+set;"), std::string::npos) << nested.details.message;
}

TEST(error_text, the_line_of_a_script_names_the_command_where_the_server_does_not) {
  const auto& script = scripts::queued_release;
  int line = 1;
  for (const char c : script.text.substr(0, script.text.find("redis.call('DEL'")))
    line += c == '\n';
  const auto met = protocol::read_error(
      "ERR The user executing the script can't run this command or subcommand script: " +
      std::string(script.sha1) + ", on @user_script:" + std::to_string(line) + ".");
  EXPECT_NE(met.details.message.find("the right +del"), std::string::npos) << met.details.message;
  for (const auto* line_number : {"0", "999999", "2147483647", "", "99999999999999999999"}) {
    const auto other =
        protocol::read_error("ERR The user executing the script can't run this command script: " +
                             std::string(script.sha1) + ", on @user_script:" + line_number);
    EXPECT_NE(other.details.message.find("a right"), std::string::npos) << other.details.message;
  }
}

TEST(error_text, neither_arguments_nor_the_users_name_are_printed) {
  for (const std::string error :
       {"ERR unknown command 'AUTH', with args beginning with: 'MARK' 'MARK' ",
        "ERR unknown command `AUTH`, with args beginning with: `MARK`, ",
        "NOPERM User MARK has no permissions to run the 'get' command",
        "NOPERM User MARK has no permissions has no permissions to run the 'get' command",
        "ERR ACL failure in script: User MARK has no permissions to run the 'get' command script: "
        "x, on @user_script:1."}) {
    EXPECT_EQ(redis::without_secrets(error).find("MARK"), std::string::npos) << error;
    EXPECT_EQ(protocol::read_error(error).details.message.find("MARK"), std::string::npos) << error;
    EXPECT_EQ(protocol::read_error(error).details.server_text.find("MARK"), std::string::npos);
  }
  EXPECT_EQ(redis::without_secrets("NOPERM User x has no permissions to run the 'get' command"),
            "NOPERM the user has no permissions to run the 'get' command");
}

}  // namespace
}  // namespace mortise::testing::error_text_test
