// Plays histories of a quorum, each made from a seed, until one breaks a promise: the real code of
// src/deployment and src/quorum and the real scripts, with nodes that restart and forget, answers
// that are late or lost, and processes that die and stop.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "lock/lease.hpp"
#include "quorum_simulation/process.hpp"

namespace mortise::quorum_simulation {
namespace {

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
  made.quarantine_ms = lock::server_ttl_ms(made.lease_ms, 100'000) + dice.below(1000);
  made.latency_ns =
      20 * ns_per_us + dice.spread(std::min(to_ns(made.lease_ms) / 20, 50 * ns_per_ms));
  made.think_ns = 100 * ns_per_us + dice.spread(300 * ns_per_ms);
  made.hold_ns = dice.spread(to_ns(made.lease_ms));
  made.duration = dice.between(3, 20) * ns_per_s;
  made.rw_names = static_cast<int>(dice.between(0, made.names));
  made.write_per_mille = dice.one_of<std::int64_t>({50, 300, 700});
  if (dice.happens(500)) made.repeat_per_mille = 200;
  if (dice.happens(250)) return made;
  made.cuts = now_and_then(dice);
  made.hangs = now_and_then(dice);
  made.restarts = now_and_then(dice) * 3;
  made.crashes = now_and_then(dice) * 3;
  made.pauses = now_and_then(dice);
  made.forgets = dice.happens(600);
  return made;
}

class run {
 public:
  run(const plan& made, bool is_verbose) : plan_(made), world_(made.seed * 2 + 1) {
    world_.is_verbose = is_verbose;
    world_.latency_ns = made.latency_ns;
    world_.repeat_per_mille = made.repeat_per_mille;
    for (int i = 0; i < made.nodes; ++i) {
      nodes_.push_back(std::make_unique<node>(world_, made.drift_ppm));
    }
    for (int i = 0; i < made.processes; ++i) add_process();
  }
  const std::vector<std::string>& go();
  [[nodiscard]] std::size_t grants() const { return history_.size(); }

 private:
  void add_process() {
    processes_.push_back(std::make_unique<process>(world_, plan_, nodes_, history_, ++number_));
    processes_.back()->start();
  }
  void plan_fault(time_ns mean, void (run::*what)());
  void cut() { somebody().cut(some_node()); }
  void hang();
  void restart();
  void crash();
  void pause();
  void live(time_ns until);
  void watch();
  void check_end();
  process& somebody() {
    return *processes_[static_cast<std::size_t>(
        world_.dice.below(static_cast<std::int64_t>(processes_.size())))];
  }
  std::size_t some_node() {
    return static_cast<std::size_t>(world_.dice.below(static_cast<std::int64_t>(nodes_.size())));
  }

  const plan plan_;
  world world_;
  std::vector<std::unique_ptr<node>> nodes_;
  std::vector<testing::hold_record> history_;
  std::vector<std::unique_ptr<process>> processes_;
  int number_ = 0;
  std::uint64_t events_ = 0;
  std::map<std::string, time_ns> waits_since_;
};

void run::plan_fault(time_ns mean, void (run::*what)()) {
  if (mean == 0) return;
  world_.time.after(world_.dice.below(2 * mean), [this, mean, what] {
    if (world_.is_healed) return;
    (this->*what)();
    plan_fault(mean, what);
  });
}

void run::hang() {
  auto& one = *nodes_[some_node()];
  one.works_at = std::max(one.works_at, world_.time.now() + world_.dice.spread(3 * ns_per_s));
}

void run::restart() {
  const auto which = some_node();
  auto& one = *nodes_[which];
  const bool forgets = plan_.forgets && world_.dice.happens(700);
  world_.say("---- node " + std::to_string(which) + (forgets ? " forgets" : " restarts"));
  ++one.era;
  one.up_at = world_.time.now() + world_.dice.spread(3 * ns_per_s);
  one.redis.restart(forgets ? simulated_redis::data() : one.redis.all_data());
  for (const auto& each : processes_) each->cut(which);
}

void run::crash() {
  auto& one = somebody();
  if (one.is_dead()) return;
  one.crash();
  add_process();
}

void run::pause() {
  somebody().pause(world_.time.now() + world_.dice.spread(3 * to_ns(plan_.lease_ms)));
}

void run::live(time_ns until) {
  while (world_.violations.empty() && world_.time.advance(until)) {
    if (++events_ > 5'000'000) world_.violate("too many events: something spins");
  }
}

// Whoever waits while nobody holds gets the lock, once all is well.
void run::watch() {
  for (int i = 0; i < plan_.names; ++i) {
    const auto name = "name " + std::to_string(i);
    bool is_waiting = false, is_held = false;
    for (const auto& each : processes_) {
      for (const auto& who : each->users()) {
        if (each->is_dead() || who->name() != name) continue;
        is_waiting = is_waiting || who->is_waiting();
        is_held = is_held || who->holds();
      }
    }
    auto& since = waits_since_[name];
    since = std::max(since, world_.granted[name].last);
    if (!is_waiting || is_held) since = world_.time.now();
    if (plan_.has_faults() && !world_.is_healed) since = world_.time.now();
    const auto longest = to_ns(plan_.quarantine_ms) * (plan_.has_faults() ? 2 : 0) + 5 * ns_per_s;
    if (world_.time.now() - since > longest) world_.violate(name + ": nobody gets it");
  }
  world_.time.after(50 * ns_per_ms, [this] { watch(); });
}

const std::vector<std::string>& run::go() {
  watch();
  plan_fault(plan_.cuts, &run::cut);
  plan_fault(plan_.hangs, &run::hang);
  plan_fault(plan_.restarts, &run::restart);
  plan_fault(plan_.crashes, &run::crash);
  plan_fault(plan_.pauses, &run::pause);
  live(plan_.duration);
  world_.is_healed = true;
  for (const auto& each : processes_) each->wake();
  const auto longest = 2 * to_ns(plan_.quarantine_ms) + 10 * ns_per_s;
  if (plan_.has_faults()) live(world_.time.now() + longest);
  for (const auto& each : processes_) each->retire();
  // Where nothing was wrong votes are given back, and not left to the end of their leases.
  live(world_.time.now() + (plan_.has_faults() ? longest : ns_per_s));
  if (world_.violations.empty()) check_end();
  return world_.violations;
}

void run::check_end() {
  for (const auto& each : processes_) {
    if (!each->is_dead() && !each->is_idle()) world_.violate(each->id() + " does not come to rest");
  }
  for (const auto& one : nodes_) {
    for (const auto& key : one->redis.keys()) {
      if (key.starts_with("{mortise:") && key.ends_with("}"))
        world_.violate("a vote stays: " + key);
    }
  }
  for (const auto& problem : testing::check_history(history_)) world_.violate(problem);
}

}  // namespace
}  // namespace mortise::quorum_simulation

int main(int argc, char** argv) {
  using namespace mortise::quorum_simulation;
  std::uint64_t seeds = 40, first = 1, seed = 0;
  bool is_verbose = false;
  CLI::App line("Plays histories of a quorum, each made from a seed, until one breaks a promise.",
                "quorum_simulation");
  line.add_option("--seeds", seeds, "how many; default 40");
  line.add_option("--first-seed", first, "where to begin; default 1");
  auto* single = line.add_option("--seed", seed, "this one again");
  line.add_flag("--verbose", is_verbose, "tell all that happens");
  CLI11_PARSE(line, argc, argv);
  if (!single->empty()) {
    first = seed;
    seeds = 1;
  }
  std::size_t grants = 0;
  for (auto each = first; each < first + seeds; ++each) {
    run one(make_plan(each), is_verbose);
    const auto violations = one.go();
    grants += one.grants();
    if (violations.empty()) continue;
    std::printf("seed %llu failed:\n", static_cast<unsigned long long>(each));
    for (const auto& what : violations) std::printf("  %s\n", what.c_str());
    std::printf("  again: quorum_simulation --seed %llu --verbose\n",
                static_cast<unsigned long long>(each));
    return 1;
  }
  std::printf("%llu runs, %zu grants\n", static_cast<unsigned long long>(seeds), grants);
  return grants > seeds ? 0 : 1;
}
