// How a server is asked whether its replicas have what it has granted, and what it says to that
// (hazards 8 to 10). It is asked on a connection of its own, whose own last write counts: what
// replicas have of that they have of all that came before it, on whichever connection. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "redis/resp.hpp"

namespace mortise::protocol {

// What the option `acks` and `durability` want.
struct acknowledgement_terms {
  static constexpr std::int64_t all = -1;
  std::int64_t replicas = 0;
  bool is_fsynced = false;
};

// Two commands, of which one is a write that replicas get, even where memory has run out.
void write_mark(std::string& out, std::string_view client_id, std::string_view place);
bool is_marked(const redis::value& made, const redis::value& prolonged) noexcept;

// Waits until so many replicas have the last mark, or this time has passed.
void write_wait(std::string& out, const acknowledgement_terms& terms, std::int64_t replicas,
                std::int64_t timeout_ms);
// How many have it; -1 where the server was to write it to its disk, and has not.
std::int64_t read_wait(const acknowledgement_terms& terms, const redis::value& reply) noexcept;

// What a server says of its replication.
struct replication {
  std::string history;         // names its data: after a failover and back it is another
  std::int64_t online = 0;     // replicas that have been given all of it once
  std::int64_t connected = 0;  // replicas in any state
};
void write_replication(std::string& out);
// Nothing for a server that hides it, or is a replica.
std::optional<replication> read_replication(std::string_view info);

// How many replicas a server of a cluster has, by the name that it has there: those that the
// cluster does not hold to be gone, whether they are connected or not.
void write_own_name(std::string& out);
void write_replicas(std::string& out, std::string_view name);
std::optional<std::int64_t> count_replicas(const redis::value& reply) noexcept;

}  // namespace mortise::protocol
