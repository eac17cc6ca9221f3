// Which server of a cluster this client asks about a slot, and when: the way of a client through a
// cluster whose slots move and whose servers fail. Pure: it is told what happened, and does nothing
// but by its link to the world. Servers are numbers here, in the order in which they became known.
//
// A slot that is used is `away`, `attaching` or `here`. To attach is to hear the client's inbox of
// the slot, and to lift its fencing tokens, at the server that has it (hazards 24 and 30); before
// that nothing of the slot is asked there. A server that refuses the slot says who has it, and the
// client attaches there. One that is lost, or silent, is troubled: then one slot of it is sent
// ahead as a failover probe, to its replicas in turn, until one of them has become the master.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "base/time.hpp"
#include "cluster/slot.hpp"
#include "cluster/topology.hpp"

namespace mortise::cluster {

constexpr int no_server = -1;

// What became of an attempt to attach.
struct attachment {
  enum class end : std::uint8_t {
    attached,
    moved,    // to `to`
    again,    // it is tried again soon: the slot is being moved, say
    later,    // the server does not serve at the moment
    refused,  // `why`, for as long as nobody changes something
    broken,   // its connection is
  };
  end how = end::broken;
  endpoint to;
  outcome why;
};

// Why something cannot be asked just now.
outcome not_reached(std::string_view what);

class router {
 public:
  // None of these may call back.
  class io {
   public:
    virtual ~io() = default;
    // There is one more server.
    virtual void add_server(int server, const endpoint& where) = 0;
    // The number belongs to another server from now on. The server before is not connected to, and
    // owes no answers. If this throws, nothing has changed.
    virtual void change_server(int server, const endpoint& where) = 0;
    // Connects, and again whenever the connection ends; on_up() follows.
    virtual void connect(int server) noexcept = 0;
    // Ends it, until connect() comes again; on_down() follows where it was up.
    virtual void disconnect(int server) noexcept = 0;
    // Ends the connection, to begin anew; on_down() follows.
    virtual void leave(int server, const char* why) noexcept = 0;
    // Attempts to attach; on_attachment() follows. False where it could not be sent.
    virtual bool attach(int slot, int server, std::uint64_t attempt) noexcept = 0;
    // Asks which server has which slots; on_topology() or on_no_topology() follows. False where
    // it could not be sent.
    virtual bool ask_topology(int server) noexcept = 0;
    // The slot can be asked there from now on; from now on it cannot.
    virtual void on_attached(int slot, int server) noexcept = 0;
    virtual void on_detached(int slot) noexcept = 0;
    // It can be asked again what the server could not carry out while the slot is being moved.
    virtual void on_again(int slot) = 0;
    // Another server is believed to have it than before.
    virtual void on_owner_changed(int slot) noexcept = 0;
    virtual std::int64_t random_below(std::int64_t bound) noexcept = 0;
  };

  enum class phase : std::uint8_t { detached, attaching, attached };

  // A server that leaves a question without an answer for so long is not waited for.
  router(io& world, time_ns patience_ns);

  // The servers that a URL names.
  void begin(const std::vector<endpoint>& seeds, time_ns now);
  // The server there, which is known from now on; no_server where too many are. Reuses the number
  // of a server that left the cluster some time ago.
  int number_of(const endpoint& where, time_ns now);
  // One more uses the slot, or one less.
  void use(int slot, time_ns now);
  void stop_using(int slot) noexcept;

  // Somebody needs this server, whatever its slots.
  void connect(int server) noexcept;

  void on_up(int server, time_ns now);
  // Also of an attempt to connect that has failed.
  void on_down(int server, const outcome& why, time_ns now);
  // It owes answers for longer than usual.
  void on_overdue(int server, time_ns now);
  void on_topology(int server, const std::vector<slot_range>& told, time_ns now);
  void on_no_topology(int server, const outcome& why, time_ns now);
  void on_attachment(int slot, int server, std::uint64_t attempt, const attachment& came,
                     time_ns now);
  // A server that was asked about the slot says that another has it, or that it cannot be asked
  // at the moment.
  void on_moved(int slot, int server, const endpoint& to, time_ns now);
  void on_unserved(int slot, int server, time_ns now);
  // The server that the slot is at has a part of its keys only.
  void on_halfway(int slot, time_ns now);
  // The server will say nothing more on the slot's channels.
  void on_unheard(int slot, int server, time_ns now);

  [[nodiscard]] time_ns next_timer() const noexcept;
  void on_timer(time_ns now);

  [[nodiscard]] phase phase_of(int slot) const noexcept;
  // Why a slot cannot be asked; ok where it can be, or will be soon.
  [[nodiscard]] outcome problem(int slot) const;
  [[nodiscard]] bool is_used(int slot) const noexcept;
  // Where it is, or is believed to be.
  [[nodiscard]] int server_of(int slot) const noexcept;
  // The owner of the slot, used or not, as far as it is known.
  [[nodiscard]] int owner_of(int slot) const noexcept {
    return owners_[static_cast<std::size_t>(slot)];
  }
  // The same of the cluster as a whole: whether it is known.
  [[nodiscard]] outcome problem() const;
  [[nodiscard]] bool is_known() const noexcept { return is_known_; }
  // Who has slots, as far as is known.
  [[nodiscard]] std::vector<int> masters() const;
  // One of those that the server has, which is a master.
  [[nodiscard]] int first_slot_of(int server) const noexcept;
  [[nodiscard]] int count_covered() const noexcept;

 private:
  // The topology is asked for at most this often; while something is amiss less and less often.
  static constexpr time_ns shortest_pause_ns = 100 * ns_per_ms;
  static constexpr time_ns longest_pause_ns = 2 * ns_per_s;

  using owner_map = std::array<std::int16_t, slot_count>;

  struct server_state {
    endpoint where;
    bool is_listed = false;       // in the last topology
    time_ns named_at = 0;         // when the client last met its address
    std::int64_t epoch = 0;       // the highest config epoch of its claims; 0: unknown
    std::int64_t told_epoch = 0;  // the same in the last topology
    bool is_begun = false;
    bool is_up = false;
    bool was_up = false;  // ever
    time_ns unused_since = time_never;
    time_ns overdue_until = 0;  // it owes answers, unless that is not said again
    // Slots that it has refused wait together: one after the other tries for all of them.
    time_ns refusing_since = time_never;
    time_ns probe_at = 0;
    int probed = no_server;               // the last slot that has tried
    time_ns awaited_since = time_never;   // it is connected to for a slot
    outcome problem;                      // why it is not up; ok before the first attempt has ended
    std::vector<int> replicas;            // of which one will follow it
    std::size_t next_failover_probe = 0;  // which of them is looked at next
  };
  struct used_slot {
    int users = 0;
    router::phase phase = router::phase::detached;
    int at = no_server;             // where it is, or attaches
    std::uint64_t attempt = 0;      // to attach, the last one
    int hops = 0;                   // from server to server since it was here
    int refused_by = no_server;     // the server that has refused it since it was here
    time_ns again_at = time_never;  // it can be asked again, while it is being moved
    time_ns again_pause_ns = 0;
    outcome problem;
  };

  [[nodiscard]] static bool is_forgotten(const server_state& one, time_ns now) noexcept;
  [[nodiscard]] int find_reusable(time_ns now) const;
  void reuse(int server, const endpoint& where, time_ns now);
  void attach(int slot, used_slot& state);
  void go_away(int slot, used_slot& state, const outcome& why);
  void turn_to(int slot, used_slot& state, int server);
  void go_on(int slot, used_slot& state, int server, const outcome& why);
  void follow(int before, int after);
  void on_failover_probe(int server, std::uint64_t attempt, const attachment& came, time_ns now);
  void let_ask_again(time_ns now);
  [[nodiscard]] bool is_troubled(const server_state& one, time_ns now) const noexcept;
  [[nodiscard]] bool is_any_troubled(time_ns now) const noexcept;
  void note_refusal(int slot, int server, attachment::end how, time_ns now);
  void end_refusal(int server) noexcept;
  void probe(int server, time_ns now);
  void look_after_slot(int slot, used_slot& state, time_ns now);
  void look_after_slots(time_ns now);
  bool send_failover_probes(time_ns now);
  void note_owners(const std::vector<slot_range>& told, time_ns now);
  [[nodiscard]] bool is_behind(int known, int claimant, time_ns now) const noexcept;
  bool keep_newer_claims(const owner_map& before, time_ns now);
  bool keep_attached(int server, time_ns now);
  void take_epochs(bool is_new_cluster) noexcept;
  bool go_where_they_are();
  void leave_the_replaced(time_ns now);
  [[nodiscard]] std::vector<bool> needed(time_ns now) const;
  void leave_the_unused(time_ns now);
  void want_topology(time_ns now);
  void ask_topology(time_ns now);
  void seek(time_ns now);
  [[nodiscard]] bool is_wanted(int server) const noexcept;
  void rest(int server) noexcept;
  [[nodiscard]] int next_to_ask(time_ns now) noexcept;

  io& world_;
  const time_ns patience_ns_;
  std::vector<server_state> servers_;
  std::vector<int> seeds_;
  owner_map owners_;
  std::map<int, used_slot> slots_;
  std::uint64_t attempts_ = 0;
  std::map<std::uint64_t, std::pair<int, int>>
      failover_probes_;  // by attempt: for whom, and the slot
  bool is_known_ = false;
  outcome problem_;  // why it is not
  struct {
    bool is_wanted = false;
    int asked = no_server;
    time_ns asked_at = 0;
    time_ns pause_ns = 0;  // before it is asked again, as long as something is amiss
    time_ns next = time_never;
    int last = no_server;               // the server that was asked last
    time_ns behind_since = time_never;  // since when only older topologies were told
    int sought = no_server;  // the last server that was connected to in order to be asked
    time_ns sought_at = 0;
  } topology_;
  time_ns next_look_ = time_never;   // after the slots that are not here
  time_ns next_again_ = time_never;  // of the slots that are being moved
  time_ns next_end_ = time_never;    // of a connection that is not needed any more
};

}  // namespace mortise::cluster
