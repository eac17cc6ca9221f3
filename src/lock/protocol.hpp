// A protocol: how each step of the machinery is asked of a server and what the answer means. It
// knows commands, scripts and replies, and nothing of time, waiting or retries.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "redis/resp.hpp"

namespace mortise::lock {

// The rows of a protocol's table.
enum class step : std::uint8_t {
  try_take,   // take it if it is free; the cheap way, without a script where possible
  acquire,    // take it or take a place in the queue, first time
  reacquire,  // the same for a token that may be queued or granted already
  retake,     // as try_take for a token that may have been granted already
  renew,
  release,
  cancel,
};

// One step to be asked.
struct question {
  std::uint64_t tenure = 0;  // who asks
  std::uint32_t serial = 0;  // which of its questions
  step what = step::try_take;
  std::string_view token;  // the owner token of this attempt
  std::int64_t ttl_ms = 0;
  std::int64_t reserve = 0;       // renew: how many fencing tokens to draw
  bool knows_of_waiters = false;  // release: although the lock is not marked
  bool with_text = false;         // the server has forgotten the script (hazard 27)
};

// What became of a step.
enum class answer : std::uint8_t {
  granted,   // owned
  not_free,  // owned by another; nothing was enqueued
  queued,    // waiting at the server
  renewed,
  not_owner,  // owned by another or by nobody; nothing was changed
  released,
  handed_over,  // released, and a waiter has it now
  cancelled,    // was queued, is not any more
  refused,      // the server says no and has not carried it out
  no_script,    // not carried out; ask again with the text
  unknown,      // it answered with something that says neither yes nor no
  broken,       // sent, and the connection broke before the answer
  unsent,       // the connection broke before it was sent
};

struct verdict {
  answer what = answer::unknown;
  std::int64_t last_token = 0;  // of the tokens drawn
  std::int64_t token_count = 0;
  std::int64_t server_us = 0;  // the server's clock, 0 when not told
  std::int64_t ttl_ms = 0;     // of the present owner
  bool others_wait = false;
  std::int64_t place = -1;  // in the queue, 0 is its head; -1 not queued
  outcome details;          // of refused and unknown
};

// The keys of one name. All share one hash tag; the fence counter is the database's.
struct key_set {
  std::string lock;
  std::string queue;
  std::string fence;
};

class protocol {
 public:
  virtual ~protocol() = default;
  // The keys that this protocol uses for a lock's name.
  [[nodiscard]] virtual key_set keys(std::string_view name) const = 0;
  // Appends the commands of one step, in RESP, and returns how many replies they have.
  virtual int write(std::string& out, const question& asked, const key_set& keys) const = 0;
  // Reads the reply (of several replies: the first error, or else the last).
  [[nodiscard]] virtual verdict read(step what, const redis::value& reply) const = 0;
};

// The default protocol: FIFO at the server, direct grant.
const protocol& queued_protocol();

}  // namespace mortise::lock
