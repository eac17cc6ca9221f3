// What a health check finds, by the words of servers: each is that of Redis 7.0 unless a test says
// otherwise.
#include "protocol/health/health.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "protocol/health/server_probe.hpp"
#include "redis/resp/resp.hpp"
#include "support/pages.hpp"

namespace mortise::testing::health_test {
namespace {

using protocol::finding_severity;

constexpr std::int64_t now_us = 1'795'329'365'000'000;
constexpr time_ns now_ns = 40'000 * ns_per_s;

std::string bulk(const std::string& text) {
  return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}

std::string parameter(const std::string& name, const std::string& value) {
  return "*2\r\n" + bulk(name) + bulk(value);
}

const std::string refusal_7 = "-NOPERM User locker has no permissions to run the 'x' command\r\n";
const std::string refusal_6 =
    "-NOPERM this user has no permissions to run the 'x' command or its subcommand\r\n";
const std::string queued = "+QUEUED\r\n";

const std::string redis_6 =
    "# Server\r\nredis_version:6.2.14\r\nrun_id:3cd6568393654c7bc9dc99c17c268aac8f02b609\r\n"
    "uptime_in_seconds:7200\r\n# Memory\r\nmaxmemory:0\r\nmaxmemory_human:0B\r\n"
    "maxmemory_policy:noeviction\r\n# Persistence\r\naof_enabled:0\r\n"
    "aof_last_write_status:ok\r\n# Stats\r\nevicted_keys:0\r\n# Replication\r\nrole:master\r\n"
    "connected_slaves:0\r\nmaster_repl_offset:0\r\n";

std::string with(std::string info, const std::string& field, const std::string& value) {
  const auto at = info.find("\r\n" + field + ":");
  const auto line = field + ":" + value + "\r\n";
  if (at == std::string::npos) return info + line;
  return info.replace(at + 2, info.find("\r\n", at + 2) - at, line);
}

// A server that answers each command by its words, or by the first of them.
class server {
 public:
  server() {
    say("TIME", "*2\r\n" + bulk(std::to_string(now_us / 1'000'000)) + bulk("0"));
    say("MULTI", "+OK\r\n");
    say("EXEC", "*0\r\n");
    info(redis_6);
    for (const auto& [name, value] :
         std::map<std::string, std::string>{{"appendfsync", "everysec"},
                                            {"save", "3600 1 300 100"},
                                            {"min-replicas-to-write", "0"},
                                            {"lua-time-limit", "5000"},
                                            {"appendonly", "no"},
                                            {"maxmemory", "0"},
                                            {"maxmemory-policy", "noeviction"}}) {
      configure(name, value);
    }
    say("ROLE", "*3\r\n" + bulk("master") + ":0\r\n*0\r\n");
    say("EVAL", ":1\r\n");
    say("CLIENT", ":0\r\n");
    say("TYPE mortise:fence", "+string\r\n");
    fence(now_us - 1'000'000);
    say("PTTL mortise:fence", ":7775999000\r\n");
    say("SCAN", "*2\r\n" + bulk("0") + "*2\r\n" + bulk("mortise:fence") + bulk("{mortise:a}"));
    say("ECHO", "-ERR wrong number of arguments for 'echo' command\r\n");
  }

  server& say(const std::string& words, const std::string& reply) {
    replies_[words] = reply;
    return *this;
  }
  server& info(const std::string& text) { return say("INFO", bulk(text)); }
  server& info(const std::string& field, const std::string& value) {
    return info(with(redis_6, field, value));
  }
  server& configure(const std::string& name, const std::string& value) {
    return say("CONFIG GET " + name, parameter(name, value));
  }
  // The fence counter is not kept up by this client.
  server& not_lifted() {
    keys_.lifted_ns = 0;
    return *this;
  }
  server& fence(std::int64_t counter) {
    return say("GET mortise:fence", bulk(std::to_string(counter)));
  }
  // What is said to a command that is queued.
  server& refuse(const std::string& word, const std::string& reply) {
    refusals_[word] = reply;
    return *this;
  }
  server& refuse_all(const std::string& reply) {
    all_ = reply;
    return *this;
  }

  // What is found there.
  protocol::health check_health(time_ns round_trip_ns = ns_per_ms, std::int64_t wall_us = now_us,
                                protocol::checking_client client = a_client()) {
    protocol::server_probe asked(0, keys_);
    time_ns now = now_ns - round_trip_ns;
    while (!asked.is_over()) {
      std::string bytes;
      int left = asked.write_round(bytes, now);
      now += round_trip_ns;
      bool is_queuing = false;
      for (const auto& words : commands_in(bytes)) {
        const auto reply = answer(words, is_queuing);
        redis::parser parser;
        EXPECT_EQ(parser.parse(reply), redis::parse_result::complete) << reply;
        asked.take(parser.reply(), now, wall_us + round_trip_ns / 2 / ns_per_us);
        --left;
      }
      EXPECT_EQ(left, 0);
    }
    protocol::health found;
    protocol::judge(asked.facts(), client, "db:6379", found);
    return found;
  }

  static protocol::checking_client a_client() {
    protocol::checking_client client;
    client.lease_ms = 30'000;
    client.drift_ppm = 100'000;
    return client;
  }

 private:
  static std::vector<std::vector<std::string>> commands_in(std::string_view bytes) {
    std::vector<std::vector<std::string>> found;
    redis::parser parser;
    while (parser.parse(bytes) == redis::parse_result::complete) {
      auto& words = found.emplace_back();
      for (std::size_t i = 0; i < parser.reply().size(); ++i) {
        words.emplace_back(parser.reply().at(i).text());
      }
      bytes.remove_prefix(parser.consumed());
    }
    return found;
  }

  std::string answer(const std::vector<std::string>& words, bool& is_queuing) {
    const auto& first = words.front();
    if (first == "MULTI") is_queuing = true;
    if (first == "EXEC") {
      is_queuing = false;
      const bool is_wrong = std::exchange(is_wrong_, false);
      if (is_wrong) return "-EXECABORT Transaction discarded because of previous errors.\r\n";
    }
    if (is_queuing && first == "ECHO") is_wrong_ = true;
    if (is_queuing && first != "MULTI" && first != "ECHO") {
      for (const auto& word : {first, words.size() > 1 ? first + " " + words[1] : first}) {
        if (refusals_.contains(word)) return refusals_[word];
      }
      return all_.empty() ? queued : all_;
    }
    std::string line;
    for (const auto& word : words) line += (line.empty() ? "" : " ") + word;
    if (replies_.contains(line)) return replies_[line];
    if (replies_.contains(first)) return replies_[first];
    return "-ERR unknown command '" + first + "', with args beginning with: \r\n";
  }
  protocol::probe_keys keys_{.lifted_ns = now_ns - ns_per_s};
  std::map<std::string, std::string> replies_;
  std::map<std::string, std::string> refusals_;
  std::string all_;
  bool is_wrong_ = false;
};

const protocol::finding& of(const protocol::health& found, const std::string& name) {
  for (const auto& item : found.findings) {
    if (item.name == name) return item;
  }
  throw std::runtime_error("no finding " + name);
}

// What a finding is, and the value that was seen.
::testing::AssertionResult is(const protocol::health& found, const std::string& name,
                              finding_severity wanted, const std::string& value) {
  const auto& item = of(found, name);
  if (item.severity == wanted && item.value == value) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << name << " is " << protocol::severity_text(item.severity) << ", " << item.value;
}

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
    silent.say(word, "$-1\r\n");
  }
  for (const auto* name : {"maxmemory-policy", "maxmemory", "appendonly", "appendfsync", "save",
                           "min-replicas-to-write", "lua-time-limit"}) {
    silent.say(std::string("CONFIG GET ") + name, "*0\r\n");
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
  // Valkey says that it is Redis 7.2.4, whatever it is.
  EXPECT_TRUE(is(server()
                     .info(with(with(redis_6, "redis_version", "7.2.4"), "valkey_version", "9.1.2"))
                     .check_health(),
                 "version", finding_severity::ok, "Valkey 9.1.2"));
}

TEST(health, role) {
  const auto replica =
      "*5\r\n" + bulk("slave") + bulk("10.0.0.1") + ":6379\r\n" + bulk("connected") + ":99\r\n";
  EXPECT_TRUE(
      is(server().say("ROLE", replica).check_health(), "role", finding_severity::bad, "replica"));
  EXPECT_TRUE(is(server().say("ROLE", refusal_7).info("role", "slave").check_health(), "role",
                 finding_severity::bad, "replica"));
  EXPECT_TRUE(is(server().say("ROLE", "*2\r\n" + bulk("sentinel") + "*0\r\n").check_health(),
                 "role", finding_severity::bad, "sentinel"));
}

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
  // As a service has it that shows no memory: CONFIG tells.
  server hidden;
  hidden.info("redis_version:7.1.0\r\n");
  hidden.configure("maxmemory-policy", "volatile-ttl").configure("maxmemory", "7");
  EXPECT_TRUE(is(hidden.check_health(), "maxmemory_policy", finding_severity::bad,
                 "volatile-ttl at 7 bytes"));
  hidden.say("CONFIG GET maxmemory", "-ERR unknown command 'CONFIG'\r\n");
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
  EXPECT_TRUE(is(server().info(appending).say("CONFIG GET appendfsync", refusal_6).check_health(),
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
  // What is on the disk before it counts is not forgotten.
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
  for (const auto& [acks, wanted] : std::map<int, finding_severity>{
           {-1, finding_severity::ok}, {1, finding_severity::warn}, {2, finding_severity::ok}}) {
    auto client = server::a_client();
    client.acks = acks;
    const auto found = replicated.check_health(ns_per_ms, now_us, client);
    EXPECT_TRUE(is(found, "replicas", wanted, "2 replicas")) << acks;
    EXPECT_EQ(of(found, "min_replicas").severity, wanted) << acks;
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
  replicated.say("CONFIG GET min-replicas-to-write", refusal_7);
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
  quiet.info("redis_version:7.0.15\r\n").say("ROLE", role);
  EXPECT_TRUE(is(quiet.check_health(), "replicas", finding_severity::warn, "1 replica"));
  EXPECT_EQ(of(quiet.check_health(), "replica_lag").severity, finding_severity::unknown);
}

TEST(health, rights) {
  for (const auto& refusal : {refusal_7, refusal_6}) {
    const auto found = server().refuse("GET", refusal).refuse("PUBSUB", refusal).check_health();
    EXPECT_TRUE(is(found, "rights", finding_severity::bad, "missing: +pubsub|numsub +get"));
    EXPECT_TRUE(is(server().refuse("PUBLISH", refusal).check_health(), "rights",
                   finding_severity::warn, "missing: +publish"));
    EXPECT_TRUE(is(server().say("INFO", refusal).say("CLIENT", refusal).check_health(), "rights",
                   finding_severity::warn, "missing: +info +client|kill"));
  }
  EXPECT_TRUE(is(
      server().refuse("PUBLISH", "-NOPERM No permissions to access a channel\r\n").check_health(),
      "rights", finding_severity::bad, "missing: &mortise:*"));
  EXPECT_TRUE(is(server()
                     .refuse("GET",
                             "-NOPERM this user has no permissions to access one of the "
                             "keys used as arguments\r\n")
                     .check_health(),
                 "rights", finding_severity::bad, "missing: ~{mortise:*"));
  // The name of a user decides nothing, and is never told.
  const auto named = server()
                         .refuse("LREM",
                                 "-NOPERM User the-keys has no permissions to run the "
                                 "'lrem' command\r\n")
                         .check_health();
  EXPECT_TRUE(is(named, "rights", finding_severity::warn, "missing: +lrem"));
  EXPECT_EQ(named.json().find("the-keys"), std::string::npos);
  // Without transactions nothing else is tried, as it would be carried out.
  const auto without = server().say("MULTI", refusal_7).check_health();
  EXPECT_TRUE(is(without, "rights", finding_severity::bad, "missing: +multi"));
  EXPECT_EQ(of(without, "writes").severity, finding_severity::unknown);
}

TEST(health, the_rights_are_those_of_the_rule) {
  std::set<std::string> wanted;
  for (const auto& word : rights_on_page("docs/server.md")) {
    if (word.starts_with('+')) wanted.insert(word.substr(1));
  }
  std::set<std::string> used;
  for (const auto& right : protocol::used_rights()) used.emplace(right.name);
  EXPECT_EQ(used, wanted);
}

TEST(health, commands_that_are_not_there) {
  const std::string unknown = "-ERR unknown command `LPOS`, with args beginning with: \r\n";
  EXPECT_TRUE(is(server().refuse("LPOS", unknown).check_health(), "commands", finding_severity::bad,
                 "missing: lpos"));
  EXPECT_TRUE(is(server().refuse("ZCOUNT", unknown).check_health(), "commands",
                 finding_severity::warn, "missing: zcount"));
  const std::string forbidden = "-ERR command not allowed by this service\r\n";
  const auto found = server().say("EVAL", forbidden).say("CLIENT", forbidden).check_health();
  EXPECT_TRUE(is(found, "eval", finding_severity::bad, "refused"));
  EXPECT_TRUE(is(found, "client_kill", finding_severity::warn, "refused"));
  EXPECT_TRUE(is(found, "commands", finding_severity::bad, "missing: eval client|kill"));
}

TEST(health, hazard_13_writes_that_are_refused) {
  for (const std::string word : {"OOM", "MISCONF", "NOREPLICAS", "READONLY"}) {
    const auto found =
        server().refuse("SET", "-" + word + " some words of the server\r\n").check_health();
    EXPECT_TRUE(is(found, "writes", finding_severity::bad, "refused with " + word));
    EXPECT_TRUE(is(found, "rights", finding_severity::ok, "none missing"));
    EXPECT_TRUE(is(found, "commands", finding_severity::ok, "none missing"));
  }
}

TEST(health, databases_that_are_shared) {
  const auto scan = "*2\r\n" + bulk("17") + "*3\r\n" + bulk("session:secret") +
                    bulk("mortise:fence") + bulk("{mortise:x}:q");
  const auto found = server().say("SCAN", scan).info("evicted_keys", "3").check_health();
  EXPECT_TRUE(is(found, "shared_database", finding_severity::warn,
                 "1 of 3 checked keys are not Mortise's"));
  EXPECT_TRUE(is(found, "evictions", finding_severity::warn, "3 keys"));
  EXPECT_EQ(found.json().find("secret"), std::string::npos);
}

TEST(health, hazard_4_the_clock) {
  EXPECT_TRUE(is(server().check_health(10 * ns_per_ms, now_us + 999'000), "clock_offset",
                 finding_severity::ok, "-999.000 ms"));
  EXPECT_TRUE(is(server().check_health(10 * ns_per_ms, now_us - 1'006'000), "clock_offset",
                 finding_severity::warn, "1006.000 ms"));
  // On a long way the half of it is not known.
  EXPECT_EQ(of(server().check_health(2 * ns_per_s, now_us + 1'900'000), "clock_offset").severity,
            finding_severity::ok);
  const auto since = [](std::int64_t seconds, std::int64_t moved_us) {
    auto client = server::a_client();
    const auto boot_ns = now_ns - ns_per_ms / 2 - seconds * ns_per_s;
    client.earlier = {now_us - seconds * 1'000'000 - moved_us, boot_ns};
    return of(server().check_health(ns_per_ms, now_us, client), "clock_step");
  };
  EXPECT_EQ(since(60, 900'000).severity, finding_severity::ok);
  EXPECT_EQ(since(60, 900'000).value, "none in 60 s");
  EXPECT_EQ(since(60, 2'000'000).severity, finding_severity::warn);  // within the drift of 10 %
  EXPECT_EQ(since(60, 8'000'000).severity, finding_severity::bad);
  EXPECT_EQ(since(60, -3'600'000'000).severity, finding_severity::bad);
  EXPECT_EQ(since(60, -3'600'000'000).value, "moved -3600000.000 ms in 60 s");
  EXPECT_TRUE(is(server().fence(now_us + 5'000'000).check_health(), "clock_step",
                 finding_severity::warn, "the fencing tokens are 5000.000 ms ahead of the clock"));
}

TEST(health, hazard_4_an_answer_that_came_late_says_less) {
  const auto moved = [](time_ns round_trip_ns) {
    auto client = server::a_client();
    client.earlier = {now_us - 61'900'000, now_ns - round_trip_ns / 2 - 60 * ns_per_s};
    return of(server().check_health(round_trip_ns, now_us, client), "clock_step").severity;
  };
  EXPECT_EQ(moved(ns_per_ms), finding_severity::warn);
  EXPECT_EQ(moved(4 * ns_per_s), finding_severity::ok);
  // The counter is looked at later than the clock.
  auto drawn = server().fence(now_us + 4'000'000);
  EXPECT_EQ(of(drawn.check_health(ns_per_ms), "clock_step").severity, finding_severity::warn);
  EXPECT_EQ(of(drawn.check_health(4 * ns_per_s), "clock_step").severity, finding_severity::ok);
}

TEST(health, hazard_30_tokens_are_lifted_to_the_end_of_a_quarantine) {
  auto client = server::a_client();
  client.quarantine_ms = 60'000;
  const auto of_quorum = [&](std::int64_t ahead_us) {
    return of(server().fence(now_us + ahead_us).check_health(ns_per_ms, now_us, client),
              "clock_step");
  };
  EXPECT_EQ(of_quorum(60'998'000).severity, finding_severity::ok);
  EXPECT_EQ(of_quorum(63'000'000).severity, finding_severity::warn);
}

TEST(health, hazard_30_other_writers_of_the_fence) {
  EXPECT_TRUE(is(server().check_health(), "fence", finding_severity::ok, "as this client left it"));
  EXPECT_TRUE(is(server()
                     .say("TYPE mortise:fence", "+none\r\n")
                     .say("GET mortise:fence", "$-1\r\n")
                     .check_health(),
                 "fence", finding_severity::warn, "deleted since this client connected"));
  EXPECT_TRUE(is(server().say("TYPE mortise:fence", "+list\r\n").check_health(), "fence",
                 finding_severity::bad, "the key is a list"));
  EXPECT_TRUE(is(server().fence(5).check_health(), "fence", finding_severity::bad,
                 "the counter is not a fencing token"));
  EXPECT_TRUE(is(server().say("GET mortise:fence", bulk("abc")).check_health(), "fence",
                 finding_severity::bad, "the counter is not a fencing token"));
  EXPECT_TRUE(is(server().fence(std::int64_t{1} << 53U).check_health(), "fence",
                 finding_severity::bad, "the counter is not a fencing token"));
  // This client connected a second ago, and lifted it to the clock.
  EXPECT_EQ(of(server().fence(now_us - 60'000'000).check_health(), "fence").severity,
            finding_severity::bad);
  EXPECT_TRUE(is(server().say("PTTL mortise:fence", ":-1\r\n").check_health(), "fence",
                 finding_severity::warn, "the counter was set without a TTL"));
  EXPECT_EQ(
      of(server().say("PTTL mortise:fence", ":8776000000\r\n").check_health(), "fence").severity,
      finding_severity::warn);
  // A grace period is noted there.
  EXPECT_EQ(
      of(server().say("PTTL mortise:fence", ":7776005000\r\n").check_health(), "fence").severity,
      finding_severity::ok);
}

// In a cluster a client keeps up the counters in the slots of its locks.
TEST(health, hazard_30_a_counter_that_this_client_has_not_kept_up) {
  auto unused = server().not_lifted().say("TYPE mortise:fence", "+none\r\n");
  EXPECT_TRUE(is(unused.check_health(), "fence", finding_severity::ok, "not used by this client"));
  EXPECT_EQ(of(server().not_lifted().fence(now_us - 60'000'000).check_health(), "fence").severity,
            finding_severity::ok);
  EXPECT_EQ(of(server().not_lifted().fence(5).check_health(), "fence").severity,
            finding_severity::bad);
  auto moved = server().say("TYPE mortise:fence", "-MOVED 1 127.0.0.1:1\r\n");
  EXPECT_TRUE(is(moved.check_health(), "fence", finding_severity::ok, "in a slot that has moved"));
}

TEST(health, times_of_the_server) {
  for (const auto* limit : {"0", "-1", "99", "60001"}) {
    EXPECT_EQ(of(server().configure("lua-time-limit", limit).check_health(), "script_time_limit")
                  .severity,
              finding_severity::warn);
  }
  EXPECT_TRUE(is(server().check_health(), "script_time_limit", finding_severity::ok, "5000 ms"));
  EXPECT_TRUE(
      is(server().check_health(100 * ns_per_ms), "round_trip", finding_severity::ok, "100.000 ms"));
  EXPECT_TRUE(is(server().check_health(101 * ns_per_ms), "round_trip", finding_severity::warn,
                 "101.000 ms"));
}

TEST(health, hazard_31_numbers_that_make_no_sense_are_unknown) {
  for (const auto* field : {"uptime_in_seconds", "evicted_keys", "maxmemory", "connected_slaves"}) {
    for (const auto* value : {"", "x", "1x", "99999999999999999999", " 1"}) {
      server odd;
      odd.info(field, value);
      odd.info(with(with(redis_6, field, value), "maxmemory_policy", "allkeys-lru"));
      for (const auto* silent : {"CONFIG GET maxmemory", "ROLE"}) odd.say(silent, refusal_7);
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
    EXPECT_EQ(of(server().say("TIME", time).check_health(), "clock_offset").severity,
              finding_severity::unknown);
  }
}

TEST(health, tls_that_is_not_verified_is_told_of_every_server) {
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

TEST(health, each_rule_is_told_in_full) {
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
