// What a connection is made of and what becomes known when it is greeted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/address.hpp"
#include "net/dialer.hpp"
#include "net/resolver.hpp"
#include "redis/command.hpp"
#include "redis/compare_and_delete.hpp"
#include "redis/credentials.hpp"

namespace mortise::redis {

// A command of the layer above that belongs to each handshake. It may be carried out more than once
// per session (RESP2 is tried after RESP3), so it has to be idempotent.
struct setup_command {
  // Which error replies refuse the session.
  enum class need : std::uint8_t { none, when_there_is_memory, always };
  std::string name;   // for messages
  std::string bytes;  // one command, with one reply
  need is_needed = need::none;
  // The same from a client that had a connection before, as of now; none where it makes no
  // difference. The I/O thread.
  std::function<std::string()> when_back = {};
};

struct connection_config {
  std::shared_ptr<net::resolver> where;
  net::transport_factory make_transport = {};  // empty: plain sockets
  const char* hint_at_end = "";                // where the server ends the handshake
  const char* why_no_cluster = nullptr;        // what a node of a cluster is refused with
  bool is_replica_wrong = false;               // a replica is not where a name leads for a moment
  bool is_of_sentinel = false;                 // a Sentinel is wanted, and no server of keys
  bool is_of_cluster = false;                  // one of its servers, whatever it is at the moment
  bool is_silence_normal = false;              // WAIT is sent, which blocks
  std::shared_ptr<credentials> identity = {};  // none: nobody logs in
  std::string client_name = {};
  std::string inbox = {};  // the channel to subscribe to; empty for none
  std::int64_t database = 0;
  std::vector<const script*> scripts = {};
  std::vector<setup_command> setup = {};
  bool needs_multi = false;  // transactions, which a server without HELLO may lack
  // A key that nobody ever writes, to try out what the server knows; empty: it is not tried.
  std::string probe_key = {};
  // Bounds each attempt to connect, and how long an open request may stay without an answer.
  std::int64_t command_timeout_ms = 3000;
  std::int64_t busy_poll_us = 0;  // -1: as long as it pays
  // How often it is looked whether the name still leads to the server that is connected to; 0 for
  // never, as long as that answers.
  std::int64_t look_interval_ms = 0;
  std::size_t output_limit_bytes = 4U << 20U;
  std::uint64_t open_requests_limit = 65536;
};

enum class server_kind { redis, valkey };

struct session_facts {
  server_kind kind = server_kind::redis;
  std::string version = {};  // "7.0.15"; empty when the server would not tell
  int version_number = 0;    // 7000015; 0 when unknown
  std::string run_id = {};   // names one run of the server process; empty when unknown
  std::string role = {};     // "master"; empty when unknown
  std::string mode = {};     // "cluster", "standalone"; empty when unknown
  std::int64_t client_id = 0;
  int protocol = 3;  // 3, or 2 where the server has no HELLO 3
  // What the server knows, and lets this user do.
  redis::compare_and_delete compare_and_delete = redis::compare_and_delete::none;
  bool is_reconnect = false;
  net::address at;        // where it is
  std::string host = {};  // whose address that is, as the resolver says
};

}  // namespace mortise::redis
