// What the server knows of a lock, and what may be changed from outside: asked for people, never to
// decide whether one may act.
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
  std::string client;         // the client's id within it,
  std::uint64_t gate_id = 0;  // and which of its gates
  std::string host;
  std::string label;
  std::int64_t pid = 0;
  bool is_exclusive = true;
  std::int64_t weight = 1;
  // What the owner token says; and what its client does when it is asked.
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
  std::int64_t shown_holders = 0;   // how many of the entries are holders; the rest are waiters
  std::vector<lock_party> entries;  // the first holders, then the first waiters
};

// `asked` has the owner token of the asker's hold, or an empty one, with its weight and limit. The
// arguments have to live until it is answered or nobody waits for it any more.
command query(const table& rules, const key_set& keys, const lock::step_request& asked,
              lock_info& info);
// Changes how many permits the semaphore with these keys has.
command resize(const key_set& keys, std::int64_t permits);
// Ends the hold with this owner token, for everybody and at once, and tells its owner. `was_owner`
// becomes true where it was one, at any server; it is not written to otherwise.
command force_release(const table& rules, const key_set& keys, std::string_view owner,
                      const lock::step_request& asked, bool& was_owner);

// The number that a text begins with, or 0.
std::int64_t number_in(std::string_view text);

}  // namespace mortise::protocol
