// Two clients with 8 threads each on one lock: passing it on within a client, against first come,
// first served among all. And how long the last of a hundred wait where sections are long.
#include "experiment.hpp"
#include "fleet.hpp"

namespace mortise::bench {

namespace {

constexpr int clients = 2;
constexpr int threads_each = 8;

void run(const settings& chosen, table& results) {
  const bench_server server(chosen);
  const double seconds = chosen.pick(0.5, 0.25);
  reference observer(server.url());
  fleet_plan plan;
  plan.url = server.url();
  plan.contenders = clients * threads_each;
  plan.processes = clients;
  plan.shares_client = true;
  plan.name = lock_name("gate", 1);
  fleet batch(plan);
  plan.name = lock_name("gate", 2);
  plan.options = "fair=strict";
  fleet strict(plan);
  const auto measure = [&](fleet& contenders) {
    return contenders.measure(plan.contenders, 1 << 30, seconds, observer);
  };
  std::vector<double> ratios;
  std::vector<double> commands;
  std::vector<double> batch_rates;
  std::vector<double> strict_rates;
  double before = measure(strict).rate();
  for (int i = 0; i < chosen.pick(9, 5); ++i) {
    const auto on = measure(batch);
    const double after = measure(strict).rate();
    ratios.push_back(on.rate() * 2 / (before + after));
    commands.push_back(on.commands_each());
    batch_rates.push_back(on.rate());
    strict_rates.push_back(after);
    before = after;
  }
  results.measured("gate.rate", median(ratios));
  results.raw("%.0f acquires/s passing on, %.0f acquires/s strictly fair", median(batch_rates),
              median(strict_rates));
  results.measured("gate.commands", median(commands));
}

// The longest waits, passing on and in strict order.
void run_waits(const settings& chosen, table& results) {
  constexpr int processes = 10;
  constexpr int waiters_each = 10;
  constexpr std::int64_t section_ns = 1'000'000;
  const bench_server server(chosen);
  const double seconds = chosen.pick(3.0, 1.0);
  reference observer(server.url());
  fleet_plan plan;
  plan.url = server.url();
  plan.contenders = processes * waiters_each;
  plan.processes = processes;
  plan.shares_client = true;
  plan.hold_ns = section_ns;
  plan.name = lock_name("gate-wait", 1);
  fleet batch(plan);
  plan.name = lock_name("gate-wait", 2);
  plan.options = "fair=strict";
  fleet strict(plan);
  const auto measure = [&](fleet& contenders) {
    const auto seen = contenders.measure(plan.contenders, 1 << 30, seconds, observer);
    return percentile(seen.waited_us, 0.99) / 1000;
  };
  std::vector<double> ratios;
  std::vector<double> batch_ms;
  std::vector<double> strict_ms;
  double before = measure(strict);
  for (int i = 0; i < chosen.pick(5, 2); ++i) {
    const auto on = measure(batch);
    const double after = measure(strict);
    ratios.push_back(on * 2 / (before + after));
    batch_ms.push_back(on);
    strict_ms.push_back(after);
    before = after;
  }
  results.measured("gate.wait", median(ratios));
  results.raw("%.0f ms passing on, %.0f ms strictly fair", median(batch_ms), median(strict_ms));
}

}  // namespace

const experiment& local_gate_waits() {
  static const experiment instance{
      "gate_waits",
      {{"gate.wait", "  p99 of waiting, 10 clients x 10 threads, sections of 1 ms, on / off",
        aim::at_most, 1.5, "x"}},
      run_waits};
  return instance;
}

const experiment& local_gate() {
  static const experiment instance{
      "gate",
      {{"gate.rate", "local gate, 2 clients x 8 threads, rate on / off", aim::at_least, 4, "x"},
       {"gate.commands", "  server commands per acquire", aim::at_most, 0.2, ""}},
      run};
  return instance;
}

}  // namespace mortise::bench
