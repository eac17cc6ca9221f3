// Decides which server of a cluster gets the requests of a slot, and when, while slots move and
// servers fail. Pure: the router receives events, and acts only by its `io`. Servers are numbers,
// in the order in which they became known.
//
// A used slot is `detached`, `attaching` or `attached`. Attaching subscribes to the client's inbox
// of the slot at the slot's server, and raises its fencing tokens there (hazards 24 and 30). No
// request of the slot is sent before. A server that rejects the slot names its owner, and the
// client attaches there. A lost or silent server is troubled. One of its slots is then sent as a
// failover probe to its replicas in turn. This ends when a replica has become the master.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "base/time.hpp"
#include "deployment/cluster/routing/slot.hpp"
#include "deployment/cluster/routing/topology.hpp"

namespace mortise::cluster {

constexpr int no_server = -1;

// Result of an attempt to attach.
struct attachment {
  enum class end : std::uint8_t {
    attached,
    moved,    // to `to`
    again,    // retried soon: the slot is being moved, for example
    later,    // the server does not serve now
    refused,  // for the reason `why`, until its cause is fixed
    broken,   // the connection broke
  };
  end code = end::broken;
  endpoint target;
  outcome why;
  time_ns sent_ns = 0;
};

// The retryable outcome of a request that cannot be sent now.
outcome not_reached(std::string_view what);

// A cluster has at most some thousand servers. More addresses are a mistake.
constexpr std::size_t most_servers = 4096;

class router {
 public:
  // None of these functions may call the router.
  class io {
   public:
    virtual ~io() = default;
    // Adds a server.
    virtual void add_server(int server, const endpoint& address) = 0;
    // Gives the number to another server. The previous server is not connected, and owes no
    // replies. If this throws, nothing has changed.
    virtual void change_server(int server, const endpoint& address) = 0;
    // Connects, and reconnects whenever the connection ends. on_up() follows.
    virtual void connect(int server) noexcept = 0;
    // Disconnects until the next connect(). on_down() follows if the server was up.
    virtual void disconnect(int server) noexcept = 0;
    // Ends the connection, and reconnects. on_down() follows.
    virtual void leave(int server, const char* why) noexcept = 0;
    // Sends an attempt to attach. on_attachment() follows. False if it could not be sent.
    virtual bool attach(int slot, int server, std::uint64_t attempt) noexcept = 0;
    // Requests the topology. on_topology() or on_no_topology() follows. False if it could not be
    // sent.
    virtual bool ask_topology(int server) noexcept = 0;
    // From now on requests of the slot can be sent to this server, or can no longer be sent.
    virtual void on_attached(int slot, int server) noexcept = 0;
    virtual void on_detached(int slot) noexcept = 0;
    // Requests that failed because the slot is being moved can be repeated.
    virtual void on_repeat(int slot) = 0;
    // The presumed owner of the slot has changed, or has restarted.
    virtual void on_owner_changed(int slot) noexcept = 0;
    virtual std::int64_t random_below(std::int64_t bound) noexcept = 0;
  };

  enum class phase : std::uint8_t { detached, attaching, attached };

  // A server without a reply for `patience_ns` is not waited for.
  router(io& actions, time_ns patience_ns);

  // The servers of the URL.
  void begin(const std::vector<endpoint>& seeds, time_ns now);
  // The number of the server at this address, which is added if it is new. no_server if too many
  // are known. Reuses the number of a server that left the cluster some time ago.
  int number_of(const endpoint& address, time_ns now);
  // Adds or removes a user of the slot.
  void use(int slot, time_ns now);
  void stop_using(int slot) noexcept;

  // Connects to this server, independently of its slots.
  void connect(int server) noexcept;

  void on_up(int server, time_ns now);
  // Another run of the server has its slots, before on_up().
  void on_new_run(int server) noexcept;
  // Also after a failed attempt to connect.
  void on_down(int server, const outcome& why, time_ns now);
  // The server's replies are overdue.
  void on_overdue(int server, time_ns now);
  void on_topology(int server, const std::vector<slot_range>& ranges, time_ns now);
  void on_no_topology(int server, const outcome& why, time_ns now);
  void on_attachment(int slot, int server, std::uint64_t attempt, const attachment& result,
                     time_ns now);
  // A server rejected a request of the slot: another server has the slot, or it is not served now.
  void on_moved(int slot, int server, const endpoint& target, time_ns now);
  void on_unserved(int slot, int server, time_ns now);
  // The slot's server has only a part of the slot's keys.
  void on_migrating(int slot, time_ns now);
  // The server sends no more messages on the slot's channels.
  void on_unsubscribed(int slot, int server, time_ns now);

  [[nodiscard]] time_ns next_timer() const noexcept;
  void on_timer(time_ns now);

  [[nodiscard]] phase phase_of(int slot) const noexcept;
  // Why requests of a slot cannot be sent. ok if they can be sent now or soon.
  [[nodiscard]] outcome problem(int slot) const;
  [[nodiscard]] bool is_used(int slot) const noexcept;
  // The slot's server, or its presumed server.
  [[nodiscard]] int server_of(int slot) const noexcept;
  // The owner of the slot, used or not, as far as it is known.
  [[nodiscard]] int owner_of(int slot) const noexcept {
    return owners_[static_cast<std::size_t>(slot)];
  }
  // ok if the topology is known, or why it is not.
  [[nodiscard]] outcome problem() const;
  [[nodiscard]] bool is_known() const noexcept { return is_known_; }
  // Servers with slots, as far as they are known.
  [[nodiscard]] std::vector<int> masters() const;
  // The first slot of this server, which is a master.
  [[nodiscard]] int first_slot_of(int server) const noexcept;

 private:
  // Pause between topology requests. It grows while a problem lasts.
  static constexpr time_ns shortest_pause_ns = 100 * ns_per_ms;
  static constexpr time_ns longest_pause_ns = 2 * ns_per_s;

  using owner_map = std::array<std::int16_t, slot_count>;

  struct server_state {
    endpoint address;
    bool is_listed = false;           // in the last topology
    time_ns reported_at = 0;          // when the client last received its address
    std::int64_t epoch = 0;           // the highest config epoch of its claims; 0: unknown
    std::int64_t reported_epoch = 0;  // the same in the last topology
    bool is_begun = false;
    bool is_up = false;
    bool was_up = false;  // ever
    time_ns unused_since = time_never;
    time_ns overdue_until = 0;  // replies are overdue, unless not reported again
    // Slots that it has rejected wait together. One slot after the other probes for all of them.
    time_ns refusing_since = time_never;
    time_ns probe_at = 0;
    int probed = no_server;               // the last slot that has probed
    time_ns awaited_since = time_never;   // since when a slot waits for the connection
    outcome problem;                      // why it is not up; ok before the first attempt has ended
    std::vector<int> replicas;            // one of them will replace it
    std::size_t next_failover_probe = 0;  // the replica to probe next
  };
  struct used_slot {
    int users = 0;
    router::phase phase = router::phase::detached;
    int server = no_server;          // its server, or where it attaches
    std::uint64_t attempt = 0;       // number of the last attempt to attach
    int redirections = 0;            // redirections since it was attached
    int refused_by = no_server;      // the server that has rejected it since it was attached
    time_ns repeat_at = time_never;  // requests are repeated, while it is being moved
    time_ns repeat_pause_ns = 0;
    outcome problem;
  };

  [[nodiscard]] static bool is_forgotten(const server_state& one, time_ns now) noexcept;
  [[nodiscard]] int find_reusable(time_ns now) const;
  void reuse(int server, const endpoint& address, time_ns now);
  void attach(int slot, used_slot& state);
  void detach(int slot, used_slot& state, const outcome& why);
  void set_server(int slot, used_slot& state, int server);
  void reassign(int slot, used_slot& state, int server, const outcome& why);
  void reassign_all(int before, int after);
  void on_failover_probe(int server, std::uint64_t attempt, const attachment& result, time_ns now);
  void repeat_requests(time_ns now);
  [[nodiscard]] bool is_troubled(const server_state& one, time_ns now) const noexcept;
  [[nodiscard]] bool is_any_troubled(time_ns now) const noexcept;
  void note_refusal(int slot, int server, attachment::end result, time_ns now);
  void end_refusal(int server) noexcept;
  void probe(int server, time_ns now);
  void check_slot(int slot, used_slot& state, time_ns now);
  void check_slots(time_ns now);
  bool send_failover_probes(time_ns now);
  void note_owners(const std::vector<slot_range>& ranges, time_ns now);
  [[nodiscard]] bool is_behind(int known, int claimant, time_ns now) const noexcept;
  bool keep_newer_claims(const owner_map& before, time_ns now);
  bool keep_attached(int server, time_ns now);
  void take_epochs(bool is_new_cluster) noexcept;
  bool reassign_moved();
  void leave_replaced(time_ns now);
  [[nodiscard]] std::vector<bool> needed(time_ns now) const;
  void disconnect_unused(time_ns now);
  void request_topology(time_ns now);
  void ask_topology(time_ns now);
  void try_next_server(time_ns now);
  [[nodiscard]] bool is_needed(int server) const noexcept;
  void rest(int server) noexcept;
  [[nodiscard]] int next_to_ask(time_ns now) noexcept;

  io& io_;
  const time_ns patience_ns_;
  std::vector<server_state> servers_;
  std::vector<int> seeds_;
  owner_map owners_;
  std::map<int, used_slot> slots_;
  std::uint64_t attempts_ = 0;
  std::map<std::uint64_t, std::pair<int, int>>
      failover_probes_;  // by attempt: the troubled server, and the slot
  bool is_known_ = false;
  outcome problem_;  // why it is not known
  struct topology_schedule {
    bool is_requested = false;
    int server = no_server;  // with the open request
    time_ns sent_at = 0;
    time_ns pause_ns = 0;  // before the next request, while a problem lasts
    time_ns next = time_never;
    int last_server = no_server;        // the server that was asked last
    time_ns behind_since = time_never;  // since when only older topologies came
    int tried_server = no_server;       // the last server that was connected to be asked
    time_ns tried_at = 0;
  };
  topology_schedule topology_;
  time_ns next_check_ = time_never;       // check of the slots that are not attached
  time_ns next_repeat_ = time_never;      // repeat for slots that are being moved
  time_ns next_disconnect_ = time_never;  // end of an unused connection
};

}  // namespace mortise::cluster
