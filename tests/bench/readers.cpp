// Threads of one client that read by one name. They share the hold of one of them, or each asks the
// server (`fair=strict`).
#include "experiment.hpp"
#include "reference.hpp"
#include "subject.hpp"
#include "throughput.hpp"

namespace mortise::bench {

namespace {

constexpr int thread_count = 8;

std::vector<rw_ptr> make_readers(mortise_client* client, const std::string& name,
                                 const std::string& options) {
  std::vector<rw_ptr> made;
  for (int i = 0; i < thread_count; ++i) made.push_back(make_rw(client, name, options));
  return made;
}

throughput read_by(const std::vector<rw_ptr>& handles, double seconds) {
  return measure_threads(thread_count, seconds, [&](int index) {
    read_pair(handles[static_cast<std::size_t>(index)].get());
  });
}

void run(const settings& chosen, table& results) {
  const bench_server server(chosen);
  const double seconds = chosen.pick(0.3, 0.15);
  reference observer(server.url());
  const auto client = open_client(server.url());
  const auto strict = make_readers(client.get(), lock_name("each"), "fair=strict");
  const auto shared = make_readers(client.get(), lock_name("shared"), "");
  const auto retained = make_readers(client.get(), lock_name("retained"), "retain=50ms");
  std::vector<double> of_shared;
  std::vector<double> of_retained;
  std::vector<double> commands;
  std::vector<double> rates;
  for (int i = 0; i < chosen.pick(11, 5); ++i) {
    const double each = read_by(strict, seconds).pairs_per_second;
    of_shared.push_back(read_by(shared, seconds).pairs_per_second / each);
    const auto before = server_usage::of(observer);
    const double rate = read_by(retained, seconds).pairs_per_second;
    commands.push_back((server_usage::of(observer) - before).commands / (rate * seconds));
    of_retained.push_back(rate / each);
    rates.push_back(rate);
  }
  results.measured("readers.shared", median(of_shared));
  results.measured("readers.retained", median(of_retained));
  results.measured("readers.commands", median(commands));
  results.raw("%.0f pairs/s with retain", median(rates));
}

}  // namespace

const experiment& readers() {
  static const experiment instance{
      "readers",
      {{"readers.shared", "8 threads of one client read by one name, rate / fair=strict",
        aim::at_least, 50.0, "x"},
       {"readers.retained", "  the same with retain", aim::at_least, 50.0, "x"},
       {"readers.commands", "  server commands of a pair", aim::at_most, 0.01, ""}},
      run};
  return instance;
}

}  // namespace mortise::bench
