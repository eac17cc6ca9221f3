// Health checks of real servers, with settings that make each finding good or bad, and of fake
// servers that imitate managed services.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <set>
#include <string>

#include "client/client.hpp"
#include "support/fake_server.hpp"
#include "support/pages.hpp"
#include "support/proxy.hpp"
#include "support/server.hpp"

namespace mortise::testing::health_server_test {
namespace {

using protocol::finding_severity;

std::shared_ptr<client::client> opened(const std::string& url) {
  auto made = std::make_shared<client::client>(settings());
  const auto result = made->open(url);
  EXPECT_TRUE(result.ok()) << result.message;
  return made;
}

protocol::health check_health(client::client& by) {
  protocol::health found;
  const auto result = by.check_health(found);
  EXPECT_TRUE(result.ok()) << result.message;
  return found;
}

const protocol::finding& of(const protocol::health& found, const std::string& name) {
  for (const auto& item : found.findings) {
    if (item.name == name) return item;
  }
  throw std::runtime_error("no finding " + name);
}

class health : public ::testing::Test {
 protected:
  void run(std::initializer_list<std::string> words) { server_.command(words); }
  const protocol::finding& find(const std::string& name) {
    found_ = check_health(*client_);
    return of(found_, name);
  }

  static server_options on_tcp() {
    server_options options;
    options.arguments = {"--port", "free"};
    return options;
  }

  test_server server_{on_tcp()};
  std::shared_ptr<client::client> client_ = opened(server_.url());
  protocol::health found_;
};

#define EXPECT_FINDING(name, expected)                                                  \
  do {                                                                                  \
    const auto& seen = find(name);                                                      \
    EXPECT_EQ(seen.severity, finding_severity::expected) << name << ": " << seen.value; \
  } while (false)

TEST_F(health, hazard_12_sees_what_evicts) {
  EXPECT_FINDING("maxmemory_policy", ok);
  run({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
  EXPECT_FINDING("maxmemory_policy", ok);
  run({"CONFIG", "SET", "maxmemory", "1gb"});
  EXPECT_FINDING("maxmemory_policy", bad);
  EXPECT_FINDING("evictions", ok);
}

TEST_F(health, hazard_11_sees_what_a_restart_forgets) {
  EXPECT_FINDING("persistence", warn);
  EXPECT_FINDING("uptime", warn);
  run({"CONFIG", "SET", "appendonly", "yes"});
  EXPECT_FINDING("persistence", warn);
  run({"CONFIG", "SET", "appendfsync", "always"});
  EXPECT_FINDING("persistence", ok);
  EXPECT_FINDING("uptime", ok);
}

TEST_F(health, hazard_10_sees_replicas) {
  EXPECT_FINDING("replicas", ok);
  EXPECT_FINDING("min_replicas", ok);
  test_server replica;
  replica.command({"REPLICAOF", "127.0.0.1", std::to_string(server_.port())});
  const auto end = boot_now() + 60 * ns_per_s;
  while (boot_now() < end && find("replica_lag").value.find("bytes behind") == std::string::npos) {
  }
  EXPECT_FINDING("replica_lag", ok);
  EXPECT_FINDING("replicas", warn);
  EXPECT_FINDING("min_replicas", warn);
  run({"CONFIG", "SET", "min-replicas-to-write", "1"});
  EXPECT_FINDING("min_replicas", ok);
  run({"CONFIG", "SET", "min-replicas-to-write", "2"});
  EXPECT_FINDING("writes", bad);
  EXPECT_EQ(find("writes").value, "refused with NOREPLICAS");
}

TEST_F(health, hazard_13_sees_a_full_server) {
  EXPECT_FINDING("writes", ok);
  run({"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_FINDING("writes", bad);
  EXPECT_EQ(find("writes").value, "refused with OOM");
  EXPECT_FINDING("rights", ok);
}

TEST_F(health, hazard_30_sees_other_writers_of_the_fence) {
  EXPECT_FINDING("fence", ok);
  EXPECT_FINDING("clock_step", ok);
  run({"SET", "mortise:fence", "2000000000000000", "PX", "1000000"});
  EXPECT_FINDING("clock_step", warn);
  run({"SET", "mortise:fence", "1500000000000000", "PX", "1000000"});
  EXPECT_FINDING("fence", bad);
  run({"SET", "mortise:fence", "5"});
  EXPECT_FINDING("fence", bad);
  run({"DEL", "mortise:fence"});
  EXPECT_FINDING("fence", warn);
  run({"RPUSH", "mortise:fence", "5"});
  EXPECT_FINDING("fence", bad);
}

TEST_F(health, hazard_30_a_slow_connection_is_no_fence_that_was_set_back) {
  std::atomic<bool> is_seeding{true};
  const proxy slow(server_.socket_path(), [&](const fake_command& command) {
    return command.is("EVAL") && is_seeding.exchange(false) ? fault::delay(1500) : fault::none();
  });
  client_ = opened(slow.url() + "?command_timeout=10s");
  EXPECT_FALSE(is_seeding);
  EXPECT_FINDING("fence", ok);
}

TEST_F(health, sees_what_else_is_in_the_database_and_how_long_scripts_may_take) {
  EXPECT_FINDING("shared_database", ok);
  run({"SET", "session:1", "x", "PX", "1000000"});
  EXPECT_FINDING("shared_database", warn);
  EXPECT_FINDING("script_time_limit", ok);
  run({"CONFIG", "SET", "lua-time-limit", "0"});
  EXPECT_FINDING("script_time_limit", warn);
}

TEST_F(health, sees_rights_that_are_removed) {
  EXPECT_FINDING("rights", ok);
  // Before 7.0 the right to a part of a command can only be given, and not removed.
  run({"ACL", "SETUSER", "default", "-client", "+client|setname", "+client|id", "-publish"});
  EXPECT_FINDING("rights", warn);
  EXPECT_EQ(find("rights").value, "missing: +client|kill +publish");
  EXPECT_FINDING("client_kill", warn);
  run({"ACL", "SETUSER", "default", "-eval", "-lpop"});
  EXPECT_FINDING("eval", bad);
  EXPECT_EQ(find("rights").value, "missing: +eval +client|kill +publish +lpop");
  run({"ACL", "SETUSER", "default", "resetkeys", "~mortise:*"});
  EXPECT_NE(find("rights").value.find("~{mortise:*"), std::string::npos);
}

TEST_F(health, knows_all_with_the_rights_of_its_own_rule) {
  EXPECT_EQ("OK", server_.command(rights_on_page("docs/server.md")));
  for (const auto& rule : further_rights_on_page("docs/server.md")) server_.command(rule);
  const auto user = opened("unix://locker:PASSWORD@" + server_.socket_path());
  run({"CONFIG", "SET", "appendonly", "yes"});
  test_server replica;
  replica.command({"REPLICAOF", "127.0.0.1", std::to_string(server_.port())});
  const auto end = boot_now() + 60 * ns_per_s;
  while (boot_now() < end && find("replicas").severity != finding_severity::warn) {
  }
  const auto unknown = [&] {
    std::set<std::string> names;
    for (const auto& item : check_health(*user).findings) {
      if (item.severity == finding_severity::unknown) names.insert(item.name);
    }
    return names;
  };
  const std::set<std::string> hidden{"persistence", "min_replicas", "script_time_limit",
                                     "shared_database"};
  EXPECT_EQ(unknown(), hidden);
  EXPECT_EQ("OK", server_.command(rights_on_page("docs/health_check.md")));
  EXPECT_EQ(unknown(), std::set<std::string>());
}

TEST_F(health, leaves_the_server_and_its_own_connection_as_they_were) {
  run({"SET", "{mortise:health}", "somebody's"});
  check_health(*client_);
  EXPECT_EQ(server_.command({"GET", "{mortise:health}"}), "somebody's");
  EXPECT_TRUE(client_->ping().ok());
}

// Nothing is answered before the last command of a round has come.
TEST(an_health_check, takes_two_round_trips) {
  std::string held;
  bool is_checked = false;
  std::atomic<int> rounds{0};
  fake_server late([&](fake_peer& peer, const fake_command& command) {
    is_checked = is_checked || command.is("TIME");
    if (!is_checked && command.is("EVAL")) return peer.send(":1\r\n");
    if (!is_checked) return fake_server::answer_healthy(peer, command);
    held += command.is("MULTI") ? "+OK\r\n" : command.is("EXEC") ? "*0\r\n" : "$1\r\nx\r\n";
    if (!command.is("EXEC")) return;
    ++rounds;
    peer.send(std::exchange(held, {}));
  });
  const auto by = opened(late.url());
  check_health(*by);
  EXPECT_EQ(rounds.load(), 2);
  by->close();
}

// ---- services that hide ------------------------------------------------------------------------

protocol::health check_service(const fake_server::answer_function& answer) {
  fake_server service([&](fake_peer& peer, const fake_command& command) {
    if (command.is("EVAL")) return peer.send(":1\r\n");
    answer(peer, command);
  });
  const auto by = opened(service.url());
  auto found = check_health(*by);
  by->close();
  return found;
}

TEST(health_check_of_services, what_is_hidden_is_unknown) {
  const auto found = check_service([](fake_peer& peer, const fake_command& command) {
    if (command.is("INFO")) return peer.send("$23\r\nredis_version:7.1.0\r\n\r\n\r\n");
    if (command.is("CONFIG")) return peer.send("-ERR unknown command 'CONFIG'\r\n");
    fake_server::answer_healthy(peer, command);
  });
  EXPECT_EQ(of(found, "version").value, "Redis 7.1.0");
  for (const auto* name : {"maxmemory_policy", "persistence", "replicas", "uptime", "evictions"}) {
    EXPECT_EQ(of(found, name).severity, finding_severity::unknown) << name;
  }
}

TEST(health_check_of_services, client_kill_that_is_forbidden_is_a_warning) {
  const auto found = check_service([](fake_peer& peer, const fake_command& command) {
    if (command.is("CLIENT", "KILL")) return peer.send("-ERR command not allowed\r\n");
    fake_server::answer_healthy(peer, command);
  });
  EXPECT_EQ(of(found, "client_kill").severity, finding_severity::warn);
}

TEST(health_check_of_services, a_connection_that_ends_meanwhile_is_reported) {
  fake_server service([](fake_peer& peer, const fake_command& command) {
    if (command.is("EVAL")) return peer.send(":1\r\n");
    if (command.is("TIME")) return peer.close();
    fake_server::answer_healthy(peer, command);
  });
  const auto by = opened(service.url());
  protocol::health found;
  const auto result = by->check_health(found);
  EXPECT_EQ(result.code, status::unknown) << result.message;
  EXPECT_TRUE(found.findings.empty());
}

}  // namespace
}  // namespace mortise::testing::health_server_test
