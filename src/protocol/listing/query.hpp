// The server's state of a lock, and changes from outside. For people only: no client decides by it
// whether it may act.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/command.hpp"
#include "protocol/table.hpp"

namespace mortise::protocol {

// The holder or a waiter.
struct lock_party {
  std::string owner;          // the owner token
  std::string client;         // the client's ID in the token
  std::uint64_t gate_id = 0;  // the client's gate
  std::string host;
  std::string label;
  std::string value;  // of a holder
  std::int64_t pid = 0;
  bool is_exclusive = true;
  std::int64_t permits = 1;
  // The first value is from the owner token. The second one is the client's reply to a request.
  bool may_be_retained = false;
  bool is_retained = false;
};

struct lock_info {
  bool is_held = false;
  bool is_mine = false;
  std::int64_t time_left_ms = -1;
  std::int64_t latest_token = 0;
  std::int64_t waiter_count = 0;
  std::int64_t holder_count = 0;
  std::int64_t permits_in_use = 0;  // of `permits`, by the holders
  std::int64_t permits = 0;
  std::int64_t shown_holders = 0;   // how many entries are holders; the rest are waiters
  std::vector<lock_party> entries;  // the first holders, then the first waiters
};

// `request` has the owner token, permits and capacity of the requester's hold. The token may be
// empty.
// The arguments must live until the reply, or until nobody waits for it.
command query(const table& rules, const key_set& keys, const lock::step_request& request,
              lock_info& info);
// Reads the values of the shown holders of the lock with this key. Each is stored under the owner
// token, so no value of an earlier holder is read.
command read_values(lock_info& info, std::string_view lock_key);
// Changes the capacity of the semaphore with these keys.
command resize(const key_set& keys, std::int64_t capacity);
// Replaces the owner token `request.adopted` of a hold by `request.token`, with this lease.
command export_hold(const table& rules, const key_set& keys, const lock::step_request& request,
                    bool& was_owner);
// Ends the hold of this owner token at once, for all clients, and notifies its owner. Sets
// `was_owner` to true where the token was an owner, at any server. Otherwise leaves it unchanged.
command force_release(const table& rules, const key_set& keys, std::string_view owner,
                      const lock::step_request& request, bool& was_owner);

// The number at the start of a text, or 0.
std::int64_t number_in(std::string_view text);

}  // namespace mortise::protocol
