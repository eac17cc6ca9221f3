// One caller that acquires and releases a free lock, against blocking hiredis doing the same: where
// the scheduler puts both, on dedicated cores, and with all cores busy. Also the cost of adaptive
// waiting where it does not pay off.
#include <unistd.h>

#include "delay_proxy.hpp"
#include "experiment.hpp"
#include "in_turn.hpp"
#include "placement.hpp"
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
comparison against_hiredis(int rounds, mortise_lock* lock, reference& plain,
                           const plain_lock& key) {
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

// The time of all pairs over a minute, next to a process that has a tenth of a core. What adapts
// needs longer than a block of pairs.
void run_minute(const char* id, const settings& chosen, load& others, mortise_lock* lock,
                reference& plain, const plain_lock& key, table& results) {
  const loaded now(others, 10);
  const auto mean_us = [](std::int64_t for_ns, auto&& step) {
    int pairs = 0;
    const auto start = now_ns();
    for (; now_ns() - start < for_ns; ++pairs) step();
    return static_cast<double>(now_ns() - start) / pairs / ns_per_microsecond;
  };
  std::vector<double> ratios;
  for (int second = 0; second < chosen.pick(60, 6); ++second) {
    const double subject_us = mean_us(750'000'000, [&] { pair(lock); });
    ratios.push_back(subject_us / mean_us(250'000'000, [&] { plain.pair(key); }));
  }
  results.measured(id, median(ratios));
  results.raw("seconds' ratios %.2f to %.2f (10th to 90th), the last %.2f", percentile(ratios, 0.1),
              percentile(ratios, 0.9), ratios.back());
}

// An unlock that does not wait for its reply.
void run_sent(const settings& chosen, reference& plain, const plain_lock& key,
              const std::string& url, table& results) {
  const auto client = open_client(url);
  const auto lock = make_lock(client.get(), lock_name("sent"), "release=sent");
  const auto sent = against_hiredis(chosen.pick(60, 20), lock.get(), plain, key);
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
  const auto ratios = against_hiredis(rounds, lock.get(), plain, keys.front());
  results.measured("caller.tls", median(ratios.p50_ratio));
  results.raw("mortise %.1f us, OpenSSL and hiredis %.1f us; CPU of a pair %.2f of theirs",
              median(ratios.p50_us), median(ratios.reference_us), median(ratios.cpu_ratio));
}

void report(const char* id, const comparison& seen, table& results) {
  results.measured(id, median(seen.p50_ratio));
  results.raw(
      "mortise %.1f us, hiredis %.1f us; rounds' ratios %.2f to %.2f (10th to 90th); CPU %.2f",
      median(seen.p50_us), median(seen.reference_us), percentile(seen.p50_ratio, 0.1),
      percentile(seen.p50_ratio, 0.9), median(seen.cpu_ratio));
}

void run_tcp(int rounds, const settings& chosen, load& others, table& results) {
  auto over_tcp = chosen;
  over_tcp.url.clear();
  over_tcp.over_tcp = true;
  const bench_server server(over_tcp);
  const auto keys = plain_locks(1);
  reference plain(server.url());
  const auto client = open_client(server.url());
  const auto lock = make_lock(client.get(), lock_name("caller"));
  report("caller.tcp", against_hiredis(rounds, lock.get(), plain, keys.front()), results);
  run_minute("caller.tcp_minute", chosen, others, lock.get(), plain, keys.front(), results);
}

// Adaptive waiting against waiting that never spins: by the time or the CPU that `figure` returns.
template <typename Figure>
void against_sleep(const char* id, int rounds, const std::string& url, table& results,
                   Figure&& figure) {
  const auto adapting = open_client(url);
  const auto sleeping = open_client(url, "busy_poll=0");
  const auto lock = make_lock(adapting.get(), lock_name("adapting"));
  const auto other = make_lock(sleeping.get(), lock_name("sleeping"));
  const auto seen = compare(
      rounds, [&] { return figure(lock.get()); }, [&] { return figure(other.get()); });
  results.measured(id, median(seen.ratios));
  results.raw("%.1f us, busy_poll=0 %.1f us; rounds' ratios %.2f to %.2f (10th to 90th)",
              median(seen.with), median(seen.without), percentile(seen.ratios, 0.1),
              percentile(seen.ratios, 0.9));
}

// The time of all pairs, because what spinning costs there comes in slices.
void run_loaded(const settings& chosen, const std::string& url, load& others, table& results) {
  const loaded now(others);
  against_sleep("caller.loaded", chosen.pick(40, 10), url, results, [](mortise_lock* lock) {
    constexpr int pairs = 2000;
    const auto start = now_ns();
    for (int i = 0; i < pairs; ++i) pair(lock);
    return static_cast<double>(now_ns() - start) / pairs / ns_per_microsecond;
  });
}

void run_far(const settings& chosen, const delay_proxy& link, table& results) {
  against_sleep("caller.far_cpu", chosen.pick(40, 10), link.url(), results,
                [](mortise_lock* lock) { return measure(200, [&] { pair(lock); }).cpu_us; });
}

void run(const settings& chosen, table& results) {
  constexpr std::int64_t one_way_ns = 150'000;
  // These fork, and so come before any client.
  load others;
  const bench_server server(chosen);
  const delay_proxy link(server.url(), one_way_ns);
  const int rounds = chosen.pick(60, 20);
  const auto keys = plain_locks(1);
  reference plain(server.url());
  const auto client = open_client(server.url());
  const auto lock = make_lock(client.get(), lock_name("caller"));

  report("caller.p50", against_hiredis(rounds, lock.get(), plain, keys.front()), results);
  run_minute("caller.minute", chosen, others, lock.get(), plain, keys.front(), results);
  run_tcp(rounds, chosen, others, results);
  for (const auto where : {placement::one_core, placement::two_cores}) {
    const pinned both(where, process_of(plain), {::getpid()});
    report(where == placement::one_core ? "caller.one_core" : "caller.two_cores",
           against_hiredis(rounds, lock.get(), plain, keys.front()), results);
  }
  run_loaded(chosen, server.url(), others, results);
  run_far(chosen, link, results);

  const auto held = make_locks(client.get(), "renewed", renewing_holds, renewing_lease);
  for (const auto& item : held) check(mortise_lock_try(item.get(), nullptr), "mortise_lock_try");
  const auto renewing = against_hiredis(rounds, lock.get(), plain, keys.front());
  results.measured("caller.renewing", median(renewing.p50_ratio));
  results.raw("mortise %.1f us, hiredis %.1f us, a renewal every 5 ms", median(renewing.p50_us),
              median(renewing.reference_us));
  for (const auto& item : held) {
    check(mortise_lock_unlock(item.get(), nullptr), "unlock of a renewed lock");
  }
  const auto sleeping = open_client(server.url(), "busy_poll=0");
  const auto sleeper = make_lock(sleeping.get(), lock_name("cpu"));
  const auto asleep = against_hiredis(rounds, sleeper.get(), plain, keys.front());
  results.measured("caller.cpu", median(asleep.cpu_ratio));
  results.raw("p50 %.2f of its", median(asleep.p50_ratio));
  run_sent(chosen, plain, keys.front(), server.url(), results);
  run_tls(rounds, results);
}

}  // namespace

const experiment& uncontended() {
  static const experiment instance{
      "caller",
      {{"caller.p50", "one caller, pair p50 / blocking hiredis", aim::at_most, 0.4, "x"},
       {"caller.minute", "  time of a pair for a minute, others have a tenth of a core / hiredis",
        aim::at_most, 0.5, "x"},
       {"caller.tcp", "  the same over loopback TCP", aim::at_most, 0.6, "x"},
       {"caller.tcp_minute", "  the same over loopback TCP for a minute", aim::at_most, 0.6, "x"},
       {"caller.one_core", "  the same on the server's core", aim::at_most, 1.05, "x"},
       {"caller.two_cores", "  the same on one core, the server on another", aim::at_most, 1.05,
        "x"},
       {"caller.loaded", "  all cores busy, time of a pair / with busy_poll=0", aim::at_most, 1.02,
        "x"},
       {"caller.far_cpu", "  0.3 ms away, client CPU of a pair / with busy_poll=0", aim::at_most,
        1.02, "x"},
       {"caller.renewing", "  pair p50 while 50 holds are renewed / hiredis", aim::at_most, 0.45,
        "x"},
       {"caller.cpu", "  client CPU of a pair with busy_poll=0 / hiredis", aim::at_most, 1.0, "x"},
       {"caller.sent", "one caller, pair p50 with release=sent / blocking hiredis", aim::at_most,
        0.6, "x"},
       {"caller.tls", "one caller, pair p50 over TLS / blocking OpenSSL and hiredis", aim::at_most,
        1.10, "x"}},
      run};
  return instance;
}

}  // namespace mortise::bench
