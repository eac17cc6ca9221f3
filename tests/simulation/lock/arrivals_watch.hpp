// Knows when the server is unsettled, by what it has seen of its past and of the greetings: nobody
// who waits may be taken for dead then, but at the end of a grace period. And that nobody is waited
// for in two of them.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "simulation/harness/simulated_redis.hpp"
#include "simulation/lock/world.hpp"

namespace mortise::simulation {

class arrivals_watch {
 public:
  arrivals_watch(world& around, simulated_redis& redis) : world_(around), redis_(redis) {}

  // Before a command is carried out.
  void look(const arguments& command);
  // Whether clients may still be on their way back.
  [[nodiscard]] bool is_unsettled() const { return left_ms() > 0; }
  // Whether a waiter in a queue with this expiry has to be taken for one that lives.
  [[nodiscard]] bool keeps_place(const std::string& client, std::int64_t queue_expires_ms) const;
  // Which clients wait for a lock, before each step.
  void note_waiters(const std::string& lock_key, const std::deque<std::string>& clients);
  // One of them is granted the lock. Whether it was waited for once already since it went away.
  bool is_waited_for_again(const std::string& lock_key, const std::string& client);
  void forget() { absences_.clear(); }

 private:
  struct absence {
    std::map<std::string, std::int64_t> since_ms;  // whom nobody hears, from when on
    // The last grace period that is known by a grant which nobody heard.
    std::int64_t began_ms = -1;
    std::int64_t ends_ms = -1;
  };
  [[nodiscard]] std::int64_t left_ms() const;
  [[nodiscard]] bool is_heard(const std::string& client) const;

  world& world_;
  simulated_redis& redis_;
  std::int64_t until_ms_ = 0;                // by the server's clock
  std::map<std::string, absence> absences_;  // by lock
};

}  // namespace mortise::simulation
