// What the lock logic asks of the servers that speak for a name, and what it is told. How a
// step_request travels, and which reply means what, is a protocol's business (src/protocol).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/status.hpp"
#include "base/time.hpp"

namespace mortise::lock {

// The questions that there are.
enum class step : std::uint8_t {
  try_take,       // take it if it is free; the cheap way, without a script where possible
  acquire,        // take it or take a place in the queue, first time
  reacquire,      // the same for a token that may be queued or granted already
  retake,         // as try_take for a token that may have been granted already
  renew,          // prolong it, for its owner only; also lowers its weight
  raise,          // take all of what this owner already has a part of, if nobody else has any
  release_alone,  // release, in the belief that nobody waits
  release,
  cancel,
};
constexpr auto step_count = static_cast<std::size_t>(step::cancel) + 1;

// One step to be asked.
struct step_request {
  std::uint64_t claim_id = 0;  // who asks
  std::uint32_t serial = 0;    // which of its questions
  step what = step::try_take;
  std::string_view token;  // the owner token of this attempt
  std::int64_t ttl_ms = 0;
  std::int64_t reserve = 0;  // renew: how many fencing tokens to draw
  std::int64_t weight = 1;   // how much of the lock is wanted,
  std::int64_t limit = 1;    // of how much there is
  // For how long what others wrote counts, by their mode: the whole, a part.
  std::array<std::int64_t, 2> lifetimes_ms{};
  std::int64_t proposal = 0;  // the fencing token that is proposed to a server of a quorum
  bool with_text = false;     // the server has forgotten the script (hazard 27)
  time_ns asked_at = 0;       // read before it is sent; 0 where nobody wants to know
};

// What became of a step.
enum class answer : std::uint8_t {
  granted,   // owned
  not_free,  // owned by another; nothing was enqueued
  queued,    // waiting at the server
  renewed,
  not_owner,  // owned by another or by nobody; nothing was changed
  released,
  handed_over,     // released, and a waiter has it now
  others_waiting,  // not released: somebody waits, who has to be handed over to
  cancelled,       // was queued, is not any more
  refused,         // the server says no and has not carried it out
  no_script,       // not carried out; ask again with the text
  // Carried out, and too few replicas have it: nobody may rely on it.
  unacknowledged,
  unknown,  // it answered with something that says neither yes nor no
  broken,   // sent, and the connection broke before the answer
  unsent,   // not carried out, and its connection ends: it broke before, or the server does not
            // serve
};

struct step_result {
  answer what = answer::unknown;
  std::int64_t last_token = 0;  // of the tokens drawn
  std::int64_t token_count = 0;
  std::int64_t server_us = 0;  // the server's clock, 0 when not told
  std::int64_t ttl_ms = 0;     // of the present owner
  bool others_wait = false;
  bool is_replaced = false;  // not_owner: another has it
  std::int64_t place = -1;   // in the queue, 0 is its head; -1 not queued
  outcome details;  // of refused, unacknowledged and unknown; of unsent where the server said why
  bool is_passing = false;  // the first two: the server is expected to change its mind by itself
  // not_free: no other has it either, as the votes of a quorum are split.
  bool is_split = false;
  // refused, unsent: how long the servers are going to say the same; 0 where they do not say.
  std::int64_t wait_ms = 0;
  // not_free: when to ask again at the latest; 0 where that is for the asker to say.
  std::int64_t look_in_ns = 0;
  // not_free: the servers hold others back for who asked, until it cancels.
  bool is_noted = false;
};

}  // namespace mortise::lock
