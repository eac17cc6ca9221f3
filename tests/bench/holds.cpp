// Many locks that one client holds with the default lease: what their renewals cost the client and
// the server, and how much longer a pair of another client takes meanwhile.
#include <string>
#include <vector>

#include "bench_process.hpp"
#include "experiment.hpp"
#include "reference.hpp"
#include "subject.hpp"

namespace mortise::bench {

namespace {

constexpr std::int64_t patience_ms = 60'000;
constexpr std::int64_t noting_ns = ns_per_second;
// Three renewals of each lock spread them over the time between two.
constexpr double settling_seconds = 16;

struct holder_state {
  std::atomic<std::uint32_t> is_ready{0};
  std::atomic<std::int64_t> cpu_us{0};
  std::atomic<std::int64_t> at_ns{0};
};

void acquire_all(const std::vector<lock_ptr>& locks, mortise_queue* queue) {
  std::vector<std::int64_t> records(1024 * MORTISE_RECORD_FIELDS);
  std::size_t started = 0;
  for (std::size_t done = 0; done < locks.size();) {
    for (; started < locks.size() && started < done + 1000; ++started) {
      check(mortise_lock_try_async(locks[started].get(), queue, 0, nullptr),
            "mortise_lock_try_async");
    }
    std::int64_t count = 0;
    check(mortise_queue_next_batch(queue, patience_ms, records.data(), 1024, &count, nullptr),
          "mortise_queue_next_batch");
    for (std::int64_t i = 0; i < count; ++i, ++done) {
      check(static_cast<mortise_status>(
                records[static_cast<std::size_t>(i * MORTISE_RECORD_FIELDS + 2)]),
            "an acquire");
    }
  }
}

void hold(const std::string& url, int count, holder_state& state) {
  const auto client = open_client(url);
  const auto queue = make_queue(client.get(), count + 1000);
  const auto locks = make_locks(client.get(), "holds", count);
  acquire_all(locks, queue.get());
  state.is_ready = 1;
  for (;;) {
    state.cpu_us = static_cast<std::int64_t>(process_cpu_us());
    state.at_ns = now_ns();
    sleep_ns(noting_ns);
  }
}

double p99_of_pairs(reference& other, const plain_lock& lock, double seconds) {
  std::vector<double> times;
  const auto end =
      now_ns() + static_cast<std::int64_t>(seconds * static_cast<double>(ns_per_second));
  for (auto start = now_ns(); start < end;) {
    other.pair(lock);
    const auto now = now_ns();
    times.push_back(static_cast<double>(now - start) / ns_per_microsecond);
    start = now;
  }
  return percentile(std::move(times), 0.99);
}

void run_with(int count, const settings& chosen, table& results) {
  const auto id = "holds." + std::to_string(count);
  const bench_server server(chosen);
  const double seconds = chosen.pick(10.0, 5.0);
  reference observer(server.url());
  reference other(server.url());
  const auto pair = plain_locks(1).front();
  const auto sleep_s = [](double length) {
    sleep_ns(static_cast<std::int64_t>(length * static_cast<double>(ns_per_second)));
  };
  p99_of_pairs(other, pair, seconds / 10);
  const double before = p99_of_pairs(other, pair, seconds);
  double with = 0;
  {
    const shared<holder_state> state;
    process holder([&] { hold(server.url(), count, *state.get()); });
    int exit_code = 0;
    while (state->is_ready == 0) {
      require(!holder.has_ended(exit_code), "the holder has ended");
      sleep_s(0.1);
    }
    sleep_s(settling_seconds);
    const auto usage = server_usage::of(observer);
    const auto cpu_us = state->cpu_us.load();
    const auto at_ns = state->at_ns.load();
    sleep_s(seconds);
    const auto percent_of = [&](double us) {
      return us * ns_per_microsecond * 100 / static_cast<double>(state->at_ns - at_ns);
    };
    results.measured(id, percent_of(static_cast<double>(state->cpu_us - cpu_us)));
    results.measured(id + ".server", percent_of((server_usage::of(observer) - usage).cpu_us));
    with = p99_of_pairs(other, pair, seconds);
    require(!holder.has_ended(exit_code), "the holder has ended");
  }
  const double after = p99_of_pairs(other, pair, seconds);
  results.measured(id + ".p99", with * 2 / (before + after));
  results.raw("p99 of a pair %.0f us with the holds, %.0f us before, %.0f us after", with, before,
              after);
}

void run(const settings& chosen, table& results) {
  for (const int count : {1000, 10'000, 100'000}) run_with(count, chosen, results);
}

}  // namespace

const experiment& holds() {
  static const experiment instance{
      "holds",
      {{"holds.1000", "a client holds 1,000 locks: its CPU", aim::at_most, 0.05, "%"},
       {"holds.1000.server", "  CPU of the server", aim::reported, 0, "%"},
       {"holds.1000.p99", "  p99 of a pair of another client / without the holds", aim::at_most,
        1.2, "x"},
       {"holds.10000", "a client holds 10,000 locks: its CPU", aim::at_most, 0.5, "%"},
       {"holds.10000.server", "  CPU of the server", aim::reported, 0, "%"},
       {"holds.10000.p99", "  p99 of a pair of another client / without the holds", aim::at_most,
        1.2, "x"},
       {"holds.100000", "a client holds 100,000 locks: its CPU", aim::at_most, 5, "%"},
       {"holds.100000.server", "  CPU of the server", aim::reported, 0, "%"},
       {"holds.100000.p99", "  p99 of a pair of another client / without the holds", aim::at_most,
        1.2, "x"}},
      run};
  return instance;
}

}  // namespace mortise::bench
