// One run: processes, their faults, and whether waiters are granted the lock. A derived class has
// the faults of the servers.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "simulation/process/process.hpp"
#include "simulation/process/process_world.hpp"

namespace mortise::process_simulation {

class run {
 public:
  run(world& around, const terms& made) : world_(around), plan_(made) {}
  virtual ~run() = default;
  [[nodiscard]] std::size_t grants() const { return world_.history.size(); }

 protected:
  virtual std::unique_ptr<deployment::deployment> make_deployment(
      process& of, net::reactor& loop, deployment::listener& listener) = 0;
  virtual void on_death(process& of) = 0;

  void add_process();
  // Does something now and then, until all is healed.
  void plan_fault(time_ns mean, const std::function<void()>& what);
  void crash();
  void pause() {
    somebody().pause(world_.time.now() + world_.dice.spread(3 * to_ns(plan_.lease_ms)));
  }
  void live(time_ns until);
  // Without a holder and without a fault, a waiter is granted the lock in that time.
  void watch(time_ns longest);
  [[nodiscard]] virtual bool is_amiss() const = 0;
  void heal();
  void retire();
  // All processes have ended. Called before the servers are destroyed.
  void end() { processes_.clear(); }
  // All processes are at rest, and no two held at the same time.
  void check_end();
  process& somebody() { return *some_of(processes_); }
  template <class Item>
  Item& some_of(std::vector<Item>& all) {
    return all[static_cast<std::size_t>(world_.dice.below(static_cast<std::int64_t>(all.size())))];
  }

 private:
  void look_at(const std::string& name, time_ns longest);

  world& world_;
  const terms& plan_;
  std::vector<std::unique_ptr<process>> processes_;
  int number_ = 0;
  std::uint64_t events_ = 0;
  std::map<std::string, time_ns> waits_since_;

 protected:
  [[nodiscard]] const std::vector<std::unique_ptr<process>>& processes() const {
    return processes_;
  }
};

// What one seed came to.
struct result {
  std::vector<std::string> violations;
  std::size_t grants = 0;
};

struct request {
  std::uint64_t seed = 0;
  bool is_verbose = false;
  std::string trace;  // a file; empty: none
};

// Runs seeds until one fails; the command line selects them. Returns the exit code of main().
int run_seeds(int argc, char** argv, const char* program, std::uint64_t seeds,
              const std::function<result(const request&)>& run_seed);

}  // namespace mortise::process_simulation
