// One caller whose locks are on three shards, against the same caller with as many on one server.
#include <array>

#include "experiment.hpp"
#include "subject.hpp"

namespace mortise::bench {

namespace {

// Enough that each shard has some.
constexpr int lock_count = 30;

double p50_us(const std::vector<lock_ptr>& locks) {
  constexpr int rounds = 14;
  std::vector<double> times;
  for (int i = 0; i < rounds; ++i) {
    for (const auto& lock : locks) {
      const auto start = now_ns();
      pair(lock.get());
      times.push_back(static_cast<double>(now_ns() - start) / ns_per_microsecond);
    }
  }
  return median(std::move(times));
}

// Short blocks in turn, each of the shards between two of the single server.
void run(const settings& chosen, table& results) {
  auto started = chosen;
  started.url.clear();  // there have to be three
  const std::array servers = {bench_server(started), bench_server(started), bench_server(started)};
  const auto one = open_client(servers[0].url());
  const auto three = open_client("shard:" + servers[0].url() + "?shard=a," + servers[1].url() +
                                 "?shard=b," + servers[2].url() + "?shard=c");
  const auto on_one = make_locks(one.get(), "one", lock_count);
  const auto on_three = make_locks(three.get(), "three", lock_count);
  p50_us(on_three);
  std::vector<double> ratios;
  std::vector<double> times;
  auto before = p50_us(on_one);
  for (int i = 0; i < chosen.pick(60, 20); ++i) {
    times.push_back(p50_us(on_three));
    const auto after = p50_us(on_one);
    ratios.push_back(times.back() * 2 / (before + after));
    before = after;
  }
  results.measured("shard.pair", median(ratios));
  results.raw("a pair on three shards %.1f us; rounds' ratios %.2f to %.2f (10th to 90th)",
              median(times), percentile(ratios, 0.1), percentile(ratios, 0.9));
}

}  // namespace

const experiment& shard() {
  static const experiment instance{
      "shard",
      {{"shard.pair", "pair p50 on three shards / on one server", aim::at_most, 1.10, "x"}},
      run};
  return instance;
}

}  // namespace mortise::bench
