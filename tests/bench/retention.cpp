// Locks that stay with their client (`retain`): pairs without a request to the server. Another
// client waits for a retained lock.
#include "bench_process.hpp"
#include "delay_proxy.hpp"
#include "experiment.hpp"
#include "reference.hpp"
#include "subject.hpp"
#include "throughput.hpp"

namespace mortise::bench {

namespace {

constexpr std::int64_t patience_ms = 20'000;
constexpr int thread_count = 8;
constexpr std::int64_t one_way_ns = 500'000;

// How long a pair takes on average, so that those count, too, for which tokens have to be drawn.
template <typename Pair>
double mean_us(int pairs, Pair&& pair) {
  const auto start = now_ns();
  for (int i = 0; i < pairs; ++i) pair();
  return static_cast<double>(now_ns() - start) / ns_per_microsecond / pairs;
}

void run_pairs(const settings& chosen, table& results) {
  const bench_server server(chosen);
  const auto keys = plain_locks(1);
  reference plain(server.url());
  reference observer(server.url());
  const auto client = open_client(server.url());
  const auto lock = make_lock(client.get(), lock_name("retained"), "retain=1s");
  const auto one = [&] { pair(lock.get()); };
  mean_us(2000, one);
  std::vector<double> ratios;
  std::vector<double> commands;
  std::vector<double> times;
  for (int i = 0; i < chosen.pick(40, 10); ++i) {
    const double reference_us = mean_us(400, [&] { plain.pair(keys.front()); });
    const auto before = server_usage::of(observer);
    times.push_back(mean_us(10'000, one));
    commands.push_back((server_usage::of(observer) - before).commands / 10'000);
    ratios.push_back(times.back() / reference_us);
  }
  results.measured("retain.pair", median(ratios));
  results.measured("retain.commands", median(commands));
  results.raw("a pair %.2f us", median(times));
}

// From the call of an acquire to its grant, of a lock that another client retains, against a round
// trip of the same link.
void run_wanted(const settings& chosen, table& results) {
  const bench_server server(chosen);
  const delay_proxy link(server.url(), one_way_ns);
  const auto retaining = open_client(link.url());
  const auto wanting = open_client(link.url());
  const auto name = lock_name("wanted");
  const auto kept = make_lock(retaining.get(), name, "retain=1s");
  const auto contended = make_lock(wanting.get(), name);
  std::vector<double> waits;
  std::vector<double> trips;
  const auto us_since = [](std::int64_t start) {
    return static_cast<double>(now_ns() - start) / ns_per_microsecond;
  };
  for (int i = 0; i < chosen.pick(600, 150); ++i) {
    pair(kept.get());
    auto start = now_ns();
    check(mortise_lock_acquire(contended.get(), patience_ms, nullptr), "mortise_lock_acquire");
    waits.push_back(us_since(start));
    check(mortise_lock_unlock(contended.get(), nullptr), "mortise_lock_unlock");
    start = now_ns();
    check(mortise_client_ping(wanting.get(), nullptr), "mortise_client_ping");
    trips.push_back(us_since(start));
  }
  results.measured("retain.wanted", median(waits) / median(trips));
  results.raw("%.0f us, a round trip %.0f us", median(waits), median(trips));
}

void run_threads(const settings& chosen, table& results) {
  const bench_server server(chosen);
  const double seconds = chosen.pick(0.3, 0.15);
  const auto keys = plain_locks(thread_count);
  std::vector<std::unique_ptr<reference>> connections;
  for (int i = 0; i < thread_count; ++i) {
    connections.push_back(std::make_unique<reference>(server.url()));
  }
  const auto client = open_client(server.url());
  const auto locks = make_locks(client.get(), "retained", thread_count, "retain=50ms");
  std::vector<double> ratios;
  for (int i = 0; i < chosen.pick(11, 5); ++i) {
    const auto plain = measure_threads(thread_count, seconds, [&](int index) {
      connections[static_cast<std::size_t>(index)]->pair(keys[static_cast<std::size_t>(index)]);
    });
    const auto subject = measure_threads(thread_count, seconds, [&](int index) {
      pair(locks[static_cast<std::size_t>(index)].get());
    });
    ratios.push_back(subject.pairs_per_second / plain.pairs_per_second);
  }
  results.measured("retain.threads", median(ratios));
}

void run(const settings& chosen, table& results) {
  run_pairs(chosen, results);
  run_wanted(chosen, results);
  run_threads(chosen, results);
}

}  // namespace

const experiment& retention() {
  static const experiment instance{
      "retain",
      {{"retain.pair", "one caller, a pair with retain on average / blocking hiredis", aim::at_most,
        0.02, "x"},
       {"retain.commands", "  server commands of it", aim::at_most, 0.2, ""},
       {"retain.wanted", "acquire of a lock that another client retains, 1 ms link, p50",
        aim::at_most, 2.15, "RTT"},
       {"retain.threads", "8 threads with retain, rate / a hiredis connection for each",
        aim::at_least, 8.0, "x"}},
      run};
  return instance;
}

}  // namespace mortise::bench
