// A protocol: how each step of the machinery is asked of a server and what the answer means. It is a
// table of scripts; all scripts take the same arguments and give the same replies, so one writer and
// one reader (protocol.cpp) serve all protocols. It knows nothing of time, waiting or retries.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "redis/command.hpp"
#include "redis/resp.hpp"

namespace mortise::lock {

// The rows of a protocol's table.
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
constexpr std::size_t step_count = 9;

// One step to be asked.
struct question {
  std::uint64_t tenure = 0;  // who asks
  std::uint32_t serial = 0;  // which of its questions
  step what = step::try_take;
  std::string_view token;  // the owner token of this attempt
  std::int64_t ttl_ms = 0;
  std::int64_t reserve = 0;  // renew: how many fencing tokens to draw
  std::int64_t weight = 1;   // how much of the lock is wanted,
  std::int64_t limit = 1;    // of how much there is
  // For how long what others wrote counts, by their mode: the whole, a part.
  std::array<std::int64_t, 2> lifetimes_ms{};
  bool with_text = false;  // the server has forgotten the script (hazard 27)
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
  unknown,         // it answered with something that says neither yes nor no
  broken,          // sent, and the connection broke before the answer
  unsent,          // the connection broke before it was sent
};

struct verdict {
  answer what = answer::unknown;
  std::int64_t last_token = 0;  // of the tokens drawn
  std::int64_t token_count = 0;
  std::int64_t server_us = 0;  // the server's clock, 0 when not told
  std::int64_t ttl_ms = 0;     // of the present owner
  bool others_wait = false;
  bool is_replaced = false;  // not_owner: another has it
  std::int64_t place = -1;   // in the queue, 0 is its head; -1 not queued
  outcome details;           // of refused and unknown
};

// How somebody who does not get the lock waits for it.
enum class waiting : std::uint8_t {
  queue,    // in a queue at the server, which grants directly
  channel,  // asks again when the holder's program says so on a channel, and when the lease ends
  polling,  // asks again and again
};

// The keys of one name, in the order in which the scripts take them: the lock itself, the fence
// counter of the database, and what else the protocol has. All but the fence share one hash tag.
using key_set = std::vector<std::string>;

// What an owner token is made of.
struct owner_seed {
  std::string_view client;   // unique; 16 letters and digits
  std::uint64_t keeper = 0;  // which of the client's gates asks: a grant finds its way by it
  std::uint64_t attempt = 0;
  std::string_view label;
  std::int64_t grant_ttl_ms = 0;
};

// How a step is asked: a script, how many of the keys it takes, and how many of the arguments, which
// are always in this order: owner token, ttl in ms, mode or reserve, weight, limit; or the lifetimes
// of a part and of the whole instead of the limit.
struct protocol_row {
  const redis::script* code = nullptr;  // nullptr: this protocol cannot do that
  std::size_t keys = 0;
  std::size_t arguments = 0;
  std::string_view mode;
};

struct protocol {
  std::string_view name;
  waiting how = waiting::queue;
  // Taken with SET NX and no script, which needs the lock to be a string that holds the owner token.
  bool is_plain_string = false;
  // Entries of holders and waiters begin with a weight and a space.
  bool has_weights = false;
  key_set (*keys)(std::string_view name) = nullptr;
  // Where a release is told to all who wait; nullptr for nowhere.
  std::string (*channel)(std::string_view name) = nullptr;
  std::string (*owner_token)(const owner_seed& seed) = nullptr;
  std::array<protocol_row, step_count> rows;
  protocol_row query;

  [[nodiscard]] const protocol_row& row(step what) const {
    return rows.at(static_cast<std::size_t>(what));
  }
};

// Appends the commands of one step, in RESP, and returns how many replies they have.
int write_step(std::string& out, const protocol& rules, const question& asked, const key_set& keys);
// Reads the reply (of several replies: the first error, or else the last).
verdict read_step(const protocol& rules, step what, const redis::value& reply);
// One script call by hand, for what is not a step.
void write_script(std::string& out, const protocol_row& row, const question& asked,
                  const key_set& keys);

// The default protocol of the mutex: FIFO at the server, direct grant.
const protocol& queued_protocol();

// The same for read-write locks and semaphores, where many hold a part.
const protocol& queued_rw_protocol();
const protocol& queued_semaphore_protocol();

// How much a writer holds, and there is of a read-write lock; has to equal WHOLE of
// scripts/lib/holders.lua. A reader holds 1.
constexpr std::int64_t whole_weight = std::int64_t{1} << 30;

// The fence counter of a database.
constexpr std::string_view fence_key = "mortise:fence";

}  // namespace mortise::lock
