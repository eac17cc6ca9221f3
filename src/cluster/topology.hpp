// Which server of a cluster has which slots, as the servers tell: in their answer to CLUSTER SLOTS,
// and where one refuses a command for another's slot. Pure.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redis/resp.hpp"

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

// The config epochs of masters, by node id. A slot belongs to the claim with the highest epoch.
using config_epochs = std::map<std::string, std::int64_t, std::less<>>;
// From the answer to CLUSTER NODES. Skips lines of another shape.
config_epochs read_epochs(std::string_view nodes);

// What the server that was asked there says. A server that knows no address of its own, or no name
// ("?"), is the one that was asked. False for a reply of another shape.
// Epochs are those of the same server.
bool read_slots(const redis::value& reply, const endpoint& asked, const config_epochs& epochs,
                std::vector<slot_range>& into);

struct redirection {
  int slot = 0;
  endpoint to;
};

// "MOVED 3999 127.0.0.1:6381": the slot has gone there for good. Nothing for another error.
std::optional<redirection> read_moved(std::string_view error, const endpoint& asked);
// "ASK 3999 127.0.0.1:6381": the keys that the command names are there, or nowhere. The slot is not
// yet.
std::optional<redirection> read_ask(std::string_view error, const endpoint& asked);
// ASK, or TRYAGAIN: the slot is being moved, and some of its keys are at the other server. The
// command was not carried out.
bool is_on_its_way(std::string_view error) noexcept;
// The same met by a script that had begun, because a key of it had come to its end in the meantime:
//   ERR Script attempted to access a non local key in a cluster node script: 3f…, on
//   @user_script:7.
// What the script has written before that stays.
bool is_cut_short(std::string_view error) noexcept;

}  // namespace mortise::cluster
