// Proxies and managed services, which pass on a part of what a server can do.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/handles.hpp"
#include "support/launcher.h"
#include "support/proxy.hpp"
#include "support/script_rule.hpp"
#include "support/server.hpp"

namespace mortise::testing::service_test {
namespace {

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// The real one.
class twemproxy {
 public:
  explicit twemproxy(const std::string& server_path) {
    const char* const arguments[] = {server_path.c_str(), nullptr};
    if (!launcher_open(&launcher_, "twemproxy", arguments)) throw std::runtime_error("no proxy");
  }
  ~twemproxy() { launcher_close(&launcher_); }
  twemproxy(const twemproxy&) = delete;
  twemproxy& operator=(const twemproxy&) = delete;

  [[nodiscard]] std::string url() const {
    return "unix://" + std::string(launcher_.folder) + "/proxy.sock";
  }

 private:
  launcher launcher_{};
};

constexpr std::string_view twemproxy_lacks =
    "closes the connection at HELLO, CLIENT, MULTI, SCRIPT and SUBSCRIBE, as twemproxy does; locks "
    "need MULTI and SUBSCRIBE: give the address of the server behind it";

TEST(service, twemproxy_is_refused_at_once_with_the_commands_that_it_lacks) {
  const test_server server;
  const twemproxy between(server.socket_path());
  const auto start = boot_now();
  const auto message = problem_of(between.url() + "?command_timeout=1m", MORTISE_REFUSED);
  EXPECT_TRUE(has(message, twemproxy_lacks)) << message;
  EXPECT_LT(boot_now(), start + 30 * ns_per_s) << "it has been asked again and again";
}

TEST(service, twemproxy_is_known_with_a_password_of_its_server_too) {
  const test_server server({.arguments = {"--requirepass", "secret"}, .login = {"AUTH", "secret"}});
  const twemproxy between(server.socket_path());
  const auto url = "unix://:secret@" + between.url().substr(7);
  const auto message = problem_of(url, MORTISE_REFUSED);
  EXPECT_TRUE(has(message, twemproxy_lacks)) << message;
  EXPECT_FALSE(has(message, "secret")) << message;
}

// The scripts of a handshake, too.
void answer_healthy(fake_peer& peer, const fake_command& command) {
  if (command.is("EVAL") || command.is("EVALSHA")) return peer.send(":1\r\n");
  fake_server::answer_healthy(peer, command);
}

// As a balancer of connections does while no server is up behind it.
TEST(service, one_that_answers_no_ping_may_still_become_a_server) {
  constexpr int last_closed = 12;  // more than one check takes
  fake_server server([&](fake_peer& peer, const fake_command& command) {
    if (peer.number() <= last_closed) return peer.close();
    answer_healthy(peer, command);
  });
  EXPECT_NO_THROW(open_client(server.url() + "?command_timeout=1m"));
}

// The check gets a reply to HELLO, so the cause of the earlier ends is over.
TEST(service, one_that_is_well_by_the_time_of_the_check_is_served) {
  std::atomic<int> hellos{0};
  fake_server server([&](fake_peer& peer, const fake_command& command) {
    if (command.is("HELLO") && ++hellos <= 2) return peer.close();
    if (command.is("MULTI")) return peer.close();
    answer_healthy(peer, command);
  });
  EXPECT_NO_THROW(open_client(server.url()));
}

// What Envoy's filter for Redis passes on, and how it refuses the rest.
bool is_passed_on_by_envoy(const fake_command& command) {
  for (const char* known :
       {"PING", "TIME", "AUTH", "MULTI", "EXEC", "GET", "SET", "DEL", "MGET", "INCR", "INCRBY",
        "PTTL", "PEXPIRE", "EVAL", "EVALSHA", "PUBLISH", "EXISTS", "TYPE"}) {
    if (command.is(known)) return true;
  }
  return false;
}

fault as_envoy(const fake_command& command) {
  if (is_passed_on_by_envoy(command)) return fault::none();
  if (command.words.size() < 2) return fault::answer("-invalid request\r\n");
  return fault::answer("-unsupported command '" + command.words[0] + "'\r\n");
}

// As version 1.40.0 answers in front of one server, which is in no cluster.
fault as_envoy_1_40(const fake_command& command) {
  const bool is_name = command.is("CLIENT", "SETNAME");
  if (is_passed_on_by_envoy(command) || is_name || command.is("ROLE") || command.is("SCRIPT")) {
    return fault::none();
  }
  if (command.is("HELLO")) return fault::answer("-NOPROTO unsupported protocol version\r\n");
  if (command.is("CLIENT")) {
    return fault::answer("-ERR CLIENT subcommand '" + command.words.at(1) +
                         "' is not supported by the proxy\r\n");
  }
  if (command.is("INFO")) {
    const std::string text = "# Server\r\nredis_version:7.0.15\r\nredis_mode:cluster\r\n";
    return fault::answer("$" + std::to_string(text.size()) + "\r\n" + text + "\r\n");
  }
  return fault::answer("-ERR unknown command '" + command.words[0] +
                       "', with args beginning with: \r\n");
}

TEST(service, envoy_is_refused_with_the_command_that_it_lacks) {
  const test_server server;
  for (const auto imitation : {as_envoy, as_envoy_1_40}) {
    const proxy between(server.socket_path(), imitation);
    const auto message = problem_of(between.url(), MORTISE_REFUSED);
    EXPECT_TRUE(has(message, "the service does not have SUBSCRIBE; locks need SUBSCRIBE"))
        << message;
  }
}

TEST(service, one_without_hello_and_transactions_is_refused_with_that) {
  const test_server server;
  const proxy between(server.socket_path(), [](const fake_command& command) {
    for (const char* unknown : {"HELLO", "CLIENT", "MULTI", "EXEC", "SCRIPT", "SUBSCRIBE"}) {
      if (command.is(unknown)) {
        return fault::answer("-ERR unknown command '" + command.words[0] + "'\r\n");
      }
    }
    return fault::none();
  });
  const auto message = problem_of(between.url(), MORTISE_REFUSED);
  EXPECT_TRUE(has(message, "does not have CLIENT, MULTI and SCRIPT; locks need MULTI")) << message;
}

TEST(service, one_with_hello_and_without_transactions_is_refused_with_that) {
  const test_server server;
  const proxy between(server.socket_path(), [](const fake_command& command) {
    if (!command.is("MULTI") && !command.is("EXEC")) return fault::none();
    return fault::answer("-ERR unknown command '" + command.words[0] + "'\r\n");
  });
  const auto message = problem_of(between.url(), MORTISE_REFUSED);
  EXPECT_TRUE(has(message, "does not have MULTI; locks need MULTI: give the address")) << message;
}

// ---- scripts that are looked at before they run -------------------------------------------------

constexpr const char* no_key =
    "ERR for redis cluster, eval/evalsha number of keys can't be negative or zero";

// Alibaba Cloud's cluster, with the address for direct connections.
fault as_alibaba(const fake_command& command) {
  std::string refusal;
  if (command.is("SCRIPT", "LOAD")) refusal = refusal_of_script(command.words.at(2));
  if (command.is("EVAL") || command.is("EVALSHA")) {
    if (command.words.at(2) == "0") {
      refusal = no_key;
    } else if (command.is("EVAL")) {
      refusal = refusal_of_script(command.words.at(1));
    }
  }
  return refusal.empty() ? fault::none() : fault::answer("-" + refusal + "\r\n");
}

void use_all_kinds(const client_handle& client) {
  const auto lock = open_lock(client, "mutex");
  ASSERT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr));
  const auto other = open_lock(client, "mutex");
  EXPECT_EQ(MORTISE_TIMED_OUT, mortise_lock_acquire(other.get(), 100, nullptr));
  EXPECT_EQ(MORTISE_OK, mortise_lock_unlock(lock.get(), nullptr));
  const auto rw = open_rw(client, "book");
  ASSERT_EQ(MORTISE_OK, mortise_rw_read_acquire(rw.get(), patience_ms, nullptr));
  const auto writer = open_rw(client, "book");
  EXPECT_EQ(MORTISE_TIMED_OUT, mortise_rw_write_acquire(writer.get(), 500, nullptr));
  EXPECT_EQ(MORTISE_OK, mortise_rw_read_unlock(rw.get(), nullptr));
  const auto semaphore = open_semaphore(client, "permits", 2);
  ASSERT_EQ(MORTISE_OK, mortise_semaphore_acquire(semaphore.get(), 1, patience_ms, nullptr));
  EXPECT_EQ(MORTISE_OK, mortise_semaphore_release(semaphore.get(), nullptr));
}

TEST(service, one_that_looks_at_scripts_runs_those_of_locks) {
  const test_server server;
  const proxy between(server.socket_path(), as_alibaba);
  const auto client = open_client(between.url());
  use_all_kinds(client);
  const auto error = new_error();
  const auto expect_refusal = [&](const mortise_listing* listing) {
    EXPECT_EQ(nullptr, listing);
    EXPECT_EQ(MORTISE_REFUSED, mortise_error_status(error.get()));
    EXPECT_TRUE(has(mortise_error_message(error.get()), "rejects scripts without a key"))
        << mortise_error_message(error.get());
  };
  expect_refusal(mortise_client_scan_locks(client.get(), nullptr, 0, 1000, 5000, error.get()));
  expect_refusal(mortise_client_list_locks(client.get(), 5000, error.get()));
}

// Such a service refuses the script that renews many locks.
TEST(service, one_that_looks_at_scripts_renews_each_lock_by_itself) {
  const test_server server;
  const proxy between(server.socket_path(), as_alibaba);
  const auto client = open_client(between.url() + "?lease=3s");
  std::vector<lock_handle> locks;
  for (int i = 0; i < 50; ++i) {
    locks.push_back(open_lock(client, "many." + std::to_string(i)));
    expect_acquired(locks.back());
  }
  std::this_thread::sleep_for(std::chrono::seconds(7));
  for (const auto& lock : locks) EXPECT_EQ(1, mortise_lock_is_held(lock.get()));
}

// A stricter service: the command was not executed, and the error reports that.
TEST(service, hazard_28_a_script_that_is_refused_before_it_runs_leaves_nothing_unknown) {
  const test_server server;
  const proxy between(server.socket_path(), [](const fake_command& command) {
    const bool is_text = command.is("EVAL") || command.is("SCRIPT", "LOAD");
    const auto& text = command.words.back();
    const auto& script = command.is("EVAL") ? command.words.at(1) : text;
    if (!is_text || !has(script, "'ZADD'")) return fault::none();
    return fault::answer("-" + refusal_of_script("redis.call('GET', key)") + "\r\n");
  });
  const auto client = open_client(between.url());
  const auto lock = open_lock(client, "mutex");
  EXPECT_EQ(MORTISE_OK, mortise_lock_acquire(lock.get(), patience_ms, nullptr));
  const auto rw = open_rw(client, "book");
  const auto error = new_error();
  EXPECT_EQ(MORTISE_REFUSED, mortise_rw_read_acquire(rw.get(), patience_ms, error.get()));
  EXPECT_TRUE(has(mortise_error_message(error.get()), "script_check_enable"))
      << mortise_error_message(error.get());
}

TEST(service, one_that_spreads_the_keys_of_a_lock_is_refused_with_the_url_to_give) {
  const test_server server;
  const proxy between(server.socket_path(), [](const fake_command& command) {
    if (!command.is("EVAL") || command.words.at(2) == "1") return fault::none();
    return fault::answer("-ERR eval/evalsha command keys must be in same slot\r\n");
  });
  const auto message = problem_of(between.url(), MORTISE_REFUSED);
  EXPECT_TRUE(has(message, "give redis+cluster:// with the address for direct connections"))
      << message;
}

// Redis 7.2 to 8 do so while other replies are pending.
TEST(service, hazard_31_one_that_drops_the_reply_to_a_rejected_login_moves_no_other_reply) {
  const test_server server;
  const proxy between(server.socket_path(), [](const fake_command& command) {
    return command.is("AUTH") ? fault::answer("") : fault::none();
  });
  const auto client = open_client(between.url());
  const auto error = new_error();
  EXPECT_EQ(MORTISE_REFUSED,
            mortise_client_set_credentials(client.get(), "user", 4, "wrong", 5, error.get()));
  EXPECT_TRUE(has(mortise_error_message(error.get()), "did not say why"))
      << mortise_error_message(error.get());
  use_all_kinds(client);
}

}  // namespace
}  // namespace mortise::testing::service_test
