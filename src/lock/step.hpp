// The steps that the lock logic requests from the servers of one name, and their results. The
// protocol defines how a step_request travels, and which reply means which result (src/protocol).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/status.hpp"
#include "base/time.hpp"

namespace mortise::lock {

// All steps.
enum class step : std::uint8_t {
  try_take,       // take the lock if it is free; cheap, without a script where possible
  acquire,        // take the lock or a place in the queue, first time
  reacquire,      // the same for a token that may be queued or granted already
  retake,         // as try_take for a token that may have been granted already
  adopt,          // continue an exported hold: replace its owner token
  restore,        // undo this: the exported hold gets its owner token back
  renew,          // extend the lease, for its owner only; also releases permits
  raise,          // upgrade this owner to exclusive, if no other holder shares the lock
  release_alone,  // release, if no client waits
  release,
  cancel,
  set_value,  // set the value of this owner's hold, or remove it; the lease stays
};
constexpr auto step_count = static_cast<std::size_t>(step::set_value) + 1;

// One request for a step.
struct step_request {
  std::uint64_t claim_id = 0;  // the requesting claim
  std::uint32_t serial = 0;    // the number of the request in its claim
  step what = step::try_take;
  std::string_view token;    // the owner token of this attempt
  std::string_view secret;   // of the grant; empty before the first request for a place in a queue
  std::string_view adopted;  // adopt: the owner token of the exported hold
  std::int64_t ttl_ms = 0;
  std::int64_t reserve = 0;   // renew: how many fencing tokens to draw
  std::int64_t permits = 1;   // the requested permits
  std::int64_t capacity = 1;  // the capacity of the lock
  // How long the entries of other programs count, by mode: exclusive, shared.
  std::array<std::int64_t, 2> lifetimes_ms{};
  std::string_view value;     // set_value: empty to remove it
  std::int64_t proposal = 0;  // the fencing token that is proposed to a server of a quorum
  bool with_text = false;     // the server has forgotten the script (hazard 27)
  time_ns sent_at = 0;        // the time before the send; 0 if not needed
};

// The result of a step.
enum class answer : std::uint8_t {
  granted,   // owned
  not_free,  // owned by another; nothing was enqueued
  queued,    // waiting at the server
  renewed,
  not_owner,  // owned by another or free; nothing was changed
  released,
  handed_over,     // released, and a waiter has it now
  others_waiting,  // not released: a waiter must get the lock
  cancelled,       // was queued, is no longer queued
  value_set,       // also if the value was removed
  refused,         // rejected by the server, not executed
  no_script,       // not executed; send it again with the text
  // Executed, but too few replicas have it, so it is not reliable.
  unacknowledged,
  unknown,  // the reply is inconclusive
  broken,   // sent, and the connection broke before the reply
  unsent,   // not executed, and the connection ends: it broke before, or the server does not serve
};

struct step_result {
  answer what = answer::unknown;
  std::int64_t last_token = 0;  // of the tokens drawn
  std::int64_t token_count = 0;
  std::int64_t server_us = 0;  // the server's clock, or 0 if unknown
  std::int64_t ttl_ms = 0;     // of the present owner
  bool others_wait = false;
  bool is_replaced = false;  // not_owner: another client has the lock
  bool is_weaker = false;    // not_owner: the server of a quorum has a vote for a reader instead
  std::int64_t place = -1;   // in the queue, 0 is its head; -1 not queued
  outcome details;  // of refused, unacknowledged and unknown; of unsent if the server gave a reason
  bool is_passing = false;  // refused, unacknowledged: the condition is expected to end by itself
  // not_free: no other client has the lock, because the votes of a quorum are split.
  bool is_split = false;
  // refused, unsent: how long the servers will repeat the result. 0: unknown.
  std::int64_t wait_ms = 0;
  // not_free: when to ask again at the latest. 0: the requester decides.
  std::int64_t look_in_ns = 0;
  // not_free: the servers hold other clients back for the requester, until it cancels.
  bool is_noted = false;
};

}  // namespace mortise::lock
