// The Java binding beside C, in turns: an uncontended pair, and a call that asks nobody.
#include "experiment.hpp"
#include "language_side.hpp"
#include "subject.hpp"

namespace mortise::bench {

namespace {

double c_pairs_us(mortise_lock* lock, int count) {
  std::vector<double> times;
  for (int i = 0; i < count; ++i) {
    const auto start = now_ns();
    pair(lock);
    times.push_back(static_cast<double>(now_ns() - start) / ns_per_microsecond);
  }
  return median(std::move(times));
}

double c_call_ns(const mortise_lock* lock, int count) {
  std::int64_t sum = 0;
  const auto start = now_ns();
  for (int i = 0; i < count; ++i) sum += mortise_lock_token(lock);
  const auto time = now_ns() - start;
  require(sum == 0, "it was never held");
  return static_cast<double>(time) / count;
}

void run(const settings& chosen, table& results) {
  constexpr int calls = 1'000'000;
  const bench_server server(chosen);
  // Before the client, because it forks.
  language_side java({"java", "-cp", MORTISE_JAVA_JAR, MORTISE_JAVA_SIDE}, server.url());
  const auto client = open_client(server.url());
  const auto lock = make_lock(client.get(), lock_name("java"));
  const auto unused = make_lock(client.get(), lock_name("java calls"));

  // The JVM compiles what runs often.
  java.ask("pairs 20000");
  java.ask("calls 3000000");
  std::vector<double> ratios;
  std::vector<double> java_us;
  std::vector<double> added_ns;
  for (int i = 0; i < chosen.pick(40, 10); ++i) {
    const auto before = c_pairs_us(lock.get(), 400);
    java_us.push_back(java.ask("pairs 400"));
    ratios.push_back(java_us.back() * 2 / (before + c_pairs_us(lock.get(), 400)));
    added_ns.push_back(java.ask("calls " + std::to_string(calls)) - c_call_ns(unused.get(), calls));
  }
  results.measured("java.pair", median(ratios));
  results.raw("java %.1f us; rounds' ratios %.2f to %.2f (10th to 90th)", median(java_us),
              percentile(ratios, 0.1), percentile(ratios, 0.9));
  results.measured("java.call", median(added_ns));
  results.raw("C %.1f ns", c_call_ns(unused.get(), calls));
}

}  // namespace

const experiment& java() {
  static const experiment instance{
      "java",
      {{"java.pair", "Java, lock and unlock, pair p50 / C", aim::at_most, 1.25, "x"},
       {"java.call", "  what a call that asks nobody costs more than C", aim::at_most, 18, "ns"}},
      run};
  return instance;
}

}  // namespace mortise::bench
