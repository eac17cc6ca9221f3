// A protocol: how each step of the lock logic is asked of a server. It is a table of scripts; all
// scripts take the same arguments and give the same replies, so one writer and one reader
// (wire.hpp) serve all protocols. It knows nothing of time, waiting or retries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lock/lock_io.hpp"
#include "lock/protocol_facts.hpp"
#include "lock/step.hpp"
#include "redis/command.hpp"

namespace mortise::protocol {

// The keys of one name, in the order in which the scripts take them: the lock itself, the fence
// counter of the database, and what else the protocol has. All but the fence share one hash tag.
using key_set = std::vector<std::string>;

// Where servers keep what belongs to a lock beside its own keys, as the end of such a key: empty,
// or in a cluster the hash tag of the lock's slot.
std::string_view place_of(const key_set& keys);

// What an owner token is made of.
struct owner_seed {
  std::string_view client;    // unique; 16 letters and digits
  std::uint64_t gate_id = 0;  // which of the client's gates asks: a grant finds its way by it
  std::uint64_t attempt = 0;
  std::string_view label;
  std::int64_t grant_ttl_ms = 0;
  lock::claim_reuse reuse = lock::claim_reuse::none;
};

// How a step is asked: a script, how many of the keys it takes, and how many of the arguments,
// which are always in this order: owner token, ttl in ms, mode or reserve, weight, limit; or the
// lifetimes of a part and of the whole instead of the limit.
struct row {
  const redis::script* code = nullptr;  // nullptr: this protocol cannot do that
  std::size_t keys = 0;
  std::size_t arguments = 0;
  std::string_view mode;
  bool proposes = false;  // the proposed fencing token is the last argument
};

// One row for each lock::step, by its name.
struct row_set {
  row try_take;
  row acquire;
  row reacquire;
  row retake;
  row renew;
  row raise;
  row release_alone;
  row release;
  row cancel;

  [[nodiscard]] const row& of(lock::step what) const;
};

struct table {
  lock::protocol_facts facts;
  // Entries of holders and waiters begin with a weight and a space.
  bool has_weights = false;
  key_set (*keys)(std::string_view name) = nullptr;
  // Where a release is told to all who wait; nullptr for nowhere.
  std::string (*channel)(std::string_view name) = nullptr;
  std::string (*owner_token)(const owner_seed& seed) = nullptr;
  row_set rows;
  // As rows.renew, and touches no key but the lock's own, because the others may be at another
  // server (hazard 29). It draws no tokens and may not know that others wait. None where it cannot
  // be done.
  row renew_alone = {};
  row query;
  // Ends the hold of whoever is named, and tells it; none where it cannot be done.
  row force_release = {};
};

// The default protocol of the mutex: FIFO at the server, direct grant.
const table& queued();

// The same for read-write locks and semaphores, where many hold a part.
const table& queued_rw();
const table& queued_semaphore();

// What the servers of a quorum are asked for a mutex, in our format and in that of `token`.
const table& ballot();
const table& ballot_token();
// The same for a read-write lock.
const table& ballot_rw();

// The fence counter of a database.
constexpr std::string_view fence_key = "mortise:fence";
// Which run of which server the last client met in a database.
constexpr std::string_view server_key = "mortise:server";
// Until when a server of a quorum may have forgotten votes: it gives none before, and none below.
constexpr std::string_view quarantine_key = "mortise:quarantine";
// Of how many servers one is, and its quarantine, for all clients; and as which a client knows it.
constexpr std::string_view quorum_key = "mortise:quorum";
constexpr std::string_view member_key = "mortise:member:";
// Never written, so that a greeting can try on it what the server knows.
constexpr std::string_view probe_key = "mortise:probe";

}  // namespace mortise::protocol
