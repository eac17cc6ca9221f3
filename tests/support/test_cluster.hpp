// A real cluster for one test, or for several: masters that share all slots, and as many replicas
// for each as a test needs.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "support/server.hpp"
#include "support/test_network.hpp"

namespace mortise::testing {

struct cluster_options {
  std::size_t masters = 3;
  std::size_t replicas_each = 1;
  bool has_tls = false;
  std::vector<std::string> arguments = {};  // further ones, of each server
  test_network* network = nullptr;          // server N is on its host N; loopback unless given
};

class test_cluster {
 public:
  // Ready when it returns, which takes some seconds: servers of a cluster wait before they serve.
  explicit test_cluster(const cluster_options& options = {});

  // With TLS it trusts the authority of the servers' certificates.
  [[nodiscard]] std::string url() const;
  [[nodiscard]] std::size_t size() const { return servers_.size(); }
  [[nodiscard]] test_server& at(std::size_t number) { return *servers_[number]; }
  // "127.0.0.1:7001", where others find it
  [[nodiscard]] std::string address_of(std::size_t number) const;

  // The master of the key's slot, from a server that runs.
  std::size_t owner_of(const std::string& key);
  // A replica of the server.
  std::size_t replica_of(std::size_t master);
  // A master that the slot is not of.
  std::size_t other_master(std::size_t than);
  // `command` at the owner of the key, wherever that is now.
  std::string command_at(const std::string& key, const std::vector<std::string>& command);

  // CLUSTER FAILOVER with these words, at a replica of the server; returns which, once it is the
  // master.
  std::size_t fail_over(std::size_t master, const std::vector<std::string>& words = {});
  // Makes a replica that of another master.
  void follow(std::size_t replica, std::size_t master);
  // Moves the slot with its keys, key by key, as redis-cli --cluster reshard does. `halfway` is
  // called in between, when the slot is migrating and no key has moved yet.
  template <class Halfway>
  void move_slot(int slot, std::size_t from, std::size_t to, Halfway&& halfway) {
    begin_move(slot, from, to);
    halfway();
    do {
      std::this_thread::sleep_for(pause_between_keys);
    } while (move_key(slot, from, to));
    end_move(slot, from, to);
  }
  void move_slot(int slot, std::size_t from, std::size_t to) {
    move_slot(slot, from, to, [] {});
  }
  // How long one key waits for the one before it in a slot that is moved.
  std::chrono::milliseconds pause_between_keys{0};
  // The parts of move_slot(). move_key() returns false when no key is left.
  void begin_move(int slot, std::size_t from, std::size_t to);
  bool move_key(int slot, std::size_t from, std::size_t to);
  void end_move(int slot, std::size_t from, std::size_t to);
  // Whether its servers can move slots as a whole, as Valkey from 9 on can.
  [[nodiscard]] bool has_migration();
  // Does so; returns when it is over.
  void migrate_slots(int first, int last, std::size_t from, std::size_t to);
  // Until all running servers see all slots served, agree on the owners, and replicas follow.
  void await_whole();
  // Starts those that were killed or stopped.
  void heal();
  // Nothing is kept.
  void flush();
  void kill(std::size_t number);
  void pause(std::size_t number);

 private:
  void start(std::size_t number, const cluster_options& options);
  [[nodiscard]] std::string bus_port_of(std::size_t number);
  std::string id_of(std::size_t number);
  static std::set<std::string> view_in(const std::string& nodes);
  [[nodiscard]] std::string folder_of(std::size_t number) const;
  std::string epoch_of(std::size_t number, std::size_t source);
  std::string ask(std::size_t number, const std::vector<std::string>& command);
  [[nodiscard]] std::size_t number_at(const std::string& port) const;
  [[nodiscard]] bool runs(std::size_t number) const { return !is_down_[number]; }

  const bool has_tls_;
  test_network loopback_;
  test_network& network_;
  std::vector<std::unique_ptr<test_server>> servers_;
  std::vector<std::string> ids_;
  std::vector<bool> is_down_;
  std::vector<bool> is_paused_;
  std::chrono::steady_clock::time_point last_fault_{};
};

}  // namespace mortise::testing
