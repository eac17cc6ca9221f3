#include "simulation/process/process_run.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "base/system/fork.hpp"

namespace mortise::process_simulation {

void run::add_process() {
  processes_.push_back(std::make_unique<process>(
      world_, plan_, ++number_,
      [this](process& of, net::reactor& loop, deployment::listener& listener) {
        return make_deployment(of, loop, listener);
      }));
  processes_.back()->start();
}

void run::plan_fault(time_ns mean, const std::function<void()>& what) {
  if (mean == 0) return;
  world_.time.after(world_.dice.below(2 * mean), [this, mean, what] {
    if (world_.is_healed) return;
    what();
    plan_fault(mean, what);
  });
}

void run::crash() {
  auto& one = somebody();
  if (one.is_dead()) return;
  one.crash();
  on_death(one);
  add_process();
}

void run::live(time_ns until) {
  while (world_.violations.empty() && world_.time.advance(until)) {
    if (++events_ > 5'000'000) world_.violate("too many events: something spins");
  }
}

void run::watch(time_ns longest) {
  for (int i = 0; i < plan_.names; ++i) look_at("name " + std::to_string(i), longest);
  world_.time.after(50 * ns_per_ms, [this, longest] { watch(longest); });
}

void run::look_at(const std::string& name, time_ns longest) {
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
  if (!is_waiting || is_held || is_amiss()) since = world_.time.now();
  if (world_.time.now() - since > longest) world_.violate(name + ": nobody gets it");
}

void run::heal() {
  world_.is_healed = true;
  for (const auto& each : processes_) each->wake();
}

void run::retire() {
  for (const auto& each : processes_) each->retire();
}

void run::check_end() {
  for (const auto& each : processes_) {
    if (!each->is_dead() && !each->is_idle()) world_.violate(each->id() + " does not come to rest");
  }
  if (!world_.is_exclusive && !world_.has_one_clock) return;
  const testing::history_rules rules{world_.is_exclusive};
  for (const auto& problem : testing::check_history(world_.history, rules)) world_.violate(problem);
}

int run_seeds(int argc, char** argv, const char* program, std::uint64_t seeds,
              const std::function<result(const request&)>& run_seed) {
  std::uint64_t first = 1;
  request one;
  CLI::App line("Runs histories, each made from a seed, until one breaks a promise.", program);
  line.add_option("--seeds", seeds, "how many; default " + std::to_string(seeds));
  line.add_option("--first-seed", first, "where to begin; default 1");
  auto* single = line.add_option("--seed", one.seed, "this one again");
  line.add_flag("--verbose", one.is_verbose, "tell all that happens");
  line.add_option("--trace", one.trace, "write what happens to the mutexes to this file")
      ->needs(single);
  CLI11_PARSE(line, argc, argv);
  if (!single->empty()) {
    first = one.seed;
    seeds = 1;
  }
  static_cast<void>(process_mark());  // it draws a number, once: before the first run
  std::size_t grants = 0;
  for (one.seed = first; one.seed < first + seeds; ++one.seed) {
    const auto came = run_seed(one);
    grants += came.grants;
    if (came.violations.empty()) continue;
    std::printf("seed %llu failed:\n", static_cast<unsigned long long>(one.seed));
    for (const auto& what : came.violations) std::printf("  %s\n", what.c_str());
    std::printf("  again: %s --seed %llu --verbose\n", program,
                static_cast<unsigned long long>(one.seed));
    return 1;
  }
  std::printf("%llu runs, %zu grants\n", static_cast<unsigned long long>(seeds), grants);
  return grants > seeds ? 0 : 1;
}

}  // namespace mortise::process_simulation
