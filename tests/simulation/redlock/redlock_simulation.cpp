// Runs histories of a quorum, each made from a seed, until one breaks a promise. The code of
// src/deployment/redlock and the scripts are real. Nodes restart and forget, replies are late or
// lost, and processes die and stop.
#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "deployment/redlock/quorum.hpp"
#include "lock/lease.hpp"
#include "simulation/process/process_run.hpp"
#include "simulation/redlock/redlock_node.hpp"
#include "simulation/redlock/vote_trace.hpp"

namespace mortise::redlock_simulation {
namespace {

using process_simulation::process;

struct plan : process_simulation::terms {
  std::uint64_t seed = 0;
  int nodes = 3;
  int processes = 3;
  std::int64_t repeat_per_mille = 0;  // the part of replies that are delivered twice
  std::int64_t longest_ms = 1200;     // of a vote at a server
  std::int64_t quarantine_ms = 1200;
  time_ns latency_ns = ns_per_ms;
  time_ns duration = 10 * ns_per_s;
  // The mean time between faults of a kind, and between snapshots; 0: never.
  time_ns cuts = 0, hangs = 0, restarts = 0, snapshots = 0, crashes = 0, pauses = 0;
  bool forgets = false;  // the node that restarts
  [[nodiscard]] bool has_faults() const { return cuts + hangs + restarts + crashes + pauses > 0; }
};

time_ns now_and_then(chance& dice) {
  return dice.happens(500) ? 0 : dice.between(200, 5000) * ns_per_ms;
}

plan make_plan(std::uint64_t seed) {
  chance dice(seed * 2);
  plan made;
  made.seed = seed;
  made.nodes = static_cast<int>(dice.one_of({2, 3, 3, 3, 4, 5, 5}));
  made.processes = static_cast<int>(dice.between(1, 5));
  made.names = static_cast<int>(dice.between(1, 2));
  made.lease_ms = dice.one_of<std::int64_t>({200, 1000, 1000, 5000, 30'000});
  made.longest_ms = lock::server_ttl_ms(made.lease_ms) + dice.below(1000);
  made.quarantine_ms = made.longest_ms;
  made.latency_ns =
      20 * ns_per_us + dice.spread(std::min(to_ns(made.lease_ms) / 20, 50 * ns_per_ms));
  made.think_ns = 100 * ns_per_us + dice.spread(300 * ns_per_ms);
  made.hold_ns = dice.spread(to_ns(made.lease_ms));
  made.duration = dice.between(3, 20) * ns_per_s;
  made.rw_names = static_cast<int>(dice.between(0, made.names));
  made.write_per_mille = dice.one_of<std::int64_t>({50, 300, 700});
  made.change_per_mille = dice.one_of<std::int64_t>({0, 300, 900});
  if (dice.happens(500)) made.repeat_per_mille = 200;
  if (dice.happens(250)) return made;
  made.cuts = now_and_then(dice);
  made.hangs = now_and_then(dice);
  made.restarts = now_and_then(dice) * 3;
  made.crashes = now_and_then(dice) * 3;
  made.pauses = now_and_then(dice);
  made.forgets = dice.happens(600);
  made.snapshots = made.restarts / 4;
  // Servers that lose nothing vote again at once.
  if (!made.forgets && dice.happens(500)) made.quarantine_ms = 0;
  return made;
}

class run final : public process_simulation::run {
 public:
  run(const plan& made, const process_simulation::request& wanted)
      : process_simulation::run(world_, plan_), plan_(made), world_(made.seed * 2 + 1) {
    world_.is_verbose = wanted.is_verbose;
    world_.latency_ns = made.latency_ns;
    world_.repeat_per_mille = made.repeat_per_mille;
    for (int i = 0; i < made.nodes; ++i) {
      // Up to nearly two quarantines apart, so that tokens of the first outlive that of the second.
      const auto apart = to_ns(made.longest_ms) / 10 * 9;
      const auto ahead = apart * world_.dice.below(3) + world_.dice.below(apart / 10);
      nodes_.push_back(std::make_unique<node>(world_, ahead, made.drift_ppm));
    }
    if (!wanted.trace.empty()) {
      trace_ = std::make_unique<vote_trace>(world_, nodes_, made.quarantine_ms, wanted.trace);
      world_.trace = world_.votes = trace_.get();
    }
    for (int i = 0; i < made.processes; ++i) add_process();
  }
  ~run() override { end(); }
  const std::vector<std::string>& go();

 private:
  std::unique_ptr<deployment::deployment> make_deployment(process& of, net::reactor& loop,
                                                          deployment::listener& listener) override;
  void on_death(process& of) override {
    for (auto* const each : connections_[&of]) each->leave();
  }
  [[nodiscard]] bool is_amiss() const override { return plan_.has_faults() && !world_.is_healed; }
  void cut(process& of, std::size_t node) {
    of.run([one = connections_[&of][node]] { one->cut(); });
  }
  void hang();
  void restart();
  [[nodiscard]] bool may_forget(const node& one) const;
  void check_votes();
  std::size_t some_node() {
    return static_cast<std::size_t>(world_.dice.below(static_cast<std::int64_t>(nodes_.size())));
  }

  const plan plan_;
  world world_;
  vote_trace::nodes nodes_;
  std::unique_ptr<vote_trace> trace_;
  std::map<process*, std::vector<connection*>> connections_;
};

std::unique_ptr<deployment::deployment> run::make_deployment(process& of, net::reactor& loop,
                                                             deployment::listener& listener) {
  std::vector<deployment::single_url> urls(nodes_.size());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    urls[i].place = "node " + std::to_string(i);
    urls[i].make = [this, &of, i](net::reactor& /*loop*/, const settings& /*terms*/,
                                  std::string_view client_id, deployment::listener& node_listener) {
      const protocol::membership as{{std::string(client_id)},
                                    static_cast<std::int64_t>(i),
                                    static_cast<std::int64_t>(nodes_.size()),
                                    plan_.quarantine_ms};
      auto one = std::make_unique<connection>(
          world_, *nodes_[i], node_listener, as, [&of](auto what) { of.run(std::move(what)); },
          of.clock);
      connections_[&of].push_back(one.get());
      return one;
    };
  }
  settings terms;
  terms.quarantine_ms = plan_.quarantine_ms;
  terms.drift_ppm = mortise::default_drift_ppm;
  return deployment::make_quorum(urls, loop, terms, of.id(), listener);
}

void run::hang() {
  auto& one = *nodes_[some_node()];
  one.works_at = std::max(one.works_at, world_.time.now() + world_.dice.spread(3 * ns_per_s));
}

// Tokens rise where no server's clock is ahead by more than the quarantine of one that forgets.
bool run::may_forget(const node& one) const {
  const auto now = world_.time.now();
  return std::all_of(nodes_.begin(), nodes_.end(), [&](const auto& other) {
    return other->clock.read(now) - one.clock.read(now) <= to_ns(plan_.quarantine_ms);
  });
}

// With what it had, with nothing, or with what its latest snapshot has.
void run::restart() {
  const auto which = some_node();
  auto& one = *nodes_[which];
  const bool forgets = plan_.forgets && world_.dice.happens(700) && may_forget(one);
  const bool is_empty = world_.dice.happens(400);
  world_.log("---- node " + std::to_string(which) +
             (!forgets   ? " restarts"
              : is_empty ? " restarts empty"
                         : " restarts with old data"));
  ++one.era;
  one.up_at = world_.time.now() + world_.dice.spread(3 * ns_per_s);
  if (forgets && is_empty) one.snapshot.clear();
  one.redis.restart(forgets ? one.snapshot : one.redis.all_data());
  if (trace_) trace_->note_restart(which, !forgets ? "data" : is_empty ? "nothing" : "snapshot");
  for (const auto& each : processes()) cut(*each, which);
}

const std::vector<std::string>& run::go() {
  watch(to_ns(plan_.longest_ms) * (plan_.has_faults() ? 2 : 0) + 5 * ns_per_s);
  plan_fault(plan_.cuts, [this] { cut(somebody(), some_node()); });
  plan_fault(plan_.hangs, [this] { hang(); });
  plan_fault(plan_.restarts, [this] { restart(); });
  plan_fault(plan_.snapshots, [this] {
    const auto which = some_node();
    nodes_[which]->snapshot = nodes_[which]->redis.all_data();
    if (trace_) trace_->note_snapshot(which);
  });
  plan_fault(plan_.crashes, [this] { crash(); });
  plan_fault(plan_.pauses, [this] { pause(); });
  live(plan_.duration);
  heal();
  const auto longest = 2 * to_ns(plan_.longest_ms) + 10 * ns_per_s;
  if (plan_.has_faults()) live(world_.time.now() + longest);
  retire();
  // Where nothing was wrong votes are given back, and not left to the end of their leases.
  live(world_.time.now() + (plan_.has_faults() ? longest : ns_per_s));
  if (world_.violations.empty()) check_votes();
  if (world_.violations.empty()) check_end();
  return world_.violations;
}

void run::check_votes() {
  for (const auto& one : nodes_) {
    for (const auto& key : one->redis.keys()) {
      if (key.starts_with("{mortise:") && key.ends_with("}"))
        world_.violate("a vote stays: " + key);
    }
  }
}

}  // namespace
}  // namespace mortise::redlock_simulation

int main(int argc, char** argv) {
  using namespace mortise::redlock_simulation;
  return mortise::process_simulation::run_seeds(
      argc, argv, "redlock_simulation", 40,
      [](const mortise::process_simulation::request& made) -> mortise::process_simulation::result {
        run one(make_plan(made.seed), made);
        const auto violations = one.go();
        return {violations, one.grants()};
      });
}
