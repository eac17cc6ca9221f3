// A cluster of simulated servers. Each has its own view of the owners of slots. Slots move as a
// whole or key by key, replicas lag behind, and masters fail over.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "deployment/cluster/routing/slot.hpp"
#include "simulation/harness/simulated_redis.hpp"
#include "simulation/process/process_world.hpp"

namespace mortise::cluster_simulation {

using process_simulation::chance;
using process_simulation::drifting_clock;
using process_simulation::world;
using simulation::arguments;
using simulation::session;
using simulation::simulated_redis;

class node_set;
class slot_trace;

class node {
 public:
  node(node_set& of, int as, std::int64_t drift_ppm, time_ns offset);

  // Executes a command, or redirects it. The reply goes to the session.
  void execute(session& from, const arguments& words);
  [[nodiscard]] bool is_dead() const;
  [[nodiscard]] bool hangs() const;

  const int number;
  drifting_clock clock;
  simulated_redis redis;
  int master = 0;         // whose replica it is, or itself
  time_ns up_at = 0;      // it can be connected to from then on
  time_ns works_at = 0;   // it hangs until then
  std::uint64_t era = 0;  // of its process
  bool is_down = false;   // it takes the cluster for broken
  // Its view: the owner of each slot, and the master of each replica.
  std::array<std::int8_t, cluster::slot_count> owners{};
  std::vector<int> masters;
  // By slot, while it moves key by key: its target, and its source.
  std::map<int, int> migrating;
  std::map<int, int> importing;
  // Its earlier data, which its replicas may have by then.
  std::deque<std::pair<time_ns, simulated_redis::data>> past;

 private:
  void refuse(session& from, const arguments& words, const std::string& error);
  void send_reply(session& from, const simulation::reply& what);
  void run(session& from, const arguments& words);
  [[nodiscard]] std::string redirection_of(const std::vector<std::string>& keys, bool is_channel,
                                           bool is_asking);
  [[nodiscard]] simulation::reply slots() const;
  void note();

  node_set& all_;
  std::map<std::int64_t, bool> asking_;  // by session
};

struct cluster_terms {
  int masters = 3;
  std::int64_t drift_ppm = 4'900;
  time_ns clock_spread_ns = 0;  // how far the servers' clocks are apart
  time_ns gossip_ns = 50 * ns_per_ms;
  // How much a promoted replica may have missed; then a master that was replaced does not know that
  // at once either.
  time_ns lag_ns = 0;
};

class node_set {
 public:
  node_set(world& around, const cluster_terms& made);
  [[nodiscard]] node& at(int number) { return *nodes_[static_cast<std::size_t>(number)]; }
  [[nodiscard]] int size() const { return static_cast<int>(nodes_.size()); }
  [[nodiscard]] int owner_of(int slot) const { return owners_[static_cast<std::size_t>(slot)]; }
  [[nodiscard]] world& around() { return world_; }
  // When the last thing that was done to it is over.
  [[nodiscard]] time_ns amiss_until() const { return amiss_until_; }
  void disturb(time_ns until) { amiss_until_ = std::max(amiss_until_, until); }

  // To another master, at once, as an atomic migration does.
  void move(int slot);
  // Key by key, for about so long.
  void move_slowly(int slot, time_ns lasting);
  // CLUSTER FAILOVER: the replica has all.
  void fail_over(int master);
  void take_over(int master);
  // A master dies, or hangs, until its replica is promoted and longer.
  void kill(int master);
  void hang(int master);
  void hang_briefly(int number);
  [[nodiscard]] static std::string address_of(int number) {
    return "10.0.0." + std::to_string(number + 1) + ":6379";
  }
  // The connections to it end.
  std::function<void(int number)> on_death;
  slot_trace* trace = nullptr;  // none, unless a file was asked for

 private:
  friend class node;
  [[nodiscard]] int replica_of(int master);
  [[nodiscard]] bool may_fail(const node& one);
  // It learns how things are.
  void gossip(node& one);
  int other_master(int slot);
  void give(int slot, int to);
  void gossip_late();
  void move_key(int slot, int from, int to, const std::string& key);
  void move_on(int slot, int from, int to, time_ns pause);
  void end_move(int slot, int from, int to);
  void promote(int replica, int before, const simulated_redis::data& with);
  void promote_later(int master);
  [[nodiscard]] simulated_redis::data data_from(node& master);

  world& world_;
  const cluster_terms terms_;
  std::vector<std::unique_ptr<node>> nodes_;
  std::array<std::int8_t, cluster::slot_count> owners_{};
  time_ns amiss_until_ = 0;
};

}  // namespace mortise::cluster_simulation
