// A server with the replies of Redis 6.2 to a health check, and the findings that result.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/health/health.hpp"
#include "protocol/health/server_probe.hpp"
#include "redis/resp/resp.hpp"

namespace mortise::testing::health_server {

using protocol::finding_severity;

constexpr std::int64_t now_us = 1'795'329'365'000'000;
constexpr time_ns now_ns = 40'000 * ns_per_s;

inline std::string bulk(const std::string& text) {
  return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}

inline std::string parameter(const std::string& name, const std::string& value) {
  return "*2\r\n" + bulk(name) + bulk(value);
}

inline const std::string refusal_7 =
    "-NOPERM User locker has no permissions to run the 'x' command\r\n";
inline const std::string refusal_6 =
    "-NOPERM this user has no permissions to run the 'x' command or its subcommand\r\n";
inline const std::string queued = "+QUEUED\r\n";

inline const std::string redis_6 =
    "# Server\r\nredis_version:6.2.14\r\nrun_id:3cd6568393654c7bc9dc99c17c268aac8f02b609\r\n"
    "uptime_in_seconds:7200\r\n# Memory\r\nmaxmemory:0\r\nmaxmemory_human:0B\r\n"
    "maxmemory_policy:noeviction\r\n# Persistence\r\naof_enabled:0\r\n"
    "aof_last_write_status:ok\r\n# Stats\r\nevicted_keys:0\r\n# Replication\r\nrole:master\r\n"
    "connected_slaves:0\r\nmaster_repl_offset:0\r\n";

inline std::string with(std::string info, const std::string& field, const std::string& value) {
  const auto at = info.find("\r\n" + field + ":");
  const auto line = field + ":" + value + "\r\n";
  if (at == std::string::npos) return info + line;
  return info.replace(at + 2, info.find("\r\n", at + 2) - at, line);
}

// A server with one reply for each command, or for each first word of a command.
class server {
 public:
  server() {
    reply("TIME", "*2\r\n" + bulk(std::to_string(now_us / 1'000'000)) + bulk("0"));
    reply("MULTI", "+OK\r\n");
    reply("EXEC", "*0\r\n");
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
    reply("ROLE", "*3\r\n" + bulk("master") + ":0\r\n*0\r\n");
    reply("EVAL", ":1\r\n");
    reply("CLIENT", ":0\r\n");
    reply("TYPE mortise:fence", "+string\r\n");
    fence(now_us - 1'000'000);
    reply("PTTL mortise:fence", ":7775999000\r\n");
    reply("SCAN", "*2\r\n" + bulk("0") + "*2\r\n" + bulk("mortise:fence") + bulk("{mortise:a}"));
    reply("ECHO", "-ERR wrong number of arguments for 'echo' command\r\n");
  }

  server& reply(const std::string& words, const std::string& reply) {
    replies_[words] = reply;
    return *this;
  }
  server& info(const std::string& text) { return reply("INFO", bulk(text)); }
  server& info(const std::string& field, const std::string& value) {
    return info(with(redis_6, field, value));
  }
  server& configure(const std::string& name, const std::string& value) {
    return reply("CONFIG GET " + name, parameter(name, value));
  }
  // This client does not keep up the fence counter.
  server& not_lifted() {
    keys_.lifted_ns = 0;
    return *this;
  }
  server& fence(std::int64_t counter) {
    return reply("GET mortise:fence", bulk(std::to_string(counter)));
  }
  // The reply to a command that is queued.
  server& refuse(const std::string& word, const std::string& reply) {
    refusals_[word] = reply;
    return *this;
  }
  server& refuse_all(const std::string& reply) {
    all_ = reply;
    return *this;
  }

  protocol::health check_health(time_ns round_trip_ns = ns_per_ms, std::int64_t wall_us = now_us,
                                protocol::checking_client client = a_client()) {
    protocol::server_probe probe(0, keys_);
    time_ns now = now_ns - round_trip_ns;
    while (!probe.is_over()) {
      std::string bytes;
      int left = probe.write_round(bytes, now);
      now += round_trip_ns;
      bool is_queuing = false;
      for (const auto& words : commands_in(bytes)) {
        const auto reply = answer(words, is_queuing);
        redis::parser parser;
        EXPECT_EQ(parser.parse(reply), redis::parse_result::complete) << reply;
        probe.take(parser.reply(), now, wall_us + round_trip_ns / 2 / ns_per_us);
        --left;
      }
      EXPECT_EQ(left, 0);
    }
    protocol::health found;
    protocol::judge(probe.facts(), client, "db:6379", found);
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

inline const protocol::finding& of(const protocol::health& found, const std::string& name) {
  for (const auto& item : found.findings) {
    if (item.name == name) return item;
  }
  throw std::runtime_error("no finding " + name);
}

// Checks the severity and the value of a finding.
inline ::testing::AssertionResult is(const protocol::health& found, const std::string& name,
                                     finding_severity expected, const std::string& value) {
  const auto& item = of(found, name);
  if (item.severity == expected && item.value == value) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << name << " is " << protocol::severity_text(item.severity) << ", " << item.value;
}

}  // namespace mortise::testing::health_server
