// Which server of a cluster has which slots, as the servers report it. Parses the reply to CLUSTER
// SLOTS, and rejections of commands for another server's slot. Pure.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redis/resp/resp.hpp"

namespace mortise::cluster {

struct endpoint {
  std::string host;
  int port = 0;

  friend auto operator<=>(const endpoint&, const endpoint&) = default;
  // "10.0.0.1:6379", "[::1]:6379".
  [[nodiscard]] std::string text() const;
};

struct slot_range {
  int first = 0;
  int last = 0;
  endpoint master;
  std::vector<endpoint> replicas;
  std::int64_t epoch = 0;  // config epoch of the master's claim; 0: unknown
};

// For CLUSTER SLOTS where each slot is a range of its own, with a few servers that report their
// names.
inline constexpr redis::parser_limits reply_limits{.reply_bytes = 32U << 20U,
                                                   .elements = 1U << 20U};

// The config epochs of masters, by node id. A slot belongs to the claim with the highest epoch.
using config_epochs = std::map<std::string, std::int64_t, std::less<>>;
// Parses the reply to CLUSTER NODES. Skips lines of another shape.
config_epochs read_epochs(std::string_view nodes);

// Parses the reply of `server` to CLUSTER SLOTS. A server without an address or name of
// its own ("?") is `server` itself. False for a reply of another shape. The epochs are from the
// same server.
bool read_slots(const redis::value& reply, const endpoint& server, const config_epochs& epochs,
                std::vector<slot_range>& result);

struct redirection {
  int slot = 0;
  endpoint target;
};

// "MOVED 3999 127.0.0.1:6381": the slot has moved there permanently. nullopt for another error.
std::optional<redirection> read_moved(std::string_view error, const endpoint& server);
// "ASK 3999 127.0.0.1:6381": the keys of the command are at that server, or do not exist. The slot
// has not moved there yet.
std::optional<redirection> read_ask(std::string_view error, const endpoint& server);
// ASK, or TRYAGAIN: the slot is being moved, and some of its keys are at the other server. The
// command was not executed.
bool is_migration_error(std::string_view error) noexcept;
// The same in a running script, because one of its keys has expired meanwhile:
//   ERR Script attempted to access a non local key in a cluster node script: 3f…, on
//   @user_script:7.
// Earlier writes of the script remain.
bool is_cut_short(std::string_view error) noexcept;

}  // namespace mortise::cluster
