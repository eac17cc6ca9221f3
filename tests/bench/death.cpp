// Processes that die. It measures how long others stall when the holder is killed, or the client
// that was just granted the lock. It also measures the cost of dead waiters at the head of the
// queue in a handoff.
#include <algorithm>

#include "experiment.hpp"
#include "lock/lease.hpp"
#include "reference.hpp"
#include "worker.hpp"

namespace mortise::bench {

namespace {

constexpr const char* short_lease = "lease=400ms";

// When the present owner's lease ends at the server.
std::int64_t lease_end_ns(reference& observer, const std::string& name) {
  const auto key = find_key(observer, "string", name);
  require(!key.empty(), "nobody holds the lock");
  auto left_ms = observer.command({"PTTL", key})->integer;
  const auto value = observer.command({"GET", key});
  // A lock with a waiter outlives its lease.
  const bool is_marked = value->len > 0 && value->str[value->len - 1] == '*';
  if (is_marked) left_ms -= lock::queue_turn_ms;
  return now_ns() + std::max<std::int64_t>(0, left_ms) * 1'000'000;
}

double beyond_ms(const worker& next, std::int64_t lease_end) {
  return static_cast<double>(next.ended_ns() - lease_end) / 1e6;
}

// The holder dies while another waits.
double stall_after_holder(const std::string& url, const std::string& name, reference& observer) {
  worker holder(url, name, short_lease);
  worker waiter(url, name, short_lease);
  holder.perform(act::acquire);
  waiter.begin(act::acquire);
  wait_for_waiters(observer, name, 1);
  holder.kill();
  const auto lease_end = lease_end_ns(observer, name);
  waiter.finish();
  waiter.perform(act::unlock);
  return beyond_ms(waiter, lease_end);
}

// The next in the queue is granted the lock while it hangs, and dies before it has noticed.
double stall_after_grantee(const std::string& url, const std::string& name, reference& observer) {
  worker holder(url, name, short_lease);
  worker grantee(url, name, short_lease);
  worker waiter(url, name, short_lease);
  holder.perform(act::acquire);
  grantee.begin(act::acquire);
  wait_for_waiters(observer, name, 1);
  waiter.begin(act::acquire);
  wait_for_waiters(observer, name, 2);
  grantee.stop();
  holder.perform(act::unlock);
  grantee.kill();
  const auto lease_end = lease_end_ns(observer, name);
  waiter.finish();
  waiter.perform(act::unlock);
  return beyond_ms(waiter, lease_end);
}

// From the kill of a holder with `release_on_death` to the next grant.
double handover_of_dead_ms(const std::string& url, const std::string& name, reference& observer) {
  worker holder(url, name, "release_on_death=on&lease=10m");
  worker waiter(url, name, {});
  holder.perform(act::acquire);
  waiter.begin(act::acquire);
  wait_for_waiters(observer, name, 1);
  const auto killed_at = now_ns();
  holder.kill();
  waiter.finish();
  waiter.perform(act::unlock);
  return beyond_ms(waiter, killed_at);
}

void run(const settings& chosen, table& results) {
  const bench_server server(chosen);
  reference observer(server.url());
  const auto measure = [&](const char* id, auto&& stall_of) {
    std::vector<double> stalls;
    for (int i = 0; i < chosen.pick(9, 4); ++i) {
      stalls.push_back(stall_of(server.url(), lock_name(id, i), observer));
    }
    // The longest, because a stall is what it is at its worst.
    results.measured(id, percentile(stalls, 1.0));
    results.raw("%zu deaths: shortest %.1f ms, median %.1f ms", stalls.size(),
                percentile(stalls, 0.0), median(stalls));
  };
  measure("death.holder", stall_after_holder);
  measure("death.grantee", stall_after_grantee);
  std::vector<double> handovers;
  for (int i = 0; i < chosen.pick(100, 20); ++i) {
    handovers.push_back(handover_of_dead_ms(server.url(), lock_name("death.helper", i), observer));
  }
  results.measured("death.helper", percentile(handovers, 0.99));
  results.raw("%zu deaths: median %.2f ms, longest %.2f ms", handovers.size(), median(handovers),
              percentile(handovers, 1.0));
}

// ---- dead waiters ----------------------------------------------------------------------------

// From the unlock until the live waiter knows, with so many dead ones before it.
double handoff_us(worker& holder, worker& waiter, const std::string& url, const std::string& name,
                  int dead, reference& observer) {
  holder.perform(act::acquire);
  if (dead > 0) {
    worker doomed(url, name, {}, dead);
    doomed.perform(act::enqueue);
    wait_for_waiters(observer, name, dead);
    doomed.kill();
  }
  waiter.begin(act::acquire);
  wait_for_waiters(observer, name, dead + 1);
  holder.perform(act::unlock);
  waiter.finish();
  const auto time = waiter.ended_ns() - holder.began_ns();
  waiter.perform(act::unlock);
  return static_cast<double>(time) / ns_per_microsecond;
}

void run_dead_waiter(const settings& chosen, table& results) {
  constexpr int dead = 10;
  const bench_server server(chosen);
  const auto name = lock_name("dead");
  reference observer(server.url());
  worker holder(server.url(), name, {});
  worker waiter(server.url(), name, {});
  std::vector<double> without;
  std::vector<double> with;
  for (int i = 0; i < chosen.pick(60, 20); ++i) {
    without.push_back(handoff_us(holder, waiter, server.url(), name, 0, observer));
    with.push_back(handoff_us(holder, waiter, server.url(), name, dead, observer));
  }
  results.measured("death.queued", (median(with) - median(without)) / dead);
  results.raw("handoff %.0f us, %.0f us behind %d dead waiters", median(without), median(with),
              dead);
}

}  // namespace

const experiment& death() {
  static const experiment instance{
      "death",
      {{"death.holder", "holder dies, longest stall beyond its lease", aim::at_most, 50, "ms"},
       {"death.grantee", "grantee dies, longest stall beyond its lease", aim::at_most, 50, "ms"},
       {"death.helper", "holder dies with release_on_death, p99 to the next grant", aim::at_most,
        100, "ms"}},
      run};
  return instance;
}

const experiment& dead_waiter() {
  static const experiment instance{
      "dead_waiter",
      {{"death.queued", "a dead waiter at the head, added to a handoff", aim::at_most, 15, "us"}},
      run_dead_waiter};
  return instance;
}

}  // namespace mortise::bench
