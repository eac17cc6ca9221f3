// Checks the heads of queues of readers, writers or permits. No dead waiter stands there for long
// while others wait behind it. No waiter waits there although it fits.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "simulation/harness/simulated_redis.hpp"
#include "simulation/lock/simulated_client.hpp"
#include "simulation/lock/world.hpp"

namespace mortise::simulation {

class head_watch {
 public:
  head_watch(world& around, simulated_server& server,
             const std::vector<std::unique_ptr<simulated_client>>& clients)
      : world_(around),
        redis_(server.redis),
        grace_period_(server.watch.grace_period()),
        clients_(clients) {}

  // Looks at a lock as it is now.
  void look(const std::string& lock_key, const std::string& queue_key);

 private:
  enum class condition : std::uint8_t { fine, dead, silent, has_room };
  struct facts {
    std::string head;
    condition state = condition::fine;
    time_ns since = 0;        // of both
    time_ns grace_until = 0;  // when the server was so last
    time_ns crowded_at = 0;   // when there were so many that the last of them looked seldom
  };
  [[nodiscard]] condition condition_of(const std::deque<std::string>& queue,
                                       const std::string& lock_key);
  [[nodiscard]] bool has_room(const std::string& entry, const std::string& lock_key);
  [[nodiscard]] bool is_well(const std::string& entry) const;
  [[nodiscard]] time_ns bound(condition state) const;

  world& world_;
  simulated_redis& redis_;
  const grace_period_watch& grace_period_;
  const std::vector<std::unique_ptr<simulated_client>>& clients_;
  std::map<std::string, facts> names_;
};

}  // namespace mortise::simulation
