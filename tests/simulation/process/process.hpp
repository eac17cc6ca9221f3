// One simulated process: a real deployment on simulated servers, and real gates, each with a user.
// It has its own clock, pauses and death.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "deployment/api/deployment.hpp"
#include "net/reactor.hpp"
#include "simulation/process/process_user.hpp"
#include "simulation/process/process_world.hpp"

namespace mortise::process_simulation {

class process final : private deployment::listener {
 public:
  using deployment_maker = std::function<std::unique_ptr<deployment::deployment>(
      process& self, net::reactor& loop, deployment::listener& listener)>;

  process(world& around, const terms& made, int number, const deployment_maker& make);
  ~process() override;
  void start();
  // Does something in the time of the process, unless that is dead.
  void run(std::function<void()> what);
  void crash();
  void pause(time_ns until);
  void wake();
  void retire();
  // For what the library asks of its reactor.
  void schedule(net::timer& item, time_ns at);
  void cancel(net::timer& item);
  void post(net::task& item);
  void cancel(net::task& item);
  // A posted task runs now, because a caller waits for it.
  void run_posted();

  [[nodiscard]] time_ns now() const { return clock.read(world_.time.now()); }
  [[nodiscard]] bool is_dead() const { return is_dead_; }
  [[nodiscard]] bool is_well() const { return !is_dead_ && world_.time.now() >= paused_until_; }
  [[nodiscard]] bool is_idle() const;
  [[nodiscard]] world& around() { return world_; }
  [[nodiscard]] const terms& plan() const { return plan_; }
  [[nodiscard]] deployment::deployment& servers() { return *servers_; }
  [[nodiscard]] const std::string& id() const { return id_; }
  [[nodiscard]] const std::vector<std::unique_ptr<user>>& users() const { return users_; }

  const drifting_clock clock;

 private:
  void resume();
  void on_up(const deployment::name_set& names, time_ns now) noexcept override;
  void on_unacknowledged(const deployment::name_set& names, time_ns now) noexcept override;
  void on_message(std::string_view text, time_ns now) noexcept override;
  void on_channel_message(std::string_view channel) noexcept override;
  void on_listening(std::string_view channel) noexcept override { on_channel_message(channel); }
  void on_note(log_subject /*what*/, const outcome& /*result*/) noexcept override {}

  world& world_;
  const terms& plan_;
  const std::string id_;
  net::reactor loop_;  // never started: its timers and tasks are ours
  std::map<net::timer*, std::uint64_t> timers_;
  std::uint64_t next_timer_ = 1;
  std::vector<net::task*> posted_;
  std::unique_ptr<deployment::deployment> servers_;
  std::vector<std::unique_ptr<user>> users_;
  std::vector<std::function<void()>> postponed_;
  time_ns paused_until_ = 0;
  bool is_dead_ = false;
};

// The process whose code runs now; nullptr without one.
process* acting_process();
process& process_of(net::reactor& loop);

}  // namespace mortise::process_simulation
