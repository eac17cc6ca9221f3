// The servers that keep the locks, and how many of their replies decide: one server, its replicas
// or a quorum of masters. The lock code sees only one result.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/log.hpp"
#include "base/options.hpp"
#include "base/status.hpp"
#include "base/time.hpp"
#include "deployment/cluster/routing/slot.hpp"
#include "helper/helper_process.hpp"
#include "lock/lock_io.hpp"
#include "protocol/command.hpp"
#include "protocol/health/health.hpp"
#include "protocol/health/missing_servers.hpp"
#include "protocol/listing/client_record.hpp"
#include "protocol/table.hpp"
#include "redis/login/credentials.hpp"
#include "statistics/snapshot.hpp"

namespace mortise::deployment {

class lock_request;

// Receives one result for each lock_request that was sent, on the thread that reads the reply.
class lock_requester {
 public:
  virtual ~lock_requester() = default;
  virtual void on_result(lock_request& request, const lock::step_result& result,
                         time_ns now) noexcept = 0;
};

// One step request in flight. It is reused for the next step after its result.
class lock_request {
 public:
  virtual ~lock_request() = default;
  // Sends the step of an operation (or nullptr), whose caller lends its thread for the reply. Any
  // status except ok means that nothing was sent and no result follows: unreachable, limit,
  // no_memory.
  virtual status send(const lock::step_request& request, const protocol::table& rules,
                      const protocol::key_set& keys, const lock::operation* operation) noexcept = 0;

  // Where the helper process finds the claim's server; none without the helper. Set before send().
  // A copy, because the request may be sent later, when the gate has more claims.
  std::optional<helper::claim_place> place;
  // The last step that was sent, for the lock_requester.
  std::uint64_t claim_id = 0;
  std::uint32_t serial = 0;
};

// A command to every server. Its replies are ignored.
class broadcast {
 public:
  virtual ~broadcast() = default;
  // Skips a server where the last one is still in flight. Needs no memory.
  virtual void send() noexcept = 0;
};

// A lock: its name, and its key on the servers.
struct named_key {
  std::string_view name;
  std::string_view key;
};

// All locks, or in a derived class a subset of them.
class name_set {
 public:
  virtual ~name_set() = default;
  [[nodiscard]] virtual bool has(const named_key& /*lock*/) const noexcept { return true; }
  // The slots of a cluster that have these names, and no others. nullptr elsewhere.
  [[nodiscard]] virtual const cluster::slot_set* slots() const noexcept { return nullptr; }
};

class listener {
 public:
  virtual ~listener() = default;
  // Requests about these names reach the servers (again). All earlier requests have a definite
  // outcome.
  virtual void on_up(const name_set& names, time_ns now) noexcept = 0;
  // The acknowledgements about these names came from replicas of a server that no longer has the
  // names. Requests to the next server follow on_up().
  virtual void on_unacknowledged(const name_set& names, time_ns now) noexcept = 0;
  // A message to this client's inbox.
  virtual void on_message(std::string_view text, time_ns now) noexcept = 0;
  // A message on a subscribed channel.
  virtual void on_channel_message(std::string_view channel) noexcept = 0;
  // No message is missed from now on while the connection lives. Follows listen() and each on_up().
  virtual void on_listening(std::string_view channel) noexcept = 0;
  // The helper process of `release_on_death`; nullptr without it.
  [[nodiscard]] virtual helper::helper_process* helper() noexcept { return nullptr; }
  // An event for the log. Any thread.
  virtual void on_note(log_subject what, const outcome& details) noexcept = 0;
};

// Runs a dialogue. `ask` sends its commands. The dialogue records an early end by the deadline.
template <class Ask>
outcome hold_dialogue(const protocol::dialogue_maker& begin, time_ns deadline, Ask&& ask) {
  const auto dialogue = begin();
  bool has_answered = false;
  while (const auto* const command = dialogue->next()) {
    if (auto result = ask(*command); !result.ok()) {
      return has_answered && boot_now() >= deadline ? outcome() : result;
    }
    has_answered = true;
  }
  return {};
}

class deployment {
 public:
  virtual ~deployment() = default;
  virtual outcome open(time_ns deadline) = 0;
  // Like open(), but in the background and without a deadline. Until then requests fail with the
  // reason.
  virtual outcome begin() = 0;
  // Sends pending commands for up to `linger_ns`. No callback follows.
  virtual void close(time_ns linger_ns) noexcept = 0;
  // Chooses the rules of this deployment for locks of a kind whose handles use a protocol.
  virtual outcome choose_rules(lock::lock_kind kind, const protocol::table& requested,
                               const protocol::table*& target) const {
    static_cast<void>(kind);
    target = &requested;
    return {};
  }
  // Changes the keys of a lock, as its protocol names them, so that its servers keep them together.
  virtual outcome place(protocol::key_set& keys) const {
    static_cast<void>(keys);
    return {};
  }
  // The upper limit of a lease.
  [[nodiscard]] virtual std::int64_t longest_lease_ms() const { return longest_ms; }
  // Whether a message that grants this lock is enough. Otherwise only a reply grants it.
  [[nodiscard]] virtual bool is_granted_by_message(const named_key& lock) const noexcept {
    static_cast<void>(lock);
    return true;
  }
  // A request for the steps of this lock.
  virtual std::unique_ptr<lock_request> new_request(lock_requester& requester,
                                                    const named_key& lock) = 0;
  // The same for any lock, at a server that has all names.
  std::unique_ptr<lock_request> new_request(lock_requester& requester) {
    return new_request(requester, {});
  }
  // Lends the calling thread to the server of this name until the caller is done or the deadline.
  // Returns true when the caller is done. A caller that sent a lock_request with its own thread
  // must call this.
  virtual bool await(const named_key& lock, net::caller& caller, time_ns deadline) noexcept = 0;
  // Like await(), for a caller that waits for any event about any name.
  virtual bool await_any(net::caller& caller, time_ns deadline) noexcept = 0;
  // Changes the number of waiters for messages about this name.
  virtual void expect_messages(const named_key& lock, int change) noexcept = 0;
  // Notes a fencing token of the name that this client has seen. Servers that are connected later
  // draw only higher tokens (hazard 30).
  virtual void note_token(const named_key& lock, std::int64_t token) noexcept = 0;
  // Subscribes to the channel of this lock, also after a reconnect.
  virtual void listen(const named_key& lock, std::string_view channel) = 0;
  virtual void unlisten(const named_key& lock, std::string_view channel) noexcept = 0;
  // Why requests about this name do not reach the servers. ok if they do.
  [[nodiscard]] virtual outcome problem(const named_key& lock) const = 0;
  // The same for any lock, at a server that has all names.
  [[nodiscard]] outcome common_problem() const { return problem({}); }
  // Sends a command to the server of this name, or to every server. The calling thread is lent for
  // the reply. Objects that the command refers to are not used after the return, even without a
  // reply.
  virtual outcome ask(const named_key& lock, const protocol::command& command,
                      time_ns deadline) = 0;
  virtual outcome ask_all(const protocol::command& command, time_ns deadline) = 0;
  // Sends a command to every server except the missing ones. Servers without a reply become
  // missing. Succeeds if any server replies.
  virtual outcome ask_present(const protocol::command& command, time_ns deadline,
                              protocol::missing_servers& missing) {
    static_cast<void>(missing);
    return ask_all(command, deadline);
  }
  // Runs a dialogue with every server at the same time. The dialogues keep the results. Servers
  // without any reply become missing.
  virtual outcome converse(const protocol::dialogue_maker& begin, time_ns deadline,
                           protocol::missing_servers& missing) = 0;
  // Whether the names are in slots of a cluster. Then messages need a used slot.
  [[nodiscard]] virtual bool has_slots() const noexcept { return false; }
  // The server of this name's slot in a cluster, as missing servers are named. "" if it is unknown,
  // or if all servers have all names.
  [[nodiscard]] virtual std::string server_of(const named_key& lock) const {
    static_cast<void>(lock);
    return {};
  }
  // The number of the database that has this name, or all names if the name is empty: -1 if these
  // are in several. Messages reach the clients of all databases of a server.
  [[nodiscard]] virtual std::int64_t database_of(const named_key& lock) const {
    static_cast<void>(lock);
    return 0;
  }
  // Checks every server, with the calling thread lent for the replies. A server without a reply is
  // a finding if others reply.
  virtual outcome check_health(protocol::health& target, time_ns deadline) = 0;
  // The result of the last health check. nullptr before the first.
  [[nodiscard]] virtual std::shared_ptr<const protocol::health> last_health() const = 0;
  // Adds the statistics of the connections.
  virtual void add_statistics(statistics::snapshot& target) const { static_cast<void>(target); }
  // Logs in again on open connections, and uses the login for later ones. Any outcome except ok
  // changes nothing at the server that it is about. Other servers may have accepted the login.
  virtual outcome set_credentials(redis::login offered, time_ns deadline) = 0;
  virtual std::unique_ptr<broadcast> new_broadcast(const protocol::command& command) = 0;
  // Reports that this client is alive.
  virtual std::unique_ptr<broadcast> new_heartbeat(const protocol::client_identity& client) {
    return new_broadcast(protocol::write_record(client));
  }
};

}  // namespace mortise::deployment
