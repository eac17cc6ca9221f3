// The C++ layer against the C ABI below it, in turns: the cost of a pair by a hold, and by the
// standard library's guard. One client, so that both use the same connection and thread.
#include "cxx_competitor.hpp"
#include "experiment.hpp"
#include "in_turn.hpp"
#include "subject.hpp"

namespace mortise::bench {

namespace {

constexpr int pairs = 400;

template <typename Pairs>
double pair_us(Pairs&& run) {
  const auto start = now_ns();
  run();
  return static_cast<double>(now_ns() - start) / pairs / ns_per_microsecond;
}

void report(const char* id, const in_turn& seen, table& results) {
  results.measured(id, median(seen.ratios));
  results.raw("%.2f us, C %.2f us; rounds' ratios %.2f to %.2f (10th to 90th)", median(seen.with),
              median(seen.without), percentile(seen.ratios, 0.1), percentile(seen.ratios, 0.9));
}

void run(const settings& chosen, table& results) {
  const bench_server server(chosen);
  const int rounds = chosen.pick(200, 60);
  cxx_competitor competitor(server.url(), lock_name("cxx"));
  const auto lock = make_lock(competitor.client(), lock_name("c"));
  // What a program in C does: it asks for the details of a failure.
  const std::unique_ptr<mortise_error, freed_by<mortise_error_free>> error(mortise_error_new());
  const auto in_c = [&] {
    return pair_us([&] {
      for (int i = 0; i < pairs; ++i) {
        check(mortise_lock_acquire(lock.get(), MORTISE_FOREVER, error.get()), "acquire");
        check(mortise_lock_unlock(lock.get(), error.get()), "unlock");
      }
    });
  };
  const auto by_hold = [&] { return pair_us([&] { competitor.pairs(pairs); }); };
  const auto by_guard = [&] { return pair_us([&] { competitor.guards(pairs); }); };
  report("cxx.pair", compare(rounds, by_hold, in_c), results);
  report("cxx.guard", compare(rounds, by_guard, in_c), results);
}

}  // namespace

const experiment& cxx() {
  static const experiment instance{
      "cxx",
      {{"cxx.pair", "C++, acquire and unlock of a hold, pair / C", aim::at_most, 1.02, "x"},
       {"cxx.guard", "  the same by std::unique_lock", aim::at_most, 1.02, "x"}},
      run};
  return instance;
}

}  // namespace mortise::bench
