// A lock with waiters: the time from the unlock until the next owner knows, on a link with a round
// trip of 1 ms, and its cost at the server.
#include <cmath>

#include "delay_proxy.hpp"
#include "experiment.hpp"
#include "fleet.hpp"

namespace mortise::bench {

namespace {

constexpr std::int64_t one_way_ns = 500'000;
// Longer than a round trip, so that the last owner waits again before the next unlocks.
constexpr std::int64_t hold_ns = 1'000'000;
constexpr double time_limit_s = 20;
constexpr int waiter_counts[] = {1, 10, 100, 1000};

std::string row_id(int waiters, const char* what) {
  return "handoff." + std::to_string(waiters) + "." + what;
}

void run(const settings& chosen, table& results) {
  const bench_server server(chosen);
  const delay_proxy link(server.url(), one_way_ns);
  reference observer(server.url());
  for (const int waiters : waiter_counts) {
    fleet_plan plan;
    plan.url = link.url();
    plan.name = lock_name("handoff", waiters);
    plan.contenders = waiters + 1;
    plan.processes = waiters < 100 ? 2 : 4;
    plan.hold_ns = hold_ns;
    plan.pings = true;
    fleet contenders(plan);
    std::vector<double> p50;
    std::vector<double> p99;
    std::vector<double> commands;
    std::vector<double> handoff_us;
    std::vector<double> round_trip_us;
    std::vector<double> round_trip_p99;
    for (int i = 0; i < chosen.pick(5, 1); ++i) {
      const auto result =
          contenders.measure(waiters + 1, chosen.pick(600, 400), time_limit_s, observer);
      const double round_trip = median(result.round_trip_us);
      p50.push_back(median(result.handoff_us) / round_trip);
      p99.push_back(percentile(result.handoff_us, 0.99) / round_trip);
      commands.push_back(result.commands_each());
      handoff_us.push_back(median(result.handoff_us));
      round_trip_us.push_back(round_trip);
      round_trip_p99.push_back(percentile(result.round_trip_us, 0.99));
    }
    results.measured(row_id(waiters, "p50"), median(p50));
    results.raw("handoff %.0f us, round trip %.0f us", median(handoff_us), median(round_trip_us));
    results.measured(row_id(waiters, "p99"), median(p99));
    results.raw("the round trip's own p99 is %.2f of its p50",
                median(round_trip_p99) / median(round_trip_us));
    results.measured(row_id(waiters, "commands"), median(commands));
  }
}

// ---- the server's work, without a link between ------------------------------------------------

double cost_of_handoff(fleet& contenders, int count, reference& observer) {
  const auto result = contenders.measure(count, 3000, time_limit_s, observer);
  return result.server_us_each();
}

void run_cost(const settings& chosen, table& results) {
  constexpr int many = 1001;
  // Two servers, because a thousand idle connections cost a server time as well.
  const bench_server small_server(chosen);
  const bench_server large_server(chosen);
  fleet_plan plan;
  plan.hold_ns = 200'000;
  plan.url = small_server.url();
  plan.name = lock_name("handoff-cost", 1);
  plan.processes = 2;
  fleet pair(plan);
  plan.url = large_server.url();
  plan.name = lock_name("handoff-cost", many);
  plan.contenders = many;
  plan.processes = 4;
  fleet crowd(plan);
  reference small_observer(small_server.url());
  reference large_observer(large_server.url());
  std::vector<double> ratios;
  std::vector<double> pair_us;
  std::vector<double> crowd_us;
  for (int i = 0; i < chosen.pick(5, 2); ++i) {
    const double before = cost_of_handoff(pair, 2, small_observer);
    const double cost = cost_of_handoff(crowd, many, large_observer);
    const double after = cost_of_handoff(pair, 2, small_observer);
    ratios.push_back(cost * 2 / (before + after));
    pair_us.push_back((before + after) / 2);
    crowd_us.push_back(cost);
  }
  results.measured("handoff.cpu", median(ratios));
  results.raw("%.1f us with 1000 waiters, %.1f us with 1", median(crowd_us), median(pair_us));
}

std::vector<row> make_rows() {
  std::vector<row> rows;
  for (const int waiters : waiter_counts) {
    const auto count = std::to_string(waiters) + (waiters == 1 ? " waiter" : " waiters");
    rows.push_back({row_id(waiters, "p50"), "handoff on a 1 ms link, " + count + ", p50",
                    aim::at_most, 1.15, "RTT"});
    rows.push_back({row_id(waiters, "p99"), "  p99", aim::at_most, 1.5, "RTT"});
    rows.push_back(
        {row_id(waiters, "commands"), "  server commands per cycle", aim::at_most, 2.1, ""});
  }
  return rows;
}

}  // namespace

const experiment& handoff() {
  static const experiment instance{"handoff", make_rows(), run};
  return instance;
}

const experiment& handoff_cost() {
  static const experiment instance{
      "handoff_cost",
      {{"handoff.cpu", "server CPU of a handoff, 1000 waiters / 1 waiter", aim::at_most, 1.3, "x"}},
      run_cost};
  return instance;
}

}  // namespace mortise::bench
