// One caller that acquires and releases a free lock, against blocking hiredis doing the same.
#include "experiment.hpp"
#include "reference.hpp"
#include "subject.hpp"

namespace mortise::bench {

namespace {

constexpr int renewing_holds = 50;
// Renewed at a third of it: with 50 holds a renewal every 5 ms.
constexpr const char* renewing_lease = "lease=750ms";

struct latency {
  double p50_us;
  double cpu_us;
};

template <typename Pair>
latency measure(int pairs, Pair&& pair) {
  std::vector<double> times;
  times.reserve(static_cast<std::size_t>(pairs));
  const double cpu = process_cpu_us();
  for (int i = 0; i < pairs; ++i) {
    const auto start = now_ns();
    pair();
    times.push_back(static_cast<double>(now_ns() - start) / ns_per_microsecond);
  }
  return {median(std::move(times)), (process_cpu_us() - cpu) / pairs};
}

struct comparison {
  std::vector<double> p50_ratio;
  std::vector<double> cpu_ratio;
  std::vector<double> p50_us;
  std::vector<double> reference_us;
};

// Short blocks in turn, each of the subject between two of the reference, because the machine's
// speed changes from second to second.
comparison compare(int rounds, mortise_lock* lock, reference& plain, const plain_lock& key) {
  constexpr int pairs = 400;
  const auto run_plain = [&] { return measure(pairs, [&] { plain.pair(key); }); };
  const auto run_subject = [&] { return measure(pairs, [&] { pair(lock); }); };
  run_plain();
  run_subject();
  comparison result;
  auto before = run_plain();
  for (int i = 0; i < rounds; ++i) {
    const auto subject = run_subject();
    const auto after = run_plain();
    const double reference_us = (before.p50_us + after.p50_us) / 2;
    result.p50_ratio.push_back(subject.p50_us / reference_us);
    result.cpu_ratio.push_back(subject.cpu_us * 2 / (before.cpu_us + after.cpu_us));
    result.p50_us.push_back(subject.p50_us);
    result.reference_us.push_back(reference_us);
    before = after;
  }
  return result;
}

// An unlock that does not wait for its answer.
void run_sent(const settings& chosen, reference& plain, const plain_lock& key,
              const std::string& url, table& results) {
  const auto client = open_client(url);
  const auto lock = make_lock(client.get(), lock_name("sent"), "release=sent");
  const auto sent = compare(chosen.pick(60, 20), lock.get(), plain, key);
  results.measured("caller.sent", median(sent.p50_ratio));
  results.raw("mortise %.1f us, hiredis %.1f us, CPU of a pair %.2f of its", median(sent.p50_us),
              median(sent.reference_us), median(sent.cpu_ratio));
}

void run_tls(int rounds, table& results) {
  const tls_bench_server server;
  const auto keys = plain_locks(1);
  reference plain(server.url());
  const auto client = open_client(server.url());
  const auto lock = make_lock(client.get(), lock_name("caller"));
  const auto ratios = compare(rounds, lock.get(), plain, keys.front());
  results.measured("caller.tls", median(ratios.p50_ratio));
  results.raw("mortise %.1f us, OpenSSL and hiredis %.1f us; CPU of a pair %.2f of theirs",
              median(ratios.p50_us), median(ratios.reference_us), median(ratios.cpu_ratio));
}

void run(const settings& chosen, table& results) {
  const bench_server server(chosen);
  const int rounds = chosen.pick(60, 20);
  const auto keys = plain_locks(1);
  reference plain(server.url());
  const auto client = open_client(server.url());
  const auto lock = make_lock(client.get(), lock_name("caller"));

  const auto alone = compare(rounds, lock.get(), plain, keys.front());
  results.measured("caller.p50", median(alone.p50_ratio));
  results.raw("mortise %.1f us, hiredis %.1f us; rounds' ratios %.2f to %.2f (10th to 90th)",
              median(alone.p50_us), median(alone.reference_us), percentile(alone.p50_ratio, 0.1),
              percentile(alone.p50_ratio, 0.9));

  const auto held = make_locks(client.get(), "renewed", renewing_holds, renewing_lease);
  for (const auto& item : held) check(mortise_lock_try(item.get(), nullptr), "mortise_lock_try");
  const auto renewing = compare(rounds, lock.get(), plain, keys.front());
  results.measured("caller.renewing", median(renewing.p50_ratio));
  results.raw("mortise %.1f us, hiredis %.1f us, a renewal every 5 ms", median(renewing.p50_us),
              median(renewing.reference_us));
  for (const auto& item : held) {
    check(mortise_lock_unlock(item.get(), nullptr), "unlock of a renewed lock");
  }
  results.measured("caller.cpu", median(alone.cpu_ratio));
  run_sent(chosen, plain, keys.front(), server.url(), results);
  run_tls(rounds, results);
}

}  // namespace

const experiment& uncontended() {
  static const experiment instance{
      "caller",
      {{"caller.p50", "one caller, pair p50 / blocking hiredis", aim::at_most, 1.05, "x"},
       {"caller.renewing", "  the same while 50 holds are renewed", aim::at_most, 1.10, "x"},
       {"caller.cpu", "  client CPU of a pair / hiredis", aim::at_most, 1.0, "x"},
       {"caller.sent", "one caller, pair p50 with release=sent / blocking hiredis", aim::at_most,
        0.6, "x"},
       {"caller.tls", "one caller, pair p50 over TLS / blocking OpenSSL and hiredis", aim::at_most,
        1.10, "x"}},
      run};
  return instance;
}

}  // namespace mortise::bench
