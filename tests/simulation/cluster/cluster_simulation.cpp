// Runs histories of a cluster, each made from a seed, until one breaks a promise. The code of
// src/deployment/cluster and the scripts are real. Slots move; servers die, hang and are replaced;
// replicas lag behind; processes die and stop.
#include <algorithm>
#include <memory>
#include <vector>

#include "deployment/cluster/cluster_deployment.hpp"
#include "simulation/cluster/cluster_link.hpp"
#include "simulation/cluster/cluster_node.hpp"
#include "simulation/cluster/slot_trace.hpp"
#include "simulation/process/process_run.hpp"

namespace mortise::cluster_simulation {
namespace {

struct plan : process_simulation::terms {
  std::uint64_t seed = 0;
  cluster_terms servers;
  int processes = 3;
  redis::compare_and_delete compare_and_delete = redis::compare_and_delete::none;
  time_ns latency_ns = ns_per_ms;
  time_ns duration = 10 * ns_per_s;
  // The mean time between faults of a kind; 0: never.
  time_ns moves = 0, slow_moves = 0, failovers = 0, takeovers = 0;  // by hand
  time_ns cuts = 0, short_hangs = 0, crashes = 0, pauses = 0;  // whatever befalls others as well
  time_ns kills = 0, hangs = 0;                                // of masters
  [[nodiscard]] bool has_faults() const {
    return takeovers + cuts + short_hangs + crashes + pauses + slow_moves + kills + hangs > 0;
  }
};

time_ns now_and_then(chance& dice) {
  return dice.happens(500) ? 0 : dice.between(200, 5000) * ns_per_ms;
}

plan make_plan(std::uint64_t seed) {
  chance dice(seed * 2);
  plan made;
  made.seed = seed;
  made.servers.masters = static_cast<int>(dice.between(2, 4));
  made.processes = static_cast<int>(dice.between(1, 5));
  made.names = static_cast<int>(dice.between(1, 4));
  made.rw_names = static_cast<int>(dice.between(0, made.names));
  made.write_per_mille = dice.one_of<std::int64_t>({50, 300, 700});
  made.lease_ms = dice.one_of<std::int64_t>({1000, 5000, 30'000});
  made.latency_ns =
      20 * ns_per_us + dice.spread(std::min(to_ns(made.lease_ms) / 100, 30 * ns_per_ms));
  made.think_ns = 100 * ns_per_us + dice.spread(300 * ns_per_ms);
  made.hold_ns = dice.spread(to_ns(made.lease_ms));
  made.duration = dice.between(3, 20) * ns_per_s;
  made.servers.gossip_ns = dice.spread(2 * ns_per_s);
  made.compare_and_delete =
      dice.one_of({redis::compare_and_delete::none, redis::compare_and_delete::delifeq});
  made.moves = dice.between(100, 3000) * ns_per_ms;
  if (dice.happens(300)) {
    // A migration by hand loses nothing. The clocks of the servers may differ where leases are TTLs
    // of keys, which move along. The times of parts are times of the server's clock.
    if (made.rw_names == 0) made.servers.clock_spread_ns = dice.spread(10 * ns_per_s);
    return made;
  }
  made.slow_moves = now_and_then(dice);
  made.failovers = now_and_then(dice);
  made.cuts = now_and_then(dice);
  made.short_hangs = now_and_then(dice);
  made.crashes = now_and_then(dice) * 3;
  made.pauses = now_and_then(dice);
  made.kills = now_and_then(dice) * 3;
  made.hangs = now_and_then(dice) * 3;
  if (dice.happens(600)) return made;
  made.takeovers = dice.between(100, 2000) * ns_per_ms;
  made.servers.lag_ns = dice.between(100, 1000) * ns_per_ms;
  // Then no client gets a token below one that it has seen. Others may get the same.
  if (dice.happens(500)) made.servers.clock_spread_ns = dice.spread(10 * ns_per_s);
  return made;
}

class run final : public process_simulation::run {
 public:
  run(const plan& made, const process_simulation::request& wanted)
      : process_simulation::run(world_, plan_),
        plan_(made),
        world_(made.seed * 2 + 1),
        servers_(begun(world_, made, wanted.is_verbose), made.servers) {
    servers_.on_death = [this](int number) { cut_all(number); };
    for (int i = 0; i < servers_.size(); ++i) {
      servers_.at(i).redis.compare_and_delete = made.compare_and_delete;
    }
    if (!wanted.trace.empty()) {
      trace_ = std::make_unique<slot_trace>(world_, servers_, wanted.trace);
      world_.trace = servers_.trace = trace_.get();
    }
    for (int i = 0; i < made.processes; ++i) add_process();
  }
  ~run() override {
    end();
    forget_links();
  }
  const std::vector<std::string>& go();

 private:
  static world& begun(world& around, const plan& made, bool is_verbose) {
    around.is_verbose = is_verbose;
    around.latency_ns = made.latency_ns;
    around.is_exclusive = made.servers.lag_ns == 0;
    around.has_one_clock = made.servers.clock_spread_ns == 0;
    return around;
  }
  std::unique_ptr<deployment::deployment> make_deployment(process& of, net::reactor& loop,
                                                          deployment::listener& listener) override;
  void on_death(process& of) override {
    for (const auto& one : all_links()) {
      if (&one->owner() == &of) one->forget();
    }
  }
  [[nodiscard]] bool is_amiss() const override {
    return (plan_.has_faults() && !world_.is_healed) || world_.time.now() < servers_.amiss_until();
  }
  void plan_faults();
  void cut();
  void cut_all(int number);
  int some_slot();
  int some_node() { return static_cast<int>(world_.dice.below(servers_.size())); }
  void check_keys();

  const plan plan_;
  world world_;
  node_set servers_;
  std::unique_ptr<slot_trace> trace_;
};

std::unique_ptr<deployment::deployment> run::make_deployment(process& of, net::reactor& loop,
                                                             deployment::listener& listener) {
  set_servers(of, servers_);
  redis::endpoint_url url;
  url.scheme = redis::url_scheme::cluster;
  url.cluster.push_back({"10.0.0.1", 6379});
  url.cluster.push_back({"10.0.0.2", 6379});
  settings terms;
  return deployment::make_cluster(url, {}, loop, terms, of.id(), listener);
}

// Of those that are in use.
int run::some_slot() {
  const auto& users = processes().front()->users();
  return cluster::slot_of(
      users[static_cast<std::size_t>(world_.dice.below(static_cast<std::int64_t>(users.size())))]
          ->key());
}

void run::cut() {
  const auto& all = all_links();
  if (all.empty()) return;
  const auto& one =
      all[static_cast<std::size_t>(world_.dice.below(static_cast<std::int64_t>(all.size())))];
  one->run_cut();
}

void run::cut_all(int number) {
  for (const auto& one : all_links()) {
    if (one->server() == number) one->run_cut();
  }
}

void run::plan_faults() {
  plan_fault(plan_.moves, [this] { servers_.move(some_slot()); });
  plan_fault(plan_.slow_moves, [this] {
    servers_.move_slowly(some_slot(), world_.dice.between(1, 3000) * ns_per_ms);
  });
  plan_fault(plan_.failovers, [this] { servers_.fail_over(some_node()); });
  plan_fault(plan_.takeovers, [this] { servers_.take_over(some_node()); });
  plan_fault(plan_.cuts, [this] { cut(); });
  plan_fault(plan_.short_hangs, [this] { servers_.hang_briefly(some_node()); });
  plan_fault(plan_.crashes, [this] { crash(); });
  plan_fault(plan_.pauses, [this] { pause(); });
  plan_fault(plan_.kills, [this] { servers_.kill(some_node()); });
  plan_fault(plan_.hangs, [this] { servers_.hang(some_node()); });
}

const std::vector<std::string>& run::go() {
  const auto longest = 2 * to_ns(plan_.lease_ms) + 10 * ns_per_s;
  watch(plan_.has_faults() ? longest : 5 * ns_per_s);
  plan_faults();
  live(plan_.duration);
  heal();
  // What was begun comes to its end.
  if (plan_.has_faults()) live(std::max(world_.time.now(), servers_.amiss_until()) + longest);
  retire();
  live(world_.time.now() + (plan_.has_faults() ? longest : 2 * ns_per_s));
  if (world_.violations.empty()) check_keys();
  if (world_.violations.empty()) check_end();
  if (!plan_.has_faults() && world_.lost > 0)
    world_.violate("a hold was lost, by slots that moved");
  return world_.violations;
}

// Nothing is left of what was held.
void run::check_keys() {
  for (int i = 0; i < servers_.size(); ++i) {
    for (const auto& key : servers_.at(i).redis.keys()) {
      const bool is_lock = key.starts_with("{mortise") && key.ends_with("}");
      if (is_lock && servers_.owner_of(cluster::slot_of(key)) == i) {
        world_.violate("a lock stays: " + key);
      }
    }
  }
}

}  // namespace
}  // namespace mortise::cluster_simulation

int main(int argc, char** argv) {
  using namespace mortise::cluster_simulation;
  return mortise::process_simulation::run_seeds(
      argc, argv, "cluster_simulation", 80,
      [](const mortise::process_simulation::request& made) -> mortise::process_simulation::result {
        run one(make_plan(made.seed), made);
        const auto violations = one.go();
        return {violations, one.grants()};
      });
}
