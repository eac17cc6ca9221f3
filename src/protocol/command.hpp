// A command that is no step of a lock: a look at one, a word about this client. Who sends it knows
// no RESP, and who carries it does not know what it is about.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "redis/command.hpp"
#include "redis/credentials.hpp"
#include "redis/resp.hpp"

namespace mortise::protocol {

struct command {
  // Appends it in RESP; with the script's text for a server that has forgotten it (hazard 27).
  std::function<void(std::string& out, bool with_text)> write;
  // The same where it is said once for each place (see place_of) and not for each server; else
  // empty.
  std::function<void(std::string& out, std::string_view place)> write_at = {};
  // Whether it takes back what was said before, and so is said also at places that are not in use
  // any more.
  bool is_farewell = false;
  // Reads a reply that is no error; empty where a reply says no more than that it came.
  std::function<void(const redis::value& reply)> read = {};
  // Whether a missing answer leaves a doubt: looking changes nothing.
  bool is_change = false;
  // The login that it says, if any, which no error of it may tell.
  std::shared_ptr<const redis::login> says = {};
  // What several servers have to agree on in their replies, each for itself; nothing where any
  // one's reply will do.
  std::function<std::vector<std::string>(const redis::value& reply)> gist = {};
};

// Commands to one server, of which each may follow from the answer to the one before.
class dialogue {
 public:
  virtual ~dialogue() = default;
  // The next, once the one before is answered, or nullptr when there is none any more.
  virtual const command* next() = 0;
};
using dialogue_maker = std::function<std::unique_ptr<dialogue>()>;

// Whether the server is there.
command ping();
// Prepares a database, or a place in it, for this client, and for one that had a connection before
// and has seen this fencing token.
command seed(std::string_view place = {});
command seed_again(std::int64_t seen, std::string_view place = {});
const redis::script& seed_script();
// Prepares a server of a quorum for a client that takes it for the `number`th of so many servers.
struct membership {
  std::string client_id;
  std::int64_t number = 0;
  std::int64_t servers = 0;
  std::int64_t quarantine_ms = 0;
};
command join_quorum(const membership& as);
// Makes a server know a script ahead of its first use.
command load(const redis::script& script);

}  // namespace mortise::protocol
