// The handshake of redis::connection with a server, and the messages when it fails.
#include <atomic>

#include "integration/single/connection_fixture.hpp"
#include "support/fake_server.hpp"
#include "support/server.hpp"

namespace mortise::testing::connection_handshake_test {
namespace {

// The outcome of opening with this configuration.
outcome opened(const std::string& path,
               const std::function<void(redis::connection_config&)>& adjust = {},
               time_ns deadline = soon()) {
  session client(path, adjust);
  return client.open(deadline);
}

std::function<void(redis::connection_config&)> log_in(const char* user, const char* password) {
  return [=](auto& config) {
    config.identity =
        std::make_shared<redis::credentials>(redis::login{user, secret(password)}, "");
  };
}

void expect_refusal(const outcome& result, const std::string& part) {
  EXPECT_EQ(result.code, status::refused) << result.message;
  EXPECT_NE(result.message.find(part), std::string::npos) << result.message;
}

TEST(handshake, learns_who_the_server_is) {
  test_server server;
  session client(server.socket_path());
  ASSERT_TRUE(client.open().ok());
  ASSERT_EQ(client.events.ups.size(), 1U);
  const auto& facts = client.events.ups[0];
  EXPECT_EQ(facts.protocol, 3);
  EXPECT_EQ(facts.role, "master");
  EXPECT_GT(facts.client_id, 0);
  EXPECT_GE(facts.version_number, 6002000);
  EXPECT_EQ(facts.run_id.size(), 40U);
}

TEST(handshake, logs_in) {
  test_server server({.arguments = {"--requirepass", "secret"}, .login = {"AUTH", "secret"}});
  const auto right = opened(server.socket_path(), log_in("", "secret"));
  EXPECT_TRUE(right.ok()) << right.message;
  const auto wrong = opened(server.socket_path(), log_in("", "Secret"));
  expect_refusal(wrong, "password is wrong");
  EXPECT_EQ(wrong.message.find("Secret"), std::string::npos);
  EXPECT_TRUE(wrong.server_text.starts_with("WRONGPASS")) << wrong.server_text;
  expect_refusal(opened(server.socket_path()), "requires a password");
}

// Like a token that expires: the next connection uses the password of that moment.
TEST(handshake, logs_in_anew_where_the_server_has_logged_it_out) {
  fake_server server([](fake_peer& peer, const fake_command& command) {
    if (peer.number() == 1 && command.is("PING")) {
      return peer.send("-NOAUTH Authentication required.\r\n");
    }
    fake_server::answer_healthy(peer, command);
  });
  const auto identity = std::make_shared<redis::credentials>(redis::login{"", secret("first")}, "");
  session client(server.socket_path(), [&](auto& config) { config.identity = identity; });
  ASSERT_TRUE(client.open().ok());
  identity->replace({"", secret("second")});
  EXPECT_EQ(client.ask({"PING"}), "-NOAUTH Authentication required.");
  ASSERT_TRUE(client.events.wait_for_ups(2));
  EXPECT_EQ(client.ask({"PING"}), "PONG");
  std::string logins;
  for (const auto& command : server.received()) {
    if (command.is("HELLO")) logins += command.words.at(4) + " ";
  }
  EXPECT_EQ(logins, "first second ");
}

TEST(handshake, logs_in_as_a_user_and_names_the_channel_that_it_lacks) {
  test_server server;
  server.command(
      {"ACL", "SETUSER", "worker", "on", ">pw", "~*", "+@all", "resetchannels", "&mortise:*"});
  server.command({"ACL", "SETUSER", "deaf", "on", ">pw", "~*", "+@all", "resetchannels"});
  const auto as = [](const char* user) { return log_in(user, "pw"); };
  const auto right = opened(server.socket_path(), as("worker"));
  EXPECT_TRUE(right.ok()) << right.message;
  expect_refusal(opened(server.socket_path(), as("deaf")), "&mortise:*");
  expect_refusal(opened(server.socket_path(), as("nobody")), "password is wrong");
}

TEST(handshake, selects_the_database) {
  test_server server;
  session client(server.socket_path(), [](auto& config) { config.database = 3; });
  ASSERT_TRUE(client.open().ok());
  EXPECT_EQ(client.ask({"SET", "a", "1"}), "OK");
  EXPECT_EQ(server.command({"GET", "a"}), "(nil)");
  expect_refusal(opened(server.socket_path(), [](auto& config) { config.database = 99; }),
                 "database 99");
}

TEST(handshake, loads_scripts_and_sends_the_setup) {
  test_server server;
  static const redis::script sum{"sum", "return ARGV[1] + ARGV[2]", ""};
  session client(server.socket_path(), [](auto& config) {
    config.scripts = {&sum};
    config.setup = {{"a wish", encoded({"NO-SUCH-COMMAND"}), redis::setup_command::need::none},
                    {"a mark", encoded({"INCR", "mark"}), redis::setup_command::need::always}};
  });
  ASSERT_TRUE(client.open().ok());
  EXPECT_EQ(client.ask({"GET", "mark"}), "1");
  EXPECT_EQ(client.ask({"SCRIPT", "EXISTS", server.command({"SCRIPT", "LOAD", "return 1"})}), "1");
  const auto sha =
      server.command({"EVAL", "return redis.sha1hex(ARGV[1])", "0", std::string(sum.text)});
  EXPECT_EQ(client.ask({"EVALSHA", sha, "0", "2", "3"}), "5");
  expect_refusal(opened(server.socket_path(),
                        [](auto& config) {
                          config.setup = {{"the health check", encoded({"NO-SUCH-COMMAND"}),
                                           redis::setup_command::need::always}};
                        }),
                 "refused the health check");
}

TEST(handshake, uses_two_sockets_where_there_is_no_resp3) {
  test_server server({.arguments = {"--rename-command", "HELLO", ""}});
  server.connect()->command({"SET", "where", "in database 0"});
  const auto second = server.connect();
  second->command({"SELECT", "2"});
  second->command({"SET", "where", "in database 2"});
  session client(server.socket_path(), [](auto& config) { config.database = 2; });
  const auto result = client.open();
  ASSERT_TRUE(result.ok()) << result.message;
  EXPECT_EQ(client.events.ups[0].protocol, 2);
  EXPECT_EQ(client.events.ups[0].role, "master");
  EXPECT_EQ(client.events.ups[0].run_id.size(), 40U);
  EXPECT_EQ(client.ask({"GET", "where"}), "in database 2");
  EXPECT_EQ(server.command({"PUBLISH", "mortise:inbox", "one"}), "1");
  ASSERT_TRUE(client.events.wait_for_pushes(1));
  // Either socket's end is the end of both.
  server.command({"CLIENT", "KILL", "TYPE", "pubsub"});
  ASSERT_TRUE(client.events.wait_for_ups(2));
  EXPECT_EQ(client.ask_when_up({"GET", "where"}), "in database 2");
  EXPECT_EQ(server.command({"PUBLISH", "mortise:inbox", "two"}), "1");
  ASSERT_TRUE(client.events.wait_for_pushes(2));
  EXPECT_EQ(client.events.pushes[1].second, "two");
  EXPECT_EQ(client.events.downs.size(), 1U);
}

TEST(handshake, logs_in_without_resp3) {
  test_server server({.arguments = {"--rename-command", "HELLO", "", "--requirepass", "secret"},
                      .login = {"AUTH", "secret"}});
  const auto right = opened(server.socket_path(), log_in("", "secret"));
  EXPECT_TRUE(right.ok()) << right.message;
  expect_refusal(opened(server.socket_path(), log_in("", "no")), "password is wrong");
  expect_refusal(opened(server.socket_path()), "requires a password");
}

TEST(handshake, falls_back_for_every_way_of_refusing_hello) {
  for (const auto* refusal :
       {"-NOPROTO sorry, this protocol version is not supported\r\n",
        "-NOPERM this user has no permissions to run the 'hello' command\r\n",
        "-ERR unknown command `HELLO`, with args beginning with: `3`, \r\n"}) {
    fake_server server([&](fake_peer& peer, const fake_command& command) {
      if (command.is("HELLO")) return peer.send(refusal);
      if (command.is("ROLE")) return peer.send("*1\r\n$6\r\nmaster\r\n");
      if (command.is("SUBSCRIBE")) {
        return peer.send("*3\r\n$9\r\nsubscribe\r\n$13\r\nmortise:inbox\r\n:1\r\n");
      }
      fake_server::answer_healthy(peer, command);
    });
    session client(server.socket_path());
    const auto result = client.open();
    ASSERT_TRUE(result.ok()) << result.message;
    EXPECT_EQ(client.events.ups[0].protocol, 2);
    EXPECT_EQ(client.ask({"PING"}), "PONG");
  }
}

std::string hello(const std::string& version, const std::string& role) {
  const auto field = [](const std::string& text) {
    return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
  };
  return "%4\r\n" + field("server") + field("redis") + field("version") + field(version) +
         field("id") + ":7\r\n" + field("role") + field(role);
}

TEST(handshake, refuses_servers_that_will_not_do) {
  fake_server server;
  const auto opened_to = [&](const std::string& answer) {
    server.set_answer([answer](fake_peer& peer, const fake_command& command) {
      if (command.is("HELLO")) return peer.send(answer);
      fake_server::answer_healthy(peer, command);
    });
    return opened(server.socket_path());
  };
  expect_refusal(opened_to(hello("6.0.16", "master")), "needs Redis 6.2");
  expect_refusal(opened_to(hello("7.2.4", "sentinel")), "Sentinel");
  expect_refusal(opened_to("-DENIED Redis is running in protected mode\r\n"), "protected mode");
  expect_refusal(opened_to("+HTTP\r\n"), "is malformed");
  const auto alien = opened_to("HTTP/1.1 400 Bad Request\r\n\r\n");
  EXPECT_EQ(alien.code, status::unreachable);
  EXPECT_NE(alien.message.find("broke the protocol"), std::string::npos) << alien.message;
  EXPECT_TRUE(opened_to(hello("6.2.0", "master")).ok());
}

TEST(handshake, waits_for_a_server_that_is_loading) {
  std::atomic<int> tries{0};
  fake_server server([&](fake_peer& peer, const fake_command& command) {
    if (command.is("HELLO") && ++tries <= 3) {
      return peer.send("-LOADING Redis is loading the dataset in memory\r\n");
    }
    fake_server::answer_healthy(peer, command);
  });
  EXPECT_TRUE(opened(server.socket_path()).ok());
  EXPECT_EQ(tries.load(), 4);
}

TEST(handshake, says_when_it_was_cut_and_asks_until_the_deadline) {
  for (const char* last : {"HELLO", "INFO", "SUBSCRIBE"}) {
    fake_server server([&](fake_peer& peer, const fake_command& command) {
      if (command.is(last)) return peer.close();
      fake_server::answer_healthy(peer, command);
    });
    const auto cut = opened(server.socket_path(), {}, boot_now() + 300 * ns_per_ms);
    EXPECT_EQ(cut.code, status::unreachable) << last;
    EXPECT_TRUE(cut.is_retryable) << last;
    EXPECT_NE(cut.message.find("handshake failed"), std::string::npos) << cut.message;
    EXPECT_GT(server.accepted(), 2) << last;
  }
}

TEST(handshake, outlives_the_end_of_a_server_in_the_instant_of_connecting) {
  fake_server server([](fake_peer& peer, const fake_command& command) {
    if (peer.number() == 1) return peer.close();
    fake_server::answer_healthy(peer, command);
  });
  const auto result = opened(server.socket_path());
  EXPECT_TRUE(result.ok()) << result.message;
}

TEST(handshake, gives_up_on_a_loading_server_at_the_deadline) {
  fake_server server([&](fake_peer& peer, const fake_command& command) {
    if (command.is("SUBSCRIBE")) return peer.send("-BUSY Redis is busy running a script\r\n");
    fake_server::answer_healthy(peer, command);
  });
  const time_ns start = boot_now();
  const auto result = opened(server.socket_path(), {}, start + 2 * ns_per_s);
  expect_refusal(result, "BUSY Redis is busy");
  EXPECT_TRUE(result.is_retryable);
  EXPECT_LT(boot_now(), start + 10 * ns_per_s);
}

TEST(handshake, tries_until_the_deadline_where_nobody_listens_and_says_so) {
  const auto try_for_a_while = [](const auto& adjust) {
    const auto deadline = boot_now() + 200 * ns_per_ms;
    auto result = opened("/tmp/mortise-no-such-socket", adjust, deadline);
    EXPECT_GE(boot_now() + 100 * ns_per_ms, deadline) << "it gave up early: " << result.message;
    EXPECT_EQ(result.code, status::unreachable);
    EXPECT_TRUE(result.is_retryable);
    return result.message;
  };
  const auto absent = try_for_a_while([](auto&) {});
  EXPECT_NE(absent.find("/tmp/mortise-no-such-socket"), std::string::npos);
  EXPECT_NE(absent.find("No such file"), std::string::npos) << absent;
  test_server server({.arguments = {"--port", "free"}});
  server.stop();
  const auto refused = try_for_a_while(
      [&](auto& config) { config.where = net::resolver_for_host("127.0.0.1", server.port()); });
  EXPECT_NE(refused.find("Connection refused"), std::string::npos) << refused;
  const auto unknown = try_for_a_while(
      [&](auto& config) { config.where = net::resolver_for_host("no-such-host.invalid", 6379); });
  EXPECT_NE(unknown.find("no-such-host.invalid"), std::string::npos) << unknown;
}

// The deadline is far in the future.
TEST(handshake, ends_at_once_where_trying_on_is_no_use) {
  const time_ns start = boot_now();
  const auto nowhere = opened(std::string(200, 'x'));
  EXPECT_EQ(nowhere.code, status::invalid_argument) << nowhere.message;
  fake_server stranger(
      [](fake_peer& peer, const fake_command&) { peer.send("HTTP/1.1 400 Bad Request\r\n\r\n"); });
  const auto alien = opened(stranger.socket_path(), {}, start + 60 * ns_per_s);
  EXPECT_EQ(alien.code, status::unreachable);
  EXPECT_EQ(stranger.accepted(), 1);
  EXPECT_LT(boot_now(), start + 30 * ns_per_s);
}

// As behind a proxy or a name service that are up before the server is.
TEST(handshake, waits_for_a_server_that_comes_later) {
  fake_server server([&](fake_peer& peer, const fake_command& command) {
    if (peer.number() <= 3) return peer.close();
    fake_server::answer_healthy(peer, command);
  });
  struct late_name final : net::resolver {
    explicit late_name(net::address found) : found_(found) {}
    [[nodiscard]] bool is_immediate() const noexcept override { return true; }
    [[nodiscard]] std::string text() const override { return "late.example"; }
    net::resolution resolve(time_ns) override {
      if (++query_count < 4) return {outcome::of(status::unreachable, "not known"), {}};
      return {{}, {found_}};
    }
    int query_count = 0;
    net::address found_;
  };
  net::address where;
  ASSERT_TRUE(net::address::from_path(server.socket_path(), where));
  const auto name = std::make_shared<late_name>(where);
  const auto result = opened("", [&](auto& config) { config.where = name; });
  EXPECT_TRUE(result.ok()) << result.message;
  EXPECT_EQ(server.accepted(), 4);
}

TEST(handshake, names_the_reason_before_the_attempt_that_only_lacked_the_time) {
  fake_server server([](fake_peer& peer, const fake_command& command) {
    if (peer.number() > 2) return;  // hangs
    if (command.is("HELLO")) peer.send("-LOADING Redis is loading the dataset in memory\r\n");
  });
  const auto result = opened(server.socket_path(), {}, boot_now() + 500 * ns_per_ms);
  expect_refusal(result, "LOADING");
  EXPECT_TRUE(result.is_retryable);
}

TEST(handshake, connects_in_the_background) {
  fake_server server([](fake_peer& peer, const fake_command& command) {
    if (peer.number() <= 2 && command.is("HELLO")) return peer.send("-WRONGPASS no\r\n");
    fake_server::answer_healthy(peer, command);
  });
  session client(server.socket_path());
  ASSERT_TRUE(client.begin().ok());
  EXPECT_TRUE(client.events.wait_for_ups(1));
  EXPECT_EQ(server.accepted(), 3);
  EXPECT_EQ(client.ask({"PING"}), "PONG");
}

TEST(handshake, keeps_the_deadline_when_nobody_answers) {
  fake_server server([](fake_peer&, const fake_command&) {});
  const time_ns start = boot_now();
  const auto result = opened(server.socket_path(), {}, start + 100 * ns_per_ms);
  EXPECT_EQ(result.code, status::unreachable);
  EXPECT_NE(result.message.find("did not answer in time"), std::string::npos) << result.message;
  EXPECT_LT(boot_now(), start + 5 * ns_per_s);
}

// Hazard 26: the name service may hang for minutes.
TEST(handshake, keeps_the_deadline_when_the_name_service_hangs) {
  struct slow_names final : net::resolver {
    explicit slow_names(net::address found) : found_(found) {}
    [[nodiscard]] bool is_immediate() const noexcept override { return false; }
    [[nodiscard]] std::string text() const override { return "slow.example:6379"; }
    net::resolution resolve(time_ns) override {
      while (!is_released.load()) is_released.wait(false);
      return {{}, {found_}};
    }
    std::atomic<bool> is_released{false};
    net::address found_;
  };
  test_server server;
  net::address where;
  ASSERT_TRUE(net::address::from_path(server.socket_path(), where));
  const auto names = std::make_shared<slow_names>(where);
  const time_ns start = boot_now();
  const auto result = opened(
      "", [&](auto& config) { config.where = names; }, start + 100 * ns_per_ms);
  EXPECT_EQ(result.code, status::unreachable);
  EXPECT_NE(result.message.find("slow.example"), std::string::npos) << result.message;
  EXPECT_LT(boot_now(), start + 5 * ns_per_s);
  session client("", [&](auto& config) { config.where = names; });
  std::thread release([&] {
    names->is_released = true;
    names->is_released.notify_all();
  });
  EXPECT_TRUE(client.open().ok());
  release.join();
}

}  // namespace
}  // namespace mortise::testing::connection_handshake_test
