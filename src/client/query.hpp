// What the server knows of a lock: asked for people, never to decide whether one may act.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "lock/protocol.hpp"

namespace mortise::redis {
class connection;
}

namespace mortise::client {

// The holder or a waiter.
struct lock_party {
  std::string owner;   // the owner token
  std::string client;  // the client's id within it
  std::string host;
  std::string label;
  std::int64_t pid = 0;
};

struct lock_info {
  bool is_held = false;
  bool is_mine = false;
  std::int64_t time_left_ms = -1;
  std::int64_t latest_token = 0;
  std::int64_t waiter_count = 0;
  std::vector<lock_party> entries;  // the holder, if there is one, then the first waiters
};

// Where a client tells its host and process; see record_text().
std::string record_key(std::string_view client_id);
// What it tells: "pid host".
std::string record_text();

outcome ask_query(redis::connection& server, const lock::key_set& keys, std::int64_t timeout_ms,
                  lock_info& info);
outcome ask_ping(redis::connection& server, std::int64_t timeout_ms);

}  // namespace mortise::client
