// Which servers speak for a name, and when an answer is enough: one server here, its replicas or a
// quorum of masters in other deployments. The lock machinery sees only the one result.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/log.hpp"
#include "base/options.hpp"
#include "base/status.hpp"
#include "base/time.hpp"
#include "lock/lock_io.hpp"
#include "protocol/client_record.hpp"
#include "protocol/command.hpp"
#include "protocol/health.hpp"
#include "protocol/missing_servers.hpp"
#include "protocol/table.hpp"
#include "redis/credentials.hpp"
#include "statistics/snapshot.hpp"

namespace mortise::deployment {

class lock_request;

// Who asks, and is answered: once for each lock_request that was sent, on whichever thread reads.
class lock_requester {
 public:
  virtual ~lock_requester() = default;
  virtual void on_result(lock_request& answered, const lock::step_result& said,
                         time_ns now) noexcept = 0;
};

// One step on its way. Used again for the next step once it is answered.
class lock_request {
 public:
  virtual ~lock_request() = default;
  // Sends the question, asked by an operation (or nullptr), whose caller lends its thread for the
  // answer. With another status than ok nothing was sent, and no result comes: unreachable, limit,
  // no_memory.
  virtual status send(const lock::step_request& asked, const protocol::table& rules,
                      const protocol::key_set& keys, const lock::operation* by) noexcept = 0;

  // What was asked last, for the lock_requester.
  std::uint64_t claim_id = 0;
  std::uint32_t serial = 0;
};

// A command that every server is told and whose answer nobody waits for.
class broadcast {
 public:
  virtual ~broadcast() = default;
  // Where it is still on its way from the last time it is not sent again. Needs no memory.
  virtual void send() noexcept = 0;
};

// A lock: its name, and the key that its servers keep it under.
struct named_key {
  std::string_view name;
  std::string_view key;
};

// Some of all locks.
class name_set {
 public:
  virtual ~name_set() = default;
  [[nodiscard]] virtual bool has(const named_key& lock) const noexcept = 0;
};

class listener {
 public:
  virtual ~listener() = default;
  // Questions about these names reach the servers (again); what was sent before has a definite
  // outcome.
  virtual void on_up(const name_set& names, time_ns now) noexcept = 0;
  // What was acknowledged about these names was so by replicas of a server that does not have them
  // any more. What is asked of the next follows on_up().
  virtual void on_unacknowledged(const name_set& names, time_ns now) noexcept = 0;
  // A message to this client's inbox.
  virtual void on_message(std::string_view text, time_ns now) noexcept = 0;
  // A message to a channel that is listened to.
  virtual void on_said(std::string_view channel) noexcept = 0;
  // From now on none is missed while the connection lives; after listen() and again after on_up().
  virtual void on_listening(std::string_view channel) noexcept = 0;
  // What is worth a line in a log. Any thread.
  virtual void on_note(log_subject what, const outcome& how) noexcept = 0;
};

// Runs a dialogue; `ask` sends its commands. A dialogue that the deadline ends early records that.
template <class Ask>
outcome hold_dialogue(const protocol::dialogue_maker& begin, time_ns deadline, Ask&& ask) {
  const auto dialogue = begin();
  bool has_answered = false;
  while (const auto* const said = dialogue->next()) {
    if (auto how = ask(*said); !how.ok()) {
      return has_answered && boot_now() >= deadline ? outcome() : how;
    }
    has_answered = true;
  }
  return {};
}

class deployment {
 public:
  virtual ~deployment() = default;
  virtual outcome open(time_ns deadline) = 0;
  // The same in the background, for as long as it takes; whoever asks in the meantime is told why
  // not.
  virtual outcome begin() = 0;
  // Sends what is still to be sent for up to `linger_ns`. Afterwards no callback comes.
  virtual void close(time_ns linger_ns) noexcept = 0;
  // How locks of a kind whose handles want this protocol are asked for here.
  virtual outcome choose_rules(lock::lock_kind kind, const protocol::table& wanted,
                               const protocol::table*& into) const {
    static_cast<void>(kind);
    into = &wanted;
    return {};
  }
  // Puts the keys of a lock, as its protocol names them, where its servers keep them together.
  virtual outcome place(protocol::key_set& keys) const {
    static_cast<void>(keys);
    return {};
  }
  // No lease may be longer.
  [[nodiscard]] virtual std::int64_t longest_lease_ms() const { return longest_ms; }
  // Whether a message that grants this name's lock is enough; otherwise only an answer is.
  [[nodiscard]] virtual bool is_granted_by_message(const named_key& lock) const noexcept {
    static_cast<void>(lock);
    return true;
  }
  // For steps of this name's lock.
  virtual std::unique_ptr<lock_request> new_request(lock_requester& asker,
                                                    const named_key& lock) = 0;
  // Lends the calling thread to who speaks for this name, until the caller is done or the deadline;
  // true when it is done. Whoever has sent an lock_request in its own name comes here in any case.
  virtual bool await(const named_key& lock, net::caller& caller, time_ns deadline) noexcept = 0;
  // The same for a caller that waits for whatever comes, about any name.
  virtual bool await_any(net::caller& caller, time_ns deadline) noexcept = 0;
  // So many more wait for messages about this name, or fewer.
  virtual void expect_messages(const named_key& lock, int change) noexcept = 0;
  // This client has seen this fencing token of the name: no server that is connected to later draws
  // one that is not above it (hazard 30).
  virtual void note_token(const named_key& lock, std::int64_t token) noexcept = 0;
  // Hears what is said on the channel of this name's lock, also after a reconnect.
  virtual void listen(const named_key& lock, std::string_view channel) = 0;
  virtual void unlisten(const named_key& lock, std::string_view channel) noexcept = 0;
  // Why questions about this name do not reach the servers; ok when they do.
  [[nodiscard]] virtual outcome problem(const named_key& lock) const = 0;
  // Puts a command to whoever speaks for this name, or to every server, with the calling thread
  // lent for the answer. What the command refers to is not touched afterwards, answered or not.
  virtual outcome ask(const named_key& lock, const protocol::command& asked, time_ns deadline) = 0;
  virtual outcome ask_all(const protocol::command& asked, time_ns deadline) = 0;
  // Puts a command to every server but the missing ones. Those that do not answer are missing, too;
  // it is well if any other has answered.
  virtual outcome ask_present(const protocol::command& asked, time_ns deadline,
                              protocol::missing_servers& missing) {
    static_cast<void>(missing);
    return ask_all(asked, deadline);
  }
  // Has a dialogue with every server, at the same time; what comes of it is theirs to keep. Missing
  // is what does not answer at all.
  virtual outcome converse(const protocol::dialogue_maker& begin, time_ns deadline,
                           protocol::missing_servers& missing) = 0;
  // The server of a cluster that has this name's slot, as missing ones are named; "" where that is
  // not known, or all servers have all names.
  [[nodiscard]] virtual std::string server_of(const named_key& lock) const {
    static_cast<void>(lock);
    return {};
  }
  // Checks every server, with the calling thread lent for the answers. One that does not answer
  // is a finding, where others do.
  virtual outcome check_health(protocol::health& into, time_ns deadline) = 0;
  // What was found last; nullptr where nothing was looked for yet.
  [[nodiscard]] virtual std::shared_ptr<const protocol::health> last_health() const = 0;
  // What became of its connections.
  virtual void add_statistics(statistics::snapshot& into) const { static_cast<void>(into); }
  // Logs in anew, on what is connected, and with what will be. Another outcome than ok leaves all
  // as it was.
  virtual outcome set_credentials(redis::login offered, time_ns deadline) = 0;
  virtual std::unique_ptr<broadcast> new_broadcast(const protocol::command& said) = 0;
  // That this client lives.
  virtual std::unique_ptr<broadcast> new_heartbeat(std::string_view client_id) {
    return new_broadcast(protocol::write_record(client_id));
  }
};

}  // namespace mortise::deployment
