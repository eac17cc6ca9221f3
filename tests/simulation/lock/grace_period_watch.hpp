// Knows when the server is in its grace period, from its past and the handshakes. No waiter may be
// taken for dead then, except at the end of a grace period. No dead waiter may cost two grace
// periods.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "simulation/harness/simulated_redis.hpp"
#include "simulation/lock/world.hpp"

namespace mortise::simulation {

class grace_period_watch {
 public:
  grace_period_watch(world& around, simulated_redis& redis) : world_(around), redis_(redis) {}

  // Before a command is carried out.
  void look(const arguments& command);
  // Whether clients may still be on their way back.
  [[nodiscard]] bool is_in_grace_period() const { return left_ms() > 0; }
  // Whether a waiter in a queue with this expiry has to be taken for one that lives.
  [[nodiscard]] bool keeps_place(const std::string& client, std::int64_t queue_expires_ms) const;
  // Records the clients that wait for a lock. Called before each step.
  void note_waiters(const std::string& lock_key, const std::deque<std::string>& clients);
  // Called for a grant. Whether this client was unreachable through a whole grace period before.
  bool is_waited_for_again(const std::string& lock_key, const std::string& client);
  void forget() { absences_.clear(); }

 private:
  struct absence {
    std::map<std::string, std::int64_t> since_ms;  // of unreachable clients
    // The last grace period, as seen by a grant to an unreachable client.
    std::int64_t began_ms = -1;
    std::int64_t ends_ms = -1;
  };
  [[nodiscard]] std::int64_t left_ms() const;
  [[nodiscard]] bool is_subscribed(const std::string& client) const;

  world& world_;
  simulated_redis& redis_;
  std::int64_t until_ms_ = 0;                // by the server's clock
  std::map<std::string, absence> absences_;  // by lock
};

}  // namespace mortise::simulation
