// Two clients with 8 threads each on one lock: passing it on within a client, against first come,
// first served among all.
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

}  // namespace

const experiment& local_gate() {
  static const experiment instance{
      "gate",
      {{"gate.rate", "local gate, 2 clients x 8 threads, rate on / off", aim::at_least, 4, "x"},
       {"gate.commands", "  server commands per acquire", aim::at_most, 0.2, ""}},
      run};
  return instance;
}

}  // namespace mortise::bench
