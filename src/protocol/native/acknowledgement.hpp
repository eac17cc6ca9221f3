// Requests to a server whether its replicas have its grants, and the replies (hazards 8 to 10).
// They use a connection of their own, whose last write counts: replicas that have this write also
// have all earlier writes of all connections. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/client_identity.hpp"
#include "redis/resp/resp.hpp"

namespace mortise::protocol {

// The values of the options `acks` and `durability`.
struct acknowledgement_terms {
  static constexpr std::int64_t all = -1;
  std::int64_t replicas = 0;
  bool is_fsynced = false;
};

// Two commands, one of which is a write that reaches replicas, even when memory has run out.
void write_mark(std::string& out, const client_identity& client, std::string_view place);
bool is_marked(const redis::value& made, const redis::value& prolonged) noexcept;

// Waits until this many replicas have the last mark, or this time has passed.
void write_wait(std::string& out, const acknowledgement_terms& terms, std::int64_t replicas,
                std::int64_t timeout_ms);
// How many replicas have the mark; -1 when the server has not written it to disk as requested.
std::int64_t read_wait(const acknowledgement_terms& terms, const redis::value& reply) noexcept;

// The replication state that a server reports.
struct replication {
  std::string history;         // ID of its data; a failover and failback change it
  std::int64_t online = 0;     // replicas that once received all data
  std::int64_t connected = 0;  // replicas in any state
};
void write_replication(std::string& out);
// nullopt when the server hides its state or is a replica.
std::optional<replication> read_replication(std::string_view info);

// How many replicas a server of a cluster has, by the server's node name. Replicas that the cluster
// considers failed are omitted. Disconnected ones count.
void write_own_name(std::string& out);
void write_replicas(std::string& out, std::string_view name);
std::optional<std::int64_t> count_replicas(const redis::value& reply) noexcept;

}  // namespace mortise::protocol
