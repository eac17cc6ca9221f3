// Checks each command of the server: which owner may change which lock, in which order waiters are
// served, and whether fencing tokens only rise.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "simulation/harness/simulated_redis.hpp"
#include "simulation/lock/grace_period_watch.hpp"
#include "simulation/lock/shared_watch.hpp"
#include "simulation/lock/world.hpp"

namespace mortise::simulation {

class server_watch {
 public:
  server_watch(world& around, simulated_redis& redis)
      : world_(around),
        redis_(redis),
        grace_period_(around, redis),
        shared_(around, redis, grace_period_) {}

  void execute(session& from, const arguments& command);

  // What happened at one lock.
  struct name_facts {
    std::int64_t grants = 0;    // by the server, to any owner
    std::int64_t commands = 0;  // scripts and transactions
    std::int64_t join_count = 0;
    std::string slipped_in;  // an owner that took the lock by the cheap way although others waited
    std::map<std::string, std::int64_t> joined;  // waiters, by the order in which they came
  };
  [[nodiscard]] const std::map<std::string, name_facts>& names() const { return names_; }
  [[nodiscard]] const grace_period_watch& grace_period() const { return grace_period_; }
  // The data are older than what was seen: others had come before, and tokens were lower.
  void forget();

 private:
  struct sight {
    std::string owner;  // without the mark; empty without an owner
    bool is_marked = false;
    std::int64_t expires_ms = -1;
    std::deque<std::string> queue;
    std::int64_t queue_expires_ms = -1;
  };
  sight look(const std::string& lock_key);
  void execute_value(session& from, const arguments& command);
  void execute_adoption(session& from, const arguments& command, const std::string& requester);
  void execute_many(session& from, const arguments& command, std::size_t key_count);
  void compare(const std::string& lock_key, const std::string& requester, const sight& before,
               const sight& after);
  void check_queue(const std::string& lock_key, const std::string& requester, const sight& before,
                   const sight& after);
  void check_order(const std::string& lock_key, const std::string& requester, const sight& before,
                   const sight& after);
  void check_fence();
  void complain(const std::string& lock_key, const std::string& what);

  world& world_;
  simulated_redis& redis_;
  grace_period_watch grace_period_;
  shared_watch shared_;
  std::map<std::string, name_facts> names_;
  std::int64_t fence_ = 0;
};

}  // namespace mortise::simulation
