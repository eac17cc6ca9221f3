// Which server of a cluster has which slots, as the servers tell: in their answer to CLUSTER SLOTS,
// and where one refuses a command for another's slot. Pure.
#pragma once

#include <compare>
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
};

// What the server that was asked there says. A server that knows no address of its own, or no name
// ("?"), is the one that was asked. False for a reply of another shape.
bool read_slots(const redis::value& reply, const endpoint& asked, std::vector<slot_range>& into);

struct redirection {
  int slot = 0;
  endpoint to;
};

// "MOVED 3999 127.0.0.1:6381": the slot has gone there for good. Nothing for another error.
std::optional<redirection> read_moved(std::string_view error, const endpoint& asked);
// "ASK 3999 127.0.0.1:6381", or TRYAGAIN: the slot is on its way, and some of its keys are there.
bool is_on_its_way(std::string_view error) noexcept;

}  // namespace mortise::cluster
