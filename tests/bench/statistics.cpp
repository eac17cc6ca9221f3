// The cost of the statistics of a pair: the additions of an acquire and its unlock, done alone,
// against the client's CPU time of the whole pair. They cannot be switched off, so there is no pair
// without them to compare with. Alone they find their memory warm, as in a pair that is repeated.
#include "experiment.hpp"
#include "statistics/connection_statistics.hpp"
#include "statistics/lock_statistics.hpp"
#include "subject.hpp"

namespace mortise::bench {

namespace {

constexpr int pairs = 400;
constexpr int countings = 20'000;

// As the gate and the connection count them, with times that differ.
void count_pair(statistics::lock_statistics& lock, statistics::connection_statistics& server,
                std::int64_t took_ns) {
  lock.acquire_began();
  server.answered(took_ns);
  lock.hold_began();
  lock.acquire_ended(status::ok, took_ns);
  lock.hold_ended(2 * took_ns);
  server.answered(took_ns);
  lock.released(statistics::release::released);
}

double counting_us(statistics::lock_statistics& lock, statistics::connection_statistics& server) {
  const double before = process_cpu_us();
  for (int i = 0; i < countings; ++i) count_pair(lock, server, 1000 * (i % 400));
  return (process_cpu_us() - before) / countings;
}

void run(const settings& chosen, table& results) {
  const bench_server server(chosen);
  const auto client = open_client(server.url());
  const auto lock = make_lock(client.get(), lock_name("statistics"));
  statistics::lock_statistics of_lock;
  statistics::connection_statistics of_server;
  std::vector<double> shares;
  std::vector<double> alone;
  std::vector<double> whole;
  for (int round = 0; round < chosen.pick(100, 30); ++round) {
    const double before = process_cpu_us();
    for (int i = 0; i < pairs; ++i) pair(lock.get());
    whole.push_back((process_cpu_us() - before) / pairs);
    alone.push_back(counting_us(of_lock, of_server));
    shares.push_back(alone.back() / whole.back() * 100);
  }
  results.measured("statistics.pair", median(shares));
  results.raw("%.3f us of %.2f us of CPU", median(alone), median(whole));

  const double before = process_cpu_us();
  constexpr int readings = 200;
  for (int i = 0; i < readings; ++i)
    mortise_stats_free(mortise_client_stats(client.get(), nullptr));
  results.measured("statistics.read", (process_cpu_us() - before) / readings);
}

}  // namespace

const experiment& statistics_cost() {
  static const experiment instance{
      "statistics",
      {{"statistics.pair", "statistics, of a pair's client CPU", aim::at_most, 1, "%"},
       {"statistics.read", "  reading all of them once, CPU", aim::at_most, 1000, "us"}},
      run};
  return instance;
}

}  // namespace mortise::bench
