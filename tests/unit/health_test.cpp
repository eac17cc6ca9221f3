// The findings of a health check in general, and its JSON.
#include "health_server.hpp"

#include <set>
#include <string>

namespace mortise::testing::health_test {
namespace {

using namespace health_server;

TEST(health, a_good_server_is_ok_in_all_but_what_a_crash_forgets) {
  const auto found = server().check_health();
  for (const auto& item : found.findings) {
    EXPECT_EQ(item.server, "db:6379");
    const bool is_ok = std::string_view(item.name) != "persistence";
    EXPECT_EQ(item.severity, is_ok ? finding_severity::ok : finding_severity::warn)
        << item.name << item.value;
    EXPECT_EQ(*item.consequence == '\0', is_ok) << item.name;
    EXPECT_EQ(*item.remedy == '\0', is_ok) << item.name;
  }
  EXPECT_EQ(found.worst()->name, std::string("persistence"));
  EXPECT_TRUE(found.refusal().ok());
}

TEST(health, a_server_that_hides_everything_is_unknown_and_never_ok) {
  server silent;
  for (const auto* word : {"TIME", "INFO", "ROLE", "TYPE mortise:fence", "GET mortise:fence",
                           "PTTL mortise:fence", "SCAN", "MULTI", "EXEC", "EVAL", "CLIENT"}) {
    silent.reply(word, "$-1\r\n");
  }
  for (const auto* name : {"maxmemory-policy", "maxmemory", "appendonly", "appendfsync", "save",
                           "min-replicas-to-write", "lua-time-limit"}) {
    silent.reply(std::string("CONFIG GET ") + name, "*0\r\n");
  }
  silent.refuse("ECHO", "-x\r\n");
  const std::set<std::string> seen = {"reachable",   "tls_verify", "eval",
                                      "client_kill", "commands",   "rights",
                                      "writes",      "round_trip", "lease"};
  for (const auto& item : silent.check_health().findings) {
    if (seen.contains(item.name)) continue;
    EXPECT_EQ(item.severity, finding_severity::unknown) << item.name << item.value;
    EXPECT_NE(*item.consequence, '\0');
  }
}

TEST(health, version) {
  EXPECT_TRUE(is(server().check_health(), "version", finding_severity::ok, "Redis 6.2.14"));
  EXPECT_TRUE(is(server().info("redis_version", "6.0.20").check_health(), "version",
                 finding_severity::bad, "Redis 6.0.20"));
  EXPECT_TRUE(is(server().info("redis_version", "7").check_health(), "version",
                 finding_severity::unknown, "hidden by the server"));
  // Valkey reports redis_version 7.2.4 in each version.
  EXPECT_TRUE(is(server()
                     .info(with(with(redis_6, "redis_version", "7.2.4"), "valkey_version", "9.1.2"))
                     .check_health(),
                 "version", finding_severity::ok, "Valkey 9.1.2"));
}

TEST(health, role) {
  const auto replica =
      "*5\r\n" + bulk("slave") + bulk("10.0.0.1") + ":6379\r\n" + bulk("connected") + ":99\r\n";
  EXPECT_TRUE(
      is(server().reply("ROLE", replica).check_health(), "role", finding_severity::bad, "replica"));
  EXPECT_TRUE(is(server().reply("ROLE", refusal_7).info("role", "slave").check_health(), "role",
                 finding_severity::bad, "replica"));
  EXPECT_TRUE(is(server().reply("ROLE", "*2\r\n" + bulk("sentinel") + "*0\r\n").check_health(),
                 "role", finding_severity::bad, "sentinel"));
}

TEST(health, databases_that_are_shared) {
  const auto scan = "*2\r\n" + bulk("17") + "*3\r\n" + bulk("session:secret") +
                    bulk("mortise:fence") + bulk("{mortise:x}:q");
  const auto found = server().reply("SCAN", scan).info("evicted_keys", "3").check_health();
  EXPECT_TRUE(is(found, "shared_database", finding_severity::warn,
                 "1 of 3 checked keys are not Mortise's"));
  EXPECT_TRUE(is(found, "evictions", finding_severity::warn, "3 keys"));
  EXPECT_EQ(found.json().find("secret"), std::string::npos);
}

TEST(health, hazard_31_numbers_that_make_no_sense_are_unknown) {
  for (const auto* field : {"uptime_in_seconds", "evicted_keys", "maxmemory", "connected_slaves"}) {
    for (const auto* value : {"", "x", "1x", "99999999999999999999", " 1"}) {
      server odd;
      odd.info(field, value);
      odd.info(with(with(redis_6, field, value), "maxmemory_policy", "allkeys-lru"));
      for (const auto* silent : {"CONFIG GET maxmemory", "ROLE"}) odd.reply(silent, refusal_7);
      const auto found = odd.check_health();
      const std::string name = field == std::string("maxmemory")           ? "maxmemory_policy"
                               : field == std::string("uptime_in_seconds") ? "uptime"
                               : field == std::string("evicted_keys")      ? "evictions"
                                                                           : "replicas";
      EXPECT_EQ(of(found, name).severity, finding_severity::unknown) << field << value;
    }
  }
  for (const auto* time : {"*2\r\n$1\r\nx\r\n$1\r\n0\r\n", "*0\r\n", ":1\r\n",
                           "*2\r\n$19\r\n9223372036854775807\r\n$1\r\n0\r\n",
                           "*2\r\n$2\r\n-5\r\n$1\r\n0\r\n", "*2\r\n$1\r\n5\r\n$7\r\n1000000\r\n"}) {
    EXPECT_EQ(of(server().reply("TIME", time).check_health(), "clock_offset").severity,
              finding_severity::unknown);
  }
}

TEST(health, unverified_tls_is_reported_of_every_server) {
  auto client = server::a_client();
  client.verifies_tls = false;
  EXPECT_TRUE(is(server().check_health(ns_per_ms, now_us, client), "tls_verify",
                 finding_severity::bad, "off"));
}

TEST(health, values_are_printable_and_short) {
  const auto found =
      server().info("redis_version", "7.0.\x1b[2J\xff" + std::string(200, 'x')).check_health();
  EXPECT_EQ(of(found, "version").value, "Redis 7.0.?[2J?" + std::string(55, 'x') + "...");
}

TEST(health, json_is_utf8_whatever_the_servers_name) {
  protocol::health found;
  protocol::judge({}, {}, "unix:///\"a\\b\n\x7f\xff\xc3\xa4\xed\xa0\x80", found);
  found.findings.resize(1);
  EXPECT_EQ(
      found.json(),
      R"({"worst":"unknown","findings":[{"name":"version","severity":"unknown",)"
      "\"server\":\"unix:///\\\"a\\\\b\\u000a\\u007f\xEF\xBF\xBD\xC3\xA4\xEF\xBF\xBD\xEF\xBF"
      "\xBD\xEF\xBF\xBD\",\"value\":\"hidden by the server\","
      "\"consequence\":\"commands that locks need are missing\",\"remedy\":\"give the user the "
      "right to read it (see the page about health checks), or check it at the server\"}]}");
  EXPECT_EQ(protocol::health().json(), R"({"worst":"unknown","findings":[]})");
}

TEST(health, each_rule_is_complete) {
  std::set<std::string> names;
  for (const auto& rule : protocol::finding_rules()) {
    EXPECT_TRUE(names.insert(rule.name).second);
    EXPECT_EQ(std::string(rule.name).find_first_not_of("abcdefghijklmnopqrstuvwxyz_"),
              std::string::npos);
    EXPECT_FALSE(*rule.warn_when == '\0' && *rule.bad_when == '\0') << rule.name;
    EXPECT_NE(*rule.consequence, '\0') << rule.name;
    EXPECT_NE(*rule.remedy, '\0') << rule.name;
  }
}

}  // namespace
}  // namespace mortise::testing::health_test
