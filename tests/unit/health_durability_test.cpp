// What a health check finds about memory, persistence and replicas.
#include "health_server.hpp"

#include <map>
#include <string>

namespace mortise::testing::health_durability_test {
namespace {

using namespace health_server;

TEST(health, hazard_12_maxmemory_policy) {
  const auto evicting = with(redis_6, "maxmemory_policy", "allkeys-lru");
  EXPECT_TRUE(is(server().info(evicting).check_health(), "maxmemory_policy", finding_severity::ok,
                 "allkeys-lru, without a limit"));
  const auto limited = server().info(with(evicting, "maxmemory", "100")).check_health();
  EXPECT_TRUE(is(limited, "maxmemory_policy", finding_severity::bad, "allkeys-lru at 100 bytes"));
  EXPECT_EQ(limited.worst()->name, std::string("maxmemory_policy"));
  const auto refused = limited.refusal();
  EXPECT_EQ(refused.code, status::refused);
  EXPECT_NE(refused.message.find("db:6379: maxmemory_policy is bad (allkeys-lru at 100 bytes)"),
            std::string::npos);
  EXPECT_TRUE(is(server().info("maxmemory", "100").check_health(), "maxmemory_policy",
                 finding_severity::ok, "noeviction"));
  // A managed service shows no memory in INFO. CONFIG has it.
  server hidden;
  hidden.info("redis_version:7.1.0\r\n");
  hidden.configure("maxmemory-policy", "volatile-ttl").configure("maxmemory", "7");
  EXPECT_TRUE(is(hidden.check_health(), "maxmemory_policy", finding_severity::bad,
                 "volatile-ttl at 7 bytes"));
  hidden.reply("CONFIG GET maxmemory", "-ERR unknown command 'CONFIG'\r\n");
  EXPECT_TRUE(is(hidden.check_health(), "maxmemory_policy", finding_severity::unknown,
                 "hidden by the server"));
}

TEST(health, hazard_11_persistence_and_uptime) {
  const auto appending = with(redis_6, "aof_enabled", "1");
  EXPECT_TRUE(is(server().info(appending).check_health(), "persistence", finding_severity::warn,
                 "appendonly yes, appendfsync everysec"));
  server always;
  always.info(appending).configure("appendfsync", "always");
  EXPECT_TRUE(is(always.check_health(), "persistence", finding_severity::ok,
                 "appendonly yes, appendfsync always"));
  always.info(with(appending, "aof_last_write_status", "err"));
  EXPECT_TRUE(is(always.check_health(), "persistence", finding_severity::warn,
                 "appendonly yes, appendfsync always, the last write failed"));
  EXPECT_TRUE(is(server().info(appending).reply("CONFIG GET appendfsync", refusal_6).check_health(),
                 "persistence", finding_severity::unknown, "appendonly yes, appendfsync hidden"));
  // Leases of 30 s are kept for 33 s and a little.
  EXPECT_TRUE(is(server().info("uptime_in_seconds", "34").check_health(), "uptime",
                 finding_severity::warn, "34 s"));
  EXPECT_TRUE(is(server().info("uptime_in_seconds", "35").check_health(), "uptime",
                 finding_severity::ok, "35 s"));
  always.info(with(appending, "uptime_in_seconds", "1"));
  EXPECT_TRUE(is(always.check_health(), "uptime", finding_severity::ok, "1 s"));
}

TEST(health, hazard_11_a_restart_that_no_lock_outlives) {
  auto restarted = server().info("uptime_in_seconds", "1");
  auto client = server::a_client();
  client.quarantine_ms = 60'000;
  auto found = restarted.check_health(ns_per_ms, now_us, client);
  EXPECT_TRUE(is(found, "uptime", finding_severity::ok, "1 s; a restart begins a quarantine"));
  EXPECT_EQ(of(found, "persistence").severity, finding_severity::ok);
  client = server::a_client();
  client.is_of_local = true;
  found = restarted.check_health(ns_per_ms, now_us, client);
  EXPECT_TRUE(is(found, "uptime", finding_severity::ok, "1 s; it ends when nothing is held"));
  EXPECT_EQ(of(found, "persistence").severity, finding_severity::ok);
  // A hold that is on the disk before it counts survives a restart.
  client = server::a_client();
  client.is_fsynced = true;
  EXPECT_EQ(of(restarted.check_health(ns_per_ms, now_us, client), "persistence").severity,
            finding_severity::warn);
  restarted.info(with(with(redis_6, "uptime_in_seconds", "1"), "aof_enabled", "1"));
  found = restarted.check_health(ns_per_ms, now_us, client);
  EXPECT_TRUE(is(found, "uptime", finding_severity::ok, "1 s"));
  EXPECT_TRUE(is(found, "persistence", finding_severity::ok,
                 "appendonly yes, appendfsync everysec, durability=fsync"));
}

TEST(health, hazard_10_replicas_that_acknowledge) {
  auto info = with(redis_6, "connected_slaves", "2");
  info = with(info, "slave0", "ip=10.0.0.2,port=6379,state=online,offset=0,lag=1");
  info = with(info, "slave1", "ip=10.0.0.3,port=6379,state=online,offset=0,lag=0");
  server replicated;
  replicated.info(info);
  for (const auto& [acks, expected] : std::map<int, finding_severity>{
           {-1, finding_severity::ok}, {1, finding_severity::warn}, {2, finding_severity::ok}}) {
    auto client = server::a_client();
    client.acks = acks;
    const auto found = replicated.check_health(ns_per_ms, now_us, client);
    EXPECT_TRUE(is(found, "replicas", expected, "2 replicas")) << acks;
    EXPECT_EQ(of(found, "min_replicas").severity, expected) << acks;
  }
}

TEST(health, hazard_10_replicas) {
  auto info = with(redis_6, "connected_slaves", "2");
  info = with(info, "master_repl_offset", "5000");
  info = with(info, "slave0", "ip=10.0.0.2,port=6379,state=online,offset=4900,lag=1");
  info = with(info, "slave1", "ip=10.0.0.3,port=6379,state=online,offset=5000,lag=0");
  server replicated;
  replicated.info(info);
  EXPECT_TRUE(is(replicated.check_health(), "replicas", finding_severity::warn, "2 replicas"));
  EXPECT_TRUE(is(replicated.check_health(), "replica_lag", finding_severity::ok,
                 "100 bytes behind, last report 1 s ago"));
  EXPECT_TRUE(is(replicated.check_health(), "min_replicas", finding_severity::warn,
                 "min-replicas-to-write 0"));
  replicated.configure("min-replicas-to-write", "1");
  EXPECT_TRUE(is(replicated.check_health(), "min_replicas", finding_severity::ok,
                 "min-replicas-to-write 1"));
  replicated.reply("CONFIG GET min-replicas-to-write", refusal_7);
  EXPECT_EQ(of(replicated.check_health(), "min_replicas").severity, finding_severity::unknown);
  replicated.info(with(info, "min_slaves_good_slaves", "2"));
  EXPECT_EQ(of(replicated.check_health(), "min_replicas").severity, finding_severity::ok);
  replicated.info(with(info, "slave1", "ip=10.0.0.3,port=6379,state=online,offset=5000,lag=11"));
  EXPECT_TRUE(is(replicated.check_health(), "replica_lag", finding_severity::warn,
                 "100 bytes behind, last report 11 s ago"));
  replicated.info(with(info, "slave1", "ip=10.0.0.3,port=6379,state=wait_bgsave,offset=0,lag=0"));
  EXPECT_TRUE(is(replicated.check_health(), "replica_lag", finding_severity::warn,
                 "a replica is not online"));
  replicated.info(with(info, "master_repl_offset", "9000000"));
  EXPECT_EQ(of(replicated.check_health(), "replica_lag").severity, finding_severity::warn);
  // Where INFO is hidden, ROLE has them.
  const auto role = "*3\r\n" + bulk("master") + ":9\r\n*1\r\n*3\r\n" + bulk("10.0.0.2") +
                    bulk("6379") + bulk("9");
  server quiet;
  quiet.info("redis_version:7.0.15\r\n").reply("ROLE", role);
  EXPECT_TRUE(is(quiet.check_health(), "replicas", finding_severity::warn, "1 replica"));
  EXPECT_EQ(of(quiet.check_health(), "replica_lag").severity, finding_severity::unknown);
}

}  // namespace
}  // namespace mortise::testing::health_durability_test
