// One simulated process: a real quorum deployment and real gates on simulated connections, with a
// clock, pauses and a death of its own; and a user of each of its gates.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "deployment/quorum.hpp"
#include "lock/gate.hpp"
#include "quorum_simulation/node.hpp"
#include "support/history.hpp"

namespace mortise::quorum_simulation {

struct plan {
  std::uint64_t seed = 0;
  int nodes = 3;
  int processes = 3;
  int names = 1;
  int rw_names = 0;  // of these, the first are read-write locks
  std::int64_t write_per_mille = 300;
  std::int64_t repeat_per_mille = 0;  // how many answers are heard twice
  std::int64_t lease_ms = 1000;
  std::int64_t quarantine_ms = 1200;
  std::int64_t drift_ppm = 25'000;
  time_ns latency_ns = ns_per_ms;
  time_ns think_ns = 50 * ns_per_ms;
  time_ns hold_ns = 100 * ns_per_ms;
  time_ns duration = 10 * ns_per_s;
  // The mean time between faults of a kind; 0: never.
  time_ns cuts = 0, hangs = 0, restarts = 0, crashes = 0, pauses = 0;
  bool forgets = false;  // who restarts
  [[nodiscard]] bool has_faults() const { return cuts + hangs + restarts + crashes + pauses > 0; }
};

class process;

// A gate in its simulated surroundings, and who uses it.
class user final : public deployment::inquirer,
                   private lock::link,
                   private lock::gate_listener,
                   private lock::acquire_operation {
 public:
  user(process& of, int number, lock::lock_kind kind);
  void start();
  // Gives back what it holds and waits no more.
  void retire();
  void on_end();
  void on_up();
  void on_free();
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] deployment::named_key named() const { return {name_, keys_.front()}; }
  [[nodiscard]] std::string channel() const;
  [[nodiscard]] bool is_idle() const { return !is_acquiring_ && gate_.is_idle(); }
  [[nodiscard]] bool is_waiting() const { return is_acquiring_; }
  [[nodiscard]] time_ns last_held() const { return last_held_; }
  [[nodiscard]] bool holds() const;

 private:
  template <class Step>
  auto enter(Step&& step);
  void settle();
  void acquire();
  void unlock();
  void end_hold(time_ns at);
  [[nodiscard]] bool is_rw() const { return owner_.limit > 1; }
  void later(time_ns delay, void (user::*what)());
  void on_verdict(deployment::inquiry& answered, const lock::verdict& said,
                  time_ns now) noexcept override;
  bool ask(const lock::question& asked, const lock::operation* by) noexcept override;
  std::string new_owner_token(std::string_view label, std::int64_t grant_ttl_ms) override;
  std::int64_t random_below(std::int64_t bound) noexcept override;
  [[nodiscard]] outcome problem() const override;
  void on_lost(lock::owner& loser) noexcept override;
  void on_at_risk(lock::owner& /*holder*/, reason /*why*/) noexcept override {}
  void finish(const outcome& how, std::int64_t token) noexcept override;

  process& of_;
  const std::uint64_t number_;
  const std::string name_;
  const protocol::table& rules_;
  const protocol::key_set keys_;
  lock::owner owner_;
  lock::gate gate_;
  std::vector<std::unique_ptr<deployment::inquiry>> inquiries_;
  std::vector<deployment::inquiry*> idle_;
  std::uint64_t attempts_ = 0;
  bool is_acquiring_ = false, is_holding_ = false, is_retired_ = false, is_listening_ = false;
  time_ns timer_at_ = time_never;  // true time
  time_ns held_from_ = 0, last_held_ = 0;
  time_ns valid_until_ = 0;  // local
  std::int64_t token_ = 0;
  std::int64_t granted_before_ = 0;  // the highest token when it began to acquire
};

class process final : private deployment::listener {
 public:
  process(world& around, const plan& made, std::vector<std::unique_ptr<node>>& nodes,
          std::vector<testing::hold_record>& history, int number);
  ~process() override;
  void start();
  void run(std::function<void()> what);
  void crash();
  void pause(time_ns until);
  void wake();
  void cut(std::size_t node);
  void retire();
  // For what the library asks of its reactor.
  void schedule(net::timer& item, time_ns at);
  void cancel(net::timer& item);

  [[nodiscard]] time_ns now() const { return clock.read(world_.time.now()); }
  [[nodiscard]] bool is_dead() const { return is_dead_; }
  [[nodiscard]] bool is_well() const { return !is_dead_ && world_.time.now() >= paused_until_; }
  [[nodiscard]] bool is_idle() const;
  [[nodiscard]] world& around() { return world_; }
  [[nodiscard]] const plan& terms() const { return plan_; }
  [[nodiscard]] deployment::deployment& servers() { return *servers_; }
  [[nodiscard]] const std::string& id() const { return id_; }
  [[nodiscard]] const std::vector<std::unique_ptr<user>>& users() const { return users_; }
  void record(const testing::hold_record& made) { history_.push_back(made); }

  const drifting_clock clock;

 private:
  void resume();
  void on_up(const deployment::name_set& names, time_ns now) noexcept override;
  void on_message(std::string_view /*text*/, time_ns /*now*/) noexcept override {}
  void on_said(std::string_view channel) noexcept override;
  void on_listening(std::string_view channel) noexcept override { on_said(channel); }

  world& world_;
  const plan& plan_;
  std::vector<testing::hold_record>& history_;
  const std::string id_;
  net::reactor loop_;  // never started: its timers are ours
  std::map<net::timer*, std::uint64_t> timers_;
  std::uint64_t next_timer_ = 1;
  std::vector<connection*> connections_;
  std::unique_ptr<deployment::deployment> servers_;
  std::vector<std::unique_ptr<user>> users_;
  std::vector<std::function<void()>> postponed_;
  time_ns paused_until_ = 0;
  bool is_dead_ = false;
};

}  // namespace mortise::quorum_simulation
