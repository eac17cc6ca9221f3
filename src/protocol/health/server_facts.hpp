// Facts about a server for a health check. Facts that the server hides are absent.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"

namespace mortise::protocol {

// A reading of a server's clock at a local time.
struct clock_sample {
  std::int64_t server_us = 0;
  time_ns boot_ns = 0;
  std::int64_t error_us = 0;  // the largest error of the two readings
};

struct server_facts {
  std::string key_prefix;                     // of the client, see settings::key_prefix
  std::string info;                           // the text of INFO
  std::map<std::string, std::string> config;  // CONFIG GET
  std::optional<std::string> role;            // ROLE: "master", "slave"
  std::optional<std::int64_t> replica_count;  // ROLE

  std::optional<clock_sample> clock;
  std::int64_t clock_offset_us = 0;  // server's clock minus this host's wall clock
  time_ns round_trip_ns = 0;         // the shorter round trip
  time_ns heard_ns = 0;              // time of the last reply

  // The result of the trial of each right: refused rights, and unknown commands.
  struct right_trial {
    bool is_known = false;
    std::vector<std::string> refused;
    std::vector<std::string> missing;
    bool is_essential_refused = false;
    bool is_essential_missing = false;
  };
  right_trial rights;
  std::optional<std::string> write_error;  // the first word of the error; "" when writes succeed
  bool is_key_in_other_slot = false;       // in a cluster; writes were not tried then
  // Whether the server has these commands, where tried.
  std::optional<bool> has_eval;
  std::optional<bool> has_client_kill;

  // The fence counter: its type ("none" when it is not there), value and TTL.
  std::optional<std::string> fence_type;
  std::optional<std::string> fence;
  std::optional<std::int64_t> fence_ttl_ms;
  bool is_fence_in_other_slot = false;  // its slot has moved from this server of a cluster
  time_ns fence_lifted_ns = 0;          // since when the client lifts it; 0: never

  // A sample of the database's keys.
  struct key_sample {
    std::int64_t seen = 0;
    std::int64_t foreign = 0;  // not Mortise's keys
  };
  std::optional<key_sample> keys;

  // A field of INFO, if reported.
  [[nodiscard]] std::optional<std::string_view> info_field(std::string_view field) const;
  // The same as an integer.
  [[nodiscard]] std::optional<std::int64_t> count(std::string_view field) const;
  // A parameter of CONFIG, if reported.
  [[nodiscard]] std::optional<std::string_view> configured(const std::string& parameter) const;
};

// The integer in a text; nullopt for any other text.
std::optional<std::int64_t> whole_number(std::string_view text);

}  // namespace mortise::protocol
