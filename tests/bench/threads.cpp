// Many threads, each with a lock of its own: one client for all, against one hiredis connection for
// each. On two cores either is bound by the CPU of client and server together. One connection saves
// the server most of its work on sockets, and costs the client wake-ups. A request is a write and a
// futex's wait and wake, where blocking hiredis writes and reads. So the rate is above that of
// hiredis by as much as replies come together, which is more with more threads.
#include "experiment.hpp"
#include "reference.hpp"
#include "subject.hpp"
#include "throughput.hpp"

namespace mortise::bench {

namespace {

void run_with(int count, const char* id, const settings& chosen, table& results) {
  const bench_server server(chosen);
  const double seconds = chosen.pick(0.3, 0.15);
  const auto keys = plain_locks(count);
  std::vector<std::unique_ptr<reference>> connections;
  for (int i = 0; i < count; ++i) {
    connections.push_back(std::make_unique<reference>(server.url()));
  }
  const auto client = open_client(server.url());
  const auto locks = make_locks(client.get(), "threads", count);

  const auto run_plain = [&] {
    return measure_threads(count, seconds, [&](int i) {
      const auto index = static_cast<std::size_t>(i);
      connections[index]->pair(keys[index]);
    });
  };
  std::vector<double> ratios;
  std::vector<double> subject_rates;
  std::vector<double> plain_rates;
  std::vector<double> cpu_ratios;
  auto before = run_plain();
  for (int i = 0; i < chosen.pick(11, 5); ++i) {
    const auto subject = measure_threads(
        count, seconds, [&](int index) { pair(locks[static_cast<std::size_t>(index)].get()); });
    const auto after = run_plain();
    const double plain = (before.pairs_per_second + after.pairs_per_second) / 2;
    ratios.push_back(subject.pairs_per_second / plain);
    cpu_ratios.push_back(subject.cpu_us * 2 / (before.cpu_us + after.cpu_us));
    subject_rates.push_back(subject.pairs_per_second);
    plain_rates.push_back(plain);
    before = after;
  }
  results.measured(id, median(ratios));
  results.raw("mortise %.0f pairs/s, hiredis %.0f pairs/s, client CPU of a pair %.2f x",
              median(subject_rates), median(plain_rates), median(cpu_ratios));
}

void run(const settings& chosen, table& results) {
  run_with(8, "threads.8", chosen, results);
  run_with(64, "threads.64", chosen, results);
}

}  // namespace

const experiment& threads() {
  static const experiment instance{
      "threads",
      {{"threads.8", "8 threads, rate / a hiredis connection for each", aim::at_least, 1.5, "x"},
       {"threads.64", "64 threads, rate / a hiredis connection for each", aim::at_least, 1.6, "x"}},
      run};
  return instance;
}

}  // namespace mortise::bench
