// Asynchronous calls in flight, against the same commands written blindly to a socket; and what a
// pair costs the server then.
#include "async_loop.hpp"
#include "blind_pipeline.hpp"
#include "experiment.hpp"
#include "reference.hpp"

namespace mortise::bench {

namespace {

// Calls `round`, which returns how many pairs it did, for so long; pairs per second.
template <typename Round>
double rate_of(double seconds, Round&& round) {
  const auto start = now_ns();
  const auto end = start + static_cast<std::int64_t>(seconds * static_cast<double>(ns_per_second));
  double pairs = 0;
  while (now_ns() < end) pairs += round();
  return pairs * static_cast<double>(ns_per_second) / static_cast<double>(now_ns() - start);
}

void run_with(int depth, const char* id, const settings& chosen, table& results) {
  const bench_server server(chosen);
  const double seconds = chosen.pick(0.25, 0.12);
  blind_pipeline blind(server.url(), depth);
  async_loop loop(server.url(), depth);
  const auto run_blind = [&] { return rate_of(seconds, [&] { return blind.round(); }); };
  std::vector<double> ratios;
  std::vector<double> rates;
  std::vector<double> blind_rates;
  loop.run(seconds / 4);
  double before = run_blind();
  for (int i = 0; i < chosen.pick(15, 7); ++i) {
    const auto start = now_ns();
    const double pairs = loop.run(seconds);
    const double rate =
        pairs * static_cast<double>(ns_per_second) / static_cast<double>(now_ns() - start);
    const double after = run_blind();
    ratios.push_back(rate * 2 / (before + after));
    rates.push_back(rate);
    blind_rates.push_back((before + after) / 2);
    before = after;
  }
  results.measured(id, median(ratios));
  results.raw("mortise %.0f pairs/s, blind pipeline %.0f pairs/s", median(rates),
              median(blind_rates));
}

void run(const settings& chosen, table& results) {
  run_with(64, "async.64", chosen, results);
  run_with(1000, "async.1000", chosen, results);
}

void run_cost(const settings& chosen, table& results) {
  constexpr int depth = 64;
  const bench_server server(chosen);
  const double seconds = chosen.pick(0.25, 0.12);
  reference observer(server.url());
  reference plain(server.url());
  const auto keys = plain_locks(depth);
  async_loop loop(server.url(), depth);

  // The server's CPU time for one pair, in microseconds.
  const auto cost_of = [&](auto&& work) {
    const auto before = server_usage::of(observer);
    const double pairs = work();
    return (server_usage::of(observer) - before).cpu_us / pairs;
  };
  const auto plain_cost = [&] {
    return cost_of([&] {
      const auto end =
          now_ns() + static_cast<std::int64_t>(seconds * static_cast<double>(ns_per_second));
      double pairs = 0;
      for (; now_ns() < end; pairs += depth) plain.pipelined_pairs(keys);
      return pairs;
    });
  };
  loop.run(seconds / 4);
  std::vector<double> ratios;
  std::vector<double> costs;
  std::vector<double> plain_costs;
  double before = plain_cost();
  for (int i = 0; i < chosen.pick(15, 7); ++i) {
    const double cost = cost_of([&] { return loop.run(seconds); });
    const double after = plain_cost();
    ratios.push_back(cost * 2 / (before + after));
    costs.push_back(cost);
    plain_costs.push_back((before + after) / 2);
    before = after;
  }
  results.measured("server.cpu", median(ratios));
  results.raw("%.2f us with fence, %.2f us plain, 64 in flight", median(costs),
              median(plain_costs));
}

}  // namespace

const experiment& async() {
  static const experiment instance{
      "async",
      {{"async.64", "async, 64 in flight, rate / the same commands blindly", aim::at_least, 0.93,
        "x"},
       {"async.1000", "async, 1000 in flight, rate / the same commands blindly", aim::at_least,
        0.97, "x"}},
      run};
  return instance;
}

const experiment& server_cost() {
  static const experiment instance{
      "server",
      {{"server.cpu", "server CPU of a pair / plain SET NX + compare-and-delete", aim::at_most, 1.3,
        "x"}},
      run_cost};
  return instance;
}

}  // namespace mortise::bench
