// Knows when the server is unsettled, by what it has seen of its past and of the greetings: nobody
// who waits may be taken for dead then.
#pragma once

#include <cstdint>

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
  // Whether a waiter has to be taken for one that lives.
  [[nodiscard]] bool keeps_place(const std::string& client) const;

 private:
  [[nodiscard]] std::int64_t left_ms() const;

  world& world_;
  simulated_redis& redis_;
  std::int64_t until_ms_ = 0;  // by the server's clock
};

}  // namespace mortise::simulation
