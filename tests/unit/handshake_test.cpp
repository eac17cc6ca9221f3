// The handshake without a socket: the commands that it sends, and the effect of each reply.
#include "redis/handshake.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "redis/resp/resp.hpp"

namespace mortise::testing::handshake_test {
namespace {

using redis::handshake;
using form = handshake::form;
using step = handshake::step;

constexpr std::string_view info_text = "run_id:abc\r\nredis_version:7.0.15\r\n";

std::string bulk(std::string_view text) {
  return "$" + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
}

std::string hello(std::string_view role = "master", std::string_view version = "7.0.15",
                  int id = 7) {
  return "%4\r\n" + bulk("server") + bulk("redis") + bulk("version") + bulk(version) + bulk("id") +
         ":" + std::to_string(id) + "\r\n" + bulk("role") + bulk(role);
}

class handshake_test : public ::testing::Test {
 protected:
  void begin(form chosen, handshake::predecessor before = {}) {
    dialogue_.emplace(config_, chosen, std::move(before), login_);
    bytes_ = dialogue_->take_bytes();
  }
  step answer(const std::string& bytes) {
    redis::parser parser;
    EXPECT_EQ(parser.parse(bytes), redis::parse_result::complete) << bytes;
    const auto result = dialogue_->take(parser.reply());
    if (result == step::send) bytes_ = dialogue_->take_bytes();
    return result;
  }
  // Whether the last commands have this word.
  [[nodiscard]] bool has_sent(std::string_view word) const {
    return bytes_.find(bulk(word)) != std::string::npos;
  }
  [[nodiscard]] const std::string& message() const { return dialogue_->problem().message; }

  redis::connection_config config_;
  redis::login login_;
  std::optional<handshake> dialogue_;
  std::string bytes_;
};

TEST_F(handshake_test, one_write_greets_a_server_that_was_never_met) {
  login_ = {"ann", secret("secret")};
  config_.inbox = "inbox";
  config_.database = 3;
  begin(form::resp3);
  for (const auto* word : {"HELLO", "ann", "secret", "SELECT", "3", "SUBSCRIBE", "inbox"}) {
    EXPECT_TRUE(has_sent(word)) << word;
  }
  EXPECT_EQ(answer(hello()), step::more);
  EXPECT_EQ(answer(bulk(info_text)), step::more);
  EXPECT_EQ(answer("+OK\r\n"), step::more);
  EXPECT_EQ(answer(">3\r\n" + bulk("subscribe") + bulk("inbox") + ":1\r\n"), step::done);
  EXPECT_EQ(dialogue_->facts().client_id, 7);
  EXPECT_EQ(dialogue_->facts().version_number, 7000015);
  EXPECT_EQ(dialogue_->facts().run_id, "abc");
}

TEST_F(handshake_test, hazard_16_the_client_before_is_killed_in_the_same_server_only) {
  const auto is_killed = [&](std::int64_t before, const std::string& run_id) {
    begin(form::resp3, {before, run_id});
    EXPECT_FALSE(has_sent("KILL")) << "before it is known who the server is";
    EXPECT_EQ(answer(hello()), step::more);
    bytes_.clear();
    answer(bulk(info_text));
    return has_sent("KILL");
  };
  EXPECT_TRUE(is_killed(5, "abc"));
  EXPECT_FALSE(is_killed(5, "another run")) << "the number may be somebody else's";
  EXPECT_FALSE(is_killed(9, "abc")) << "numbers only grow in one run";
}

TEST_F(handshake_test, hazard_16_where_the_run_is_hidden_the_inbox_says_whether_it_is_the_same) {
  config_.inbox = "inbox";
  const auto is_killed = [&](const std::string& heard) {
    begin(form::resp3, {5, ""});
    EXPECT_TRUE(has_sent("NUMSUB"));
    answer(hello());
    answer(bulk("redis_version:7.0.15\r\n"));
    EXPECT_EQ(answer(heard), step::send);
    return has_sent("KILL");
  };
  EXPECT_TRUE(is_killed("*2\r\n" + bulk("inbox") + ":1\r\n"));
  EXPECT_FALSE(is_killed("*2\r\n" + bulk("inbox") + ":0\r\n")) << "the number is somebody else's";
  EXPECT_FALSE(is_killed("-NOPERM no\r\n"));
  EXPECT_FALSE(is_killed(":1\r\n"));
  begin(form::resp3, {5, "abc"});
  EXPECT_FALSE(has_sent("NUMSUB"));
}

TEST_F(handshake_test, hazard_10_a_role_that_hello_hides_is_asked_for) {
  const auto greet = [&](const std::string& role) {
    begin(form::resp3);
    EXPECT_EQ(answer("%2\r\n" + bulk("version") + bulk("7.0.15") + bulk("id") + ":7\r\n"),
              step::more);
    EXPECT_FALSE(has_sent("ROLE"));
    EXPECT_EQ(answer(bulk(info_text)), step::send);
    EXPECT_TRUE(has_sent("ROLE"));
    return answer(role);
  };
  EXPECT_EQ(greet("*1\r\n" + bulk("slave")), step::refused);
  EXPECT_TRUE(dialogue_->is_passing());
  EXPECT_EQ(greet("*1\r\n" + bulk("master")), step::done);
  EXPECT_EQ(greet("-NOPERM this user has no permissions to run 'role'\r\n"), step::done);
}

TEST_F(handshake_test, a_server_without_resp3_is_asked_in_resp2) {
  for (const auto* text : {"NOPROTO unsupported", "NOPERM no", "ERR unknown command `HELLO`, x",
                           "unsupported command 'HELLO'"}) {
    begin(form::resp3);
    EXPECT_EQ(answer("-" + std::string(text) + "\r\n"), step::fall_back) << text;
  }
  login_.password = secret("secret");
  begin(form::resp3);
  EXPECT_EQ(answer("-NOAUTH Authentication required.\r\n"), step::fall_back)
      << "who gives a login is only told so by a server without HELLO";
  begin(form::resp2_commands);
  EXPECT_TRUE(has_sent("AUTH"));
  EXPECT_EQ(answer("+OK\r\n"), step::more);
  EXPECT_EQ(answer(":12\r\n"), step::more);
  EXPECT_EQ(answer("*1\r\n" + bulk("master")), step::more);
  EXPECT_EQ(answer(bulk(info_text)), step::done);
  EXPECT_EQ(dialogue_->facts().client_id, 12);
  EXPECT_EQ(dialogue_->facts().protocol, 2);
}

TEST_F(handshake_test, hazard_10_who_keeps_no_locks_is_refused_with_the_remedy) {
  begin(form::resp3);
  EXPECT_EQ(answer(hello("replica")), step::refused);
  EXPECT_NE(message().find("give the master's address"), std::string::npos);
  EXPECT_TRUE(dialogue_->is_passing()) << "the name may lead to the master soon";
  EXPECT_TRUE(dialogue_->problem().is_retryable);
  begin(form::resp3);
  EXPECT_EQ(answer(hello("master", "6.0.16")), step::refused);
  EXPECT_NE(message().find("6.0.16"), std::string::npos);
  begin(form::resp2_commands);
  answer(":1\r\n");
  EXPECT_EQ(answer("*1\r\n" + bulk("slave")), step::refused);
}

TEST_F(handshake_test, hazard_28_a_passing_fault_is_distinguished) {
  begin(form::resp3);
  EXPECT_EQ(answer("-LOADING Redis is loading the dataset in memory\r\n"), step::refused);
  EXPECT_TRUE(dialogue_->is_passing());
  EXPECT_TRUE(dialogue_->problem().is_retryable);
  begin(form::resp3);
  EXPECT_EQ(answer("-WRONGPASS invalid username-password pair\r\n"), step::refused);
  EXPECT_FALSE(dialogue_->is_passing());
  EXPECT_NE(message().find("correct them in the URL"), std::string::npos);
  begin(form::resp3);
  EXPECT_EQ(answer("-NOAUTH HELLO must be called with the client already authenticated\r\n"),
            step::refused);
  EXPECT_NE(message().find("give it in the URL"), std::string::npos);
}

TEST_F(handshake_test, a_setup_is_needed_as_far_as_it_says) {
  using need = redis::setup_command::need;
  const auto after = [&](need is_needed, const std::string& reply) {
    config_.setup = {{"seed", "*1\r\n$4\r\nSEED\r\n", is_needed}};
    begin(form::resp3);
    answer(hello());
    answer(bulk(info_text));
    return answer(reply);
  };
  EXPECT_EQ(after(need::none, "-ERR no\r\n"), step::done);
  EXPECT_EQ(after(need::always, ":1\r\n"), step::done);
  EXPECT_EQ(after(need::always, "-ERR no\r\n"), step::refused);
  EXPECT_EQ(after(need::when_there_is_memory, "-OOM full\r\n"), step::done);
  EXPECT_EQ(after(need::when_there_is_memory, "-ERR no\r\n"), step::refused);
}

// Memory, disk or replicas may be available again at the next attempt.
TEST_F(handshake_test, hazard_28_a_server_that_refuses_writes_is_passing) {
  using need = redis::setup_command::need;
  config_.setup = {{"EVAL (seeding)", "*1\r\n$4\r\nSEED\r\n", need::always}};
  for (const auto* error :
       {"-OOM command not allowed when used memory > 'maxmemory'.\r\n",
        "-MISCONF Redis is configured to save RDB snapshots. script: f_1, on @user_script:9.\r\n",
        "-NOREPLICAS Not enough good replicas to write.\r\n",
        "-ERR Error running script (call to f_1): @user_script:3: @user_script: 3: -MISCONF "
        "Redis\r\n"}) {
    begin(form::resp3);
    answer(hello());
    answer(bulk(info_text));
    EXPECT_EQ(answer(error), step::refused);
    EXPECT_TRUE(dialogue_->is_passing()) << error;
    EXPECT_TRUE(dialogue_->problem().is_retryable) << error;
    EXPECT_NE(message().find("EVAL (seeding)"), std::string::npos) << message();
  }
  begin(form::resp3);
  answer(hello());
  answer(bulk(info_text));
  EXPECT_EQ(answer("-QUORUM other clients have 5 servers in their lists\r\n"), step::refused);
  EXPECT_FALSE(dialogue_->is_passing());
  EXPECT_FALSE(dialogue_->problem().is_retryable);
}

TEST_F(handshake_test, a_server_without_scripts_is_refused_with_the_remedy_and_without_ours) {
  for (const std::string quoted : {"'EVAL', with args beginning with: 'local x' ",
                                   "`EVAL`, with args beginning with: `local x`, "}) {
    config_.setup = {{"EVAL (seeding)", "*1\r\n$4\r\nSEED\r\n",
                      redis::setup_command::need::when_there_is_memory}};
    begin(form::resp3);
    answer(hello());
    answer(bulk(info_text));
    EXPECT_EQ(answer("-ERR unknown command " + quoted + "\r\n"), step::refused);
    EXPECT_NE(message().find("does not have EVAL; locks need EVAL"), std::string::npos);
    EXPECT_EQ(message().find("local x"), std::string::npos) << message();
  }
}

TEST_F(handshake_test, a_service_without_commands_that_locks_need_is_refused_by_their_names) {
  static constexpr redis::script text{"text", "return 1", "sha"};
  config_.scripts = {&text};
  config_.needs_multi = true;
  const auto after_exec = [&](const std::string& reply) {
    begin(form::resp2_commands);
    EXPECT_TRUE(has_sent("EXEC"));
    EXPECT_FALSE(has_sent("MULTI")) << "which only EXEC ends";
    answer("-unsupported command 'CLIENT'\r\n");
    answer("-invalid request\r\n");
    answer("-unsupported command 'INFO'\r\n");
    EXPECT_EQ(answer(reply), step::more);
    return answer("-unsupported command 'SCRIPT'\r\n");
  };
  EXPECT_EQ(after_exec("-ERR EXEC without MULTI\r\n"), step::done) << "the text is sent instead";
  EXPECT_EQ(after_exec("-NOPERM no\r\n"), step::done);
  EXPECT_EQ(after_exec("-ERR command exec not support for normal user\r\n"), step::refused);
  EXPECT_NE(message().find("does not have CLIENT, MULTI and SCRIPT; locks need MULTI: give"),
            std::string::npos)
      << message();
  EXPECT_FALSE(dialogue_->is_passing());
  begin(form::resp3);
  answer(hello());
  answer(bulk(info_text));
  answer("-ERR unknown command 'EXEC'\r\n");
  EXPECT_EQ(answer(bulk("sha")), step::refused) << "also with HELLO";
  EXPECT_NE(message().find("does not have MULTI; locks need MULTI"), std::string::npos);
  for (const auto type : {form::resp2_commands, form::resp3}) {
    config_.needs_multi = false;
    begin(type);
    EXPECT_FALSE(has_sent("EXEC")) << "votes of a quorum need none";
  }
  config_ = {};
  config_.inbox = "inbox";
  begin(form::resp2_messages);
  EXPECT_EQ(answer("-unsupported command 'SUBSCRIBE'\r\n"), step::refused);
  EXPECT_NE(message().find("locks need SUBSCRIBE"), std::string::npos) << message();
}

// Alibaba Cloud's, where the proxy spreads the keys over servers.
TEST_F(handshake_test, a_script_that_the_service_does_not_run_is_refused_with_the_remedy) {
  config_.setup = {{"EVAL (seeding)", "*1\r\n$4\r\nSEED\r\n", redis::setup_command::need::always}};
  begin(form::resp3);
  answer(hello());
  answer(bulk(info_text));
  EXPECT_EQ(answer("-ERR eval/evalsha command keys must be in same slot\r\n"), step::refused);
  EXPECT_NE(message().find("EVAL (seeding)"), std::string::npos) << message();
  EXPECT_NE(message().find("redis+cluster://"), std::string::npos) << message();
}

TEST_F(handshake_test, whoever_had_a_connection_before_says_so) {
  const std::string again = "*1\r\n$5\r\nAGAIN\r\n";
  config_.setup = {{"seed", "*1\r\n$4\r\nSEED\r\n", {}, [&] { return again; }},
                   {"name", "*1\r\n$4\r\nNAME\r\n"}};
  begin(form::resp3);
  EXPECT_TRUE(has_sent("SEED"));
  EXPECT_FALSE(has_sent("AGAIN"));
  begin(form::resp3, {5, "abc"});
  answer(hello());
  EXPECT_EQ(answer(bulk(info_text)), step::send);
  EXPECT_FALSE(has_sent("SEED"));
  EXPECT_TRUE(has_sent("AGAIN"));
  EXPECT_TRUE(has_sent("NAME")) << "where it makes no difference";
}

TEST_F(handshake_test, a_command_is_known_that_finds_nothing_and_no_other) {
  using spelling = redis::compare_and_delete;
  const auto after = [&](form greeted, const std::string& delifeq, const std::string& delex) {
    begin(greeted);
    EXPECT_TRUE(has_sent("DELIFEQ") && has_sent("DELEX") && has_sent("mortise:probe"));
    if (greeted == form::resp3) {
      answer(hello());
    } else {
      answer(":1\r\n");
      answer("*1\r\n" + bulk("master"));
    }
    answer(bulk(info_text));
    answer(delifeq);
    EXPECT_EQ(answer(delex), step::done);
    return dialogue_->facts().compare_and_delete;
  };
  const std::string unknown =
      "-ERR unknown command 'X', with args beginning with: 'mortise:probe'\r\n";
  begin(form::resp3);
  EXPECT_FALSE(has_sent("DELIFEQ") || has_sent("DELEX")) << "without a key for it";
  config_.probe_key = "mortise:probe";
  for (const auto greeted : {form::resp3, form::resp2_commands}) {
    EXPECT_EQ(after(greeted, ":0\r\n", unknown), spelling::delifeq);
    EXPECT_EQ(after(greeted, unknown, ":0\r\n"), spelling::delex);
    EXPECT_EQ(after(greeted, unknown, unknown), spelling::none);
    EXPECT_EQ(after(greeted, "-NOPERM this user has no permissions\r\n", unknown), spelling::none);
    for (const auto* odd :
         {":1\r\n", ":-1\r\n", "+OK\r\n", "$1\r\n0\r\n", "_\r\n", "*1\r\n:0\r\n"}) {
      EXPECT_EQ(after(greeted, odd, odd), spelling::none) << odd;
    }
  }
}

// A server of a cluster has other slots than that of the key, of which it may know nothing.
TEST_F(handshake_test, a_command_is_known_whose_key_has_another_server_in_a_cluster) {
  config_.is_of_cluster = true;
  config_.probe_key = "mortise:probe";
  for (const auto* redirect : {"-MOVED 1 10.0.0.1:6379\r\n", "-ASK 1 10.0.0.1:6379\r\n",
                               "-CLUSTERDOWN Hash slot not served\r\n"}) {
    begin(form::resp3);
    answer(hello());
    answer(bulk(info_text));
    EXPECT_EQ(answer(redirect), step::more) << redirect;
    EXPECT_EQ(answer("-ERR unknown command 'DELEX'\r\n"), step::done) << redirect;
    EXPECT_EQ(dialogue_->facts().compare_and_delete, redis::compare_and_delete::delifeq)
        << redirect;
  }
}

// A Sentinel with another name for itself is no server (hazard 28).
TEST_F(handshake_test, hazard_31_a_hello_that_gives_a_key_twice_is_not_believed) {
  const struct {
    const char* key;
    std::string first, second;
  } repeated[] = {{"mode", bulk("sentinel"), bulk("standalone")},
                  {"role", bulk("replica"), bulk("master")},
                  {"version", bulk("5.0.0"), bulk("7.0.15")},
                  {"server", bulk("valkey"), bulk("redis")},
                  {"id", ":7\r\n", ":8\r\n"}};
  for (const auto& one : repeated) {
    begin(form::resp3);
    EXPECT_EQ(answer("%2\r\n" + bulk(one.key) + one.first + bulk(one.key) + one.second),
              step::refused)
        << one.key;
    EXPECT_NE(message().find("is malformed"), std::string::npos) << message();
  }
  begin(form::resp3);
  EXPECT_EQ(answer("%2\r\n" + bulk("other") + bulk("a") + bulk("other") + bulk("b")), step::more);
}

TEST_F(handshake_test, hazard_31_who_says_more_than_it_was_asked_is_no_server) {
  begin(form::resp3);
  answer(hello());
  EXPECT_EQ(answer(bulk(info_text)), step::done);
  EXPECT_EQ(answer("+OK\r\n"), step::refused);
  begin(form::resp3);
  EXPECT_EQ(answer("+OK\r\n"), step::refused) << "no answer to HELLO";
}

}  // namespace
}  // namespace mortise::testing::handshake_test
