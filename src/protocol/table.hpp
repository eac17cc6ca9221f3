// A protocol: the request for each step of the lock logic. It is a table of scripts with the same
// arguments and replies, so one writer and one reader (wire.hpp) serve all protocols. It does not
// know time, waiting or retries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lock/lock_io.hpp"
#include "lock/protocol_facts.hpp"
#include "lock/step.hpp"
#include "redis/resp/command.hpp"

namespace mortise::protocol {

// The keys of one name, in the order of the scripts: the lock, the fence counter of the database,
// and other keys of the protocol. All except the fence share one hash tag.
using key_set = std::vector<std::string>;

// The parts of an owner token.
struct owner_seed {
  std::string_view client;    // unique; 16 letters and digits
  std::uint64_t gate_id = 0;  // the requesting gate of the client, which receives the grant
  std::uint64_t attempt = 0;
  std::string_view label;
  std::int64_t grant_ttl_ms = 0;
  lock::claim_reuse reuse = lock::claim_reuse::none;
};

// A step's request: a script, its number of keys, and its number of arguments. The order of the
// arguments is always: owner token, ttl in ms, mode or reserve, permits, capacity. In place of the
// capacity there may be the lifetimes of a shared and an exclusive hold.
struct row {
  const redis::script* code = nullptr;  // nullptr: not supported by this protocol
  std::size_t keys = 0;
  std::size_t arguments = 0;
  std::string_view mode;
  bool proposes = false;  // the proposed fencing token is the last argument
  bool queues = false;    // the secret of the grant is the last argument, if there is one
  bool adopts = false;    // the owner token of the exported hold is the last argument
};

// One row for each lock::step, by its name.
struct row_set {
  row try_take;
  row acquire;
  row reacquire;
  row retake;
  row adopt = {};  // and restore; only if holds have ids
  row renew;
  row raise;
  row release_alone;
  row release;
  row cancel;
  row set_value = {};  // of the keys of the lock and value_key(); the last argument is the value

  [[nodiscard]] const row& of(lock::step what) const;
};

struct table {
  lock::protocol_facts facts;
  // Entries of holders and waiters begin with their permits and a space.
  bool has_permits = false;
  // Without a namespace (see own_name.hpp).
  key_set (*keys)(std::string_view name) = nullptr;
  // The channel that notifies all waiters of a release of the lock at this key; nullptr for none.
  std::string (*channel)(std::string_view key) = nullptr;
  std::string (*owner_token)(const owner_seed& seed) = nullptr;
  row_set rows;
  // As rows.renew, but with only the lock's own key, because the other keys may be at another
  // server (hazard 29). It draws no tokens and may not report other waiters. None when not
  // supported.
  row renew_alone = {};
  // Renews many locks of one server without drawing tokens. None when not supported.
  const redis::script* renew_many = nullptr;
  row query;
  // Ends the hold of the named owner and notifies the owner. None when not supported.
  row force_release = {};
};

// The default protocol of the mutex: FIFO at the server, direct grant.
const table& queued();

// The same for read-write locks and semaphores, which have many holders.
const table& queued_rw();
const table& queued_semaphore();

// The requests to the servers of a quorum for a mutex, in Mortise's format and in that of `token`.
const table& ballot();
const table& ballot_token();
// The same for a read-write lock.
const table& ballot_rw();

// The fence counter of a database.
constexpr std::string_view fence_key = "mortise:fence";
// The run ID of the server that the last client met in a database.
constexpr std::string_view server_key = "mortise:server";
// The time until which a server of a quorum may have forgotten votes. It gives no vote before, and
// none below.
constexpr std::string_view quarantine_key = "mortise:quarantine";
// The number of servers in a quorum and the quarantine, for all clients; and the server's number at
// one client.
constexpr std::string_view quorum_key = "mortise:quorum";
constexpr std::string_view member_key = "mortise:member:";
// Never written. A handshake tries on it which commands the server has.
constexpr std::string_view probe_key = "mortise:probe";

}  // namespace mortise::protocol
