// What a health check has learnt of a server. What the server hides is not there.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"

namespace mortise::protocol {

// What a server's clock said at a time of ours.
struct clock_sample {
  std::int64_t server_us = 0;
  time_ns boot_ns = 0;
  std::int64_t error_us = 0;  // by how much one of the two may be off
};

struct server_facts {
  std::string info;                           // as INFO says it
  std::map<std::string, std::string> config;  // of CONFIG GET
  std::optional<std::string> role;            // of ROLE: "master", "slave"
  std::optional<std::int64_t> replica_count;  // the same

  std::optional<clock_sample> clock;
  std::int64_t clock_offset_us = 0;  // of that clock against this host's wall clock
  time_ns round_trip_ns = 0;         // the shorter one
  time_ns heard_ns = 0;              // when the last answer came

  // What came of trying each right: what is refused, and commands that are not there.
  struct {
    bool is_known = false;
    std::vector<std::string_view> refused;
    std::vector<std::string_view> missing;
    bool is_essential_refused = false;
    bool is_essential_missing = false;
  } rights;
  std::optional<std::string> write_error;  // its first word; "" where writes are taken
  bool is_key_elsewhere = false;           // in a cluster: so nothing is known of writes
  // Whether the server does these, where it was asked.
  std::optional<bool> has_eval;
  std::optional<bool> has_client_kill;

  // The fence counter: its type ("none" when it is not there), value and TTL.
  std::optional<std::string> fence_type;
  std::optional<std::string> fence;
  std::optional<std::int64_t> fence_ttl_ms;
  bool is_fence_elsewhere = false;  // its slot has left this server of a cluster
  time_ns fence_lifted_ns = 0;      // since when the client has kept it up; 0: it does not

  // Some keys of the database.
  struct key_sample {
    std::int64_t seen = 0;
    std::int64_t foreign = 0;  // not Mortise's
  };
  std::optional<key_sample> keys;

  // A field of INFO, if it was told.
  [[nodiscard]] std::optional<std::string_view> told(std::string_view field) const;
  // The same as a whole number.
  [[nodiscard]] std::optional<std::int64_t> count(std::string_view field) const;
  // A parameter of CONFIG, if it was told.
  [[nodiscard]] std::optional<std::string_view> configured(const std::string& parameter) const;
};

// The whole number that a text is; nothing for any other text.
std::optional<std::int64_t> whole_number(std::string_view text);

}  // namespace mortise::protocol
