// A command that is no step of a lock, such as a query or a record of this client. The sender does
// not know RESP. The connection does not know the command's meaning.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "protocol/client_identity.hpp"
#include "redis/login/credentials.hpp"
#include "redis/resp/command.hpp"
#include "redis/resp/resp.hpp"

namespace mortise::protocol {

struct command {
  // Appends it in RESP, with the script's text for a server that has forgotten the script (hazard
  // 27).
  std::function<void(std::string& out, bool with_text)> write;
  // The same for a command that is sent once per place (see place_of), not once per server.
  // Otherwise empty.
  std::function<void(std::string& out, std::string_view place)> write_at = {};
  // Whether it withdraws an earlier command, so that it also goes to places no longer in use.
  bool is_farewell = false;
  // Reads a reply that is no error. Empty when the reply carries no data.
  std::function<void(const redis::value& reply)> read = {};
  // Whether a missing reply leaves the result unknown. A query changes nothing.
  bool is_change = false;
  // Whether a reply shows that the command has changed something. Empty if each reply does.
  std::function<bool(const redis::value& reply)> has_changed = {};
  // The login that it sends, if any. No error message of it may show the login.
  std::shared_ptr<const redis::login> says = {};
  // Values that must agree in the replies of several servers. Empty when one reply is enough.
  std::function<std::vector<std::string>(const redis::value& reply)> gist = {};
  // Whether the caller no longer needs the reply, because other servers have replied. Checked again
  // and again while it waits. Empty if it always needs the reply.
  std::function<bool()> is_dispensable = {};
};

// Commands to one server. Each may depend on the reply to the previous one.
class dialogue {
 public:
  virtual ~dialogue() = default;
  // The next command, after the reply to the previous one. nullptr at the end.
  virtual const command* next() = 0;
};
using dialogue_maker = std::function<std::unique_ptr<dialogue>()>;

// Checks that the server is reachable.
command ping();
// Prepares a database, or a place in it, for this client. seed_again() does the same for a client
// that reconnects and has seen this fencing token.
command seed(const client_identity& client, std::string_view place = {});
command seed_again(const client_identity& client, std::int64_t seen, std::string_view place = {});
const redis::script& seed_script();
// Prepares a server of a quorum for a client that counts it as the `number`th of this many servers.
struct membership {
  client_identity client;
  std::int64_t number = 0;
  std::int64_t servers = 0;
  std::int64_t quarantine_ms = 0;
};
command join_quorum(const membership& as);
// Loads a script at a server before its first use.
command load(const redis::script& script);

}  // namespace mortise::protocol
