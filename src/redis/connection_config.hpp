// What a connection needs, and the facts that its handshake finds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "net/dial/address.hpp"
#include "net/dial/dialer.hpp"
#include "net/dial/resolver.hpp"
#include "redis/login/credentials.hpp"
#include "redis/resp/command.hpp"
#include "redis/resp/resp.hpp"
#include "redis/service/compare_and_delete.hpp"

namespace mortise::redis {

// A command of the layer above, for each handshake. It must be idempotent, because it may run more
// than once per session (RESP2 is tried after RESP3).
struct setup_command {
  // Which error replies refuse the session.
  enum class need : std::uint8_t { none, when_there_is_memory, always };
  std::string name;   // for messages
  std::string bytes;  // one command, with one reply
  need is_needed = need::none;
  // The same command for a client that was connected before, computed now; empty if it does not
  // differ. Called on the I/O thread.
  std::function<std::string()> when_back = {};
};

struct connection_config {
  std::shared_ptr<net::resolver> where;
  net::transport_factory make_transport = {};  // empty: plain sockets
  const char* hint_at_end = "";                // for a server that ends the handshake
  const char* why_no_cluster = nullptr;        // the refusal of a cluster's node
  bool is_replica_wrong = false;               // a replica is a definite error, not a passing state
  bool is_of_sentinel = false;                 // a Sentinel is expected, not a data server
  bool is_of_cluster = false;                  // any of its servers, in any role
  bool is_silence_normal = false;              // WAIT is sent, which blocks
  std::shared_ptr<credentials> identity = std::make_shared<credentials>(login{}, "");
  std::string client_name = {};
  std::string inbox = {};  // the channel to subscribe to; empty for none
  std::int64_t database = 0;
  std::vector<const script*> scripts = {};
  std::vector<setup_command> setup = {};
  bool needs_multi = false;  // transactions, which a proxy may lack
  // A key that no client ever writes, to probe the commands of the server; empty: no probes.
  std::string probe_key = {};
  // Limits each attempt to connect, and the time of an open request without an answer.
  std::int64_t command_timeout_ms = 3000;
  std::int64_t busy_poll_us = 0;  // -1: as long as it pays off
  // How often to check that the name still resolves to the connected server. 0 checks only while
  // the server is silent.
  std::int64_t look_interval_ms = 0;
  std::size_t output_limit_bytes = 4U << 20U;
  parser_limits reply_limits = {};
  std::uint64_t open_requests_limit = 65536;
};

enum class server_kind { redis, valkey };

struct session_facts {
  server_kind kind = server_kind::redis;
  std::string version = {};  // "7.0.15"; empty if the server did not report it
  int version_number = 0;    // 7000015; 0 when unknown
  std::string run_id = {};   // one run of the server process; empty when unknown
  std::string role = {};     // "master"; empty when unknown
  std::string mode = {};     // "cluster", "standalone"; empty when unknown
  std::int64_t client_id = 0;
  int protocol = 3;  // 3, or 2 where the server has no HELLO 3
  // The command that the server has, and that this user may use.
  redis::compare_and_delete compare_and_delete = redis::compare_and_delete::none;
  bool is_reconnect = false;
  time_ns handshake_ns = 0;  // when the handshake began
  net::address at;           // the server's address
  std::string host = {};     // the host of that address, by the resolver
};

}  // namespace mortise::redis
