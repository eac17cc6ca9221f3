// Checks each step of a read-write lock or semaphore at the server: which owner may change what,
// how much may be out at once, and in which order waiters are let in.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>

#include "simulation/harness/simulated_redis.hpp"
#include "simulation/lock/grace_period_watch.hpp"
#include "simulation/lock/world.hpp"

namespace mortise::simulation {

class shared_watch {
 public:
  shared_watch(world& around, simulated_redis& redis, grace_period_watch& grace_period)
      : world_(around), redis_(redis), grace_period_(grace_period) {}

  // Whether a queue with this key is that of a shared kind.
  static bool is_shared(std::string_view queue_key) {
    return queue_key.ends_with(":rq") || queue_key.ends_with(":sq");
  }
  void execute(session& from, const arguments& command, std::size_t key_count);
  // The adopter follows the exported owner, and nothing else changes.
  void execute_adoption(session& from, const arguments& command, std::size_t key_count);
  // The observed facts about waiters.
  void forget() { names_.clear(); }

 private:
  struct step {
    std::string lock_key;
    std::string queue_key;
    std::string permits_key;  // empty for a read-write lock
    std::string requester;    // an owner token
    std::string given_permits;
    bool is_resize = false;
    bool is_refused = false;
  };
  struct sight {
    bool is_foreign = false;
    std::map<std::string, std::int64_t> holders;  // entries, by when their lease ends
    std::int64_t counted = 0;                     // by the counter
    std::int64_t capacity = 0;
    std::int64_t expires_ms = -1;
    std::deque<std::string> queue;
    std::int64_t queue_expires_ms = -1;
  };
  struct facts {
    std::int64_t join_count = 0;
    std::map<std::string, std::int64_t> joined;  // waiters, by the order in which they came
    // When the head became the head or looked last, and when it was asked to look; 0: not since.
    std::int64_t sign_ms = 0;
    std::int64_t request_ms = 0;
  };
  static step step_of(const arguments& command, std::size_t key_count);
  sight look(const step& of);
  void check_holders(const step& done, const sight& before, const sight& after);
  void check_newcomer(const step& done, const std::string& entry, const sight& before,
                      const sight& after);
  void check_permits(const step& done, const sight& before, const sight& after);
  void check_queue(const step& done, const sight& before, const sight& after);
  void check_passed(const step& done, const std::string& entry, const facts& seen,
                    const sight& before, const sight& after);
  void note_signs(const step& done, facts& seen, const sight& before, const sight& after);
  [[nodiscard]] std::int64_t permits_in_force(const sight& seen) const;
  [[nodiscard]] bool is_alive(const std::string& entry, const sight& before) const;
  void complain(const step& done, const std::string& what);

  world& world_;
  simulated_redis& redis_;
  grace_period_watch& grace_period_;
  std::map<std::string, facts> names_;
};

}  // namespace mortise::simulation
