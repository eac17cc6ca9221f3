// One run: a server, its clients and their users, faults, and at the end a reckoning.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "simulation/lock/head_watch.hpp"
#include "simulation/lock/lock_trace.hpp"
#include "simulation/lock/simulated_client.hpp"
#include "simulation/lock/simulated_server.hpp"
#include "simulation/lock/user.hpp"
#include "simulation/lock/world.hpp"

namespace mortise::simulation {

class run {
 public:
  // Writes a trace to a file, if one is named.
  run(const plan& chosen, bool is_verbose, const std::string& trace = {});
  // Lives through it and gives the violations, none when all is well.
  const std::vector<std::string>& go();
  [[nodiscard]] const counters& seen() const { return world_.seen; }
  [[nodiscard]] time_ns worst_stall() const { return worst_stall_; }

 private:
  simulated_client& add_client();
  void add_users(simulated_client& to);
  void plan_faults();
  void plan_fault(time_ns mean, void (run::*what)());
  simulated_client* somebody();
  struct watched_name;
  const watched_name& some_name();
  void resize();
  // The owner tokens of holders and waiters at the server.
  std::vector<std::string> holders(const watched_name& of);
  std::vector<std::string> waiters(const watched_name& of);

  void break_connection();
  void break_one();
  void crash_client();
  void pause_client();
  void pause_server();
  void shut_server();
  void refuse();
  void flush_scripts();
  void replace_server();
  void stall_connection();
  void change_server();
  void kill_connections();
  void lose_data();
  void promote();
  void force_release(const watched_name& of);
  void meddle();
  void administer(const arguments& command);
  void step_clock();
  void close_client();

  void watch_liveness();
  struct watched_name {
    std::string name;
    std::string lock_key;
    std::string queue_key;
    time_ns idle_since = 0;  // since when there is no holder
  };
  [[nodiscard]] bool is_exported(const std::string& token) const;
  bool is_stuck(const watched_name& of);
  void watch_name(watched_name& watched);
  void check_value(user& who, const watched_name& watched);
  void check_leftovers();
  void live(time_ns until);
  bool is_enough();
  void heal();
  void wind_up();
  void check_end();
  void check_cost();

  world world_;
  simulated_server server_;
  std::vector<std::unique_ptr<simulated_client>> clients_;
  std::vector<std::unique_ptr<user>> users_;
  std::vector<watched_name> names_;
  head_watch heads_{world_, server_, clients_};
  time_ns worst_stall_ = 0;
  session& admin_;
  std::unique_ptr<lock_trace> trace_;
  int refusal_number_ = 0;
  std::int64_t events_ = 0;
};

}  // namespace mortise::simulation
