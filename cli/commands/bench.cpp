#include "cli/commands/bench.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <thread>

#include "cli/arguments.hpp"
#include "cli/durations.hpp"
#include "cli/exit_code.hpp"
#include "cli/failure.hpp"
#include "cli/period.hpp"
#include "cli/text/text_table.hpp"

namespace mortise::cli {
namespace {

const char* const bench_help =
    R"HELP(Measures the latency of locks and of a round trip to the servers.

  mortise bench
  mortise bench --for 10s --json

Usage: mortise bench [OPTION...]

      --for TIME   how long to measure (default: 3s)
      --url URL    servers of the locks (default: $MORTISE_URL)
      --json       print JSON, with times in microseconds
  -h, --help       print this help

It measures in turn: a round trip; a free lock that is locked and unlocked; a handover, from the
unlock of one client to the grant to a waiter. The lock has a name of its own, and nothing remains
on the servers. Exit codes: 0; 64 and above as in mortise exec.
)HELP";

using clock = std::chrono::steady_clock;

int64_t ns_since(clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(clock::now() - start).count();
}

std::string name_of_its_own() {
  std::random_device chance;
  return "mortise bench " + std::to_string(::getpid()) + " " + std::to_string(chance());
}

// A client with a lock, whose calls report to a queue.
class side {
 public:
  side(const std::string& url, const std::string& name, mortise_error* error)
      : error_(error), client_(connect(url, error)) {
    lock_.reset(mortise_lock_new(client_.get(), name.data(), name.size(), nullptr, error));
    if (!lock_) throw failure(error);
    queue_.reset(mortise_queue_new(client_.get(), 0, error));
    if (!queue_) throw failure(error);
  }

  void ping() { check(mortise_client_ping(client_.get(), error_)); }
  void lock() { check(mortise_lock_acquire(lock_.get(), longest_ms, error_)); }
  void unlock() { check(mortise_lock_unlock(lock_.get(), error_)); }
  void begin_to_wait() {
    check(mortise_lock_acquire_async(lock_.get(), queue_.get(), 0, longest_ms, error_));
  }
  void begin_to_unlock() { check(mortise_lock_unlock_async(lock_.get(), queue_.get(), 0, error_)); }
  void end() {
    check(mortise_queue_next(queue_.get(), longest_ms, event_.get(), error_));
    if (mortise_event_status(event_.get()) != MORTISE_OK) {
      throw failure(exit_unavailable, mortise_event_message(event_.get()));
    }
  }
  int64_t waiters() {
    check(mortise_lock_query(lock_.get(), info_.get(), error_));
    return mortise_info_waiter_count(info_.get());
  }

 private:
  static constexpr int64_t longest_ms = 10'000;
  void check(mortise_status status) const {
    if (status != MORTISE_OK) throw failure(error_);
  }

  mortise_error* error_;
  client_handle client_;
  lock_handle lock_;
  queue_handle queue_;
  event_handle event_{mortise_event_new()};
  info_handle info_{mortise_info_new()};
};

struct results {
  durations round_trips;
  durations pairs;
  durations handovers;
};

void time_handover(side& giver, side& taker, durations& times) {
  giver.lock();
  taker.begin_to_wait();
  // Waits until the servers list the waiter. In a quorum there is no queue.
  constexpr int most_looks = 20;
  for (int looks = 0; looks < most_looks && giver.waiters() == 0; ++looks) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const auto start = clock::now();
  giver.begin_to_unlock();
  taker.end();
  times.add(ns_since(start));
  giver.end();
  taker.unlock();
}

results measure(const std::string& url, int64_t for_ms) {
  const error_handle error(mortise_error_new());
  const auto name = name_of_its_own();
  side one(url, name, error.get());
  side other(url, name, error.get());
  results found;
  // Warm-up: the first calls load scripts and allocate memory.
  one.ping();
  durations not_counted;
  time_handover(one, other, not_counted);
  time_handover(other, one, not_counted);
  const auto ends = clock::now() + std::chrono::milliseconds(for_ms);
  do {
    auto start = clock::now();
    one.ping();
    found.round_trips.add(ns_since(start));
    start = clock::now();
    one.lock();
    one.unlock();
    found.pairs.add(ns_since(start));
    time_handover(one, other, found.handovers);
    time_handover(other, one, found.handovers);
  } while (clock::now() < ends);
  return found;
}

void print(const results& found) {
  constexpr size_t widest_bar = 40;
  const auto median = static_cast<double>(found.round_trips.quantile_ns(500));
  const std::pair<const char*, const durations&> all[] = {{"round trip", found.round_trips},
                                                          {"lock and unlock", found.pairs},
                                                          {"handover", found.handovers}};
  text_table table({"WHAT", "TIMES", "P50", "P99", "MAX", "ROUND TRIPS"});
  for (const auto& [what, times] : all) {
    char ratio[32];
    std::snprintf(ratio, sizeof ratio, "%.2f",
                  static_cast<double>(times.quantile_ns(500)) / median);
    table.add({what, std::to_string(times.count()), short_text_of_ns(times.quantile_ns(500)),
               short_text_of_ns(times.quantile_ns(990)), short_text_of_ns(times.quantile_ns(1000)),
               ratio});
  }
  table.print();
  for (const auto& [what, times] : all) {
    std::printf("\n%s\n%s", what, times.histogram(widest_bar).c_str());
  }
}

}  // namespace

int bench_locks(int argc, const char* const* argv) {
  CLI::App app;
  std::string url;
  std::string how_long = "3s";
  bool is_json = false;
  app.add_option("--for", how_long);
  app.add_option("--url", url);
  app.add_flag("--json", is_json);
  if (!read_arguments(app, "bench", bench_help, argc, argv)) return exit_ok;
  constexpr int64_t longest_ms = 3'600'000;
  const auto for_ms = milliseconds_of("--for", how_long);
  if (for_ms < 1 || for_ms > longest_ms) {
    throw failure(exit_usage, "--for " + how_long + " is out of range; give 1ms to 1h");
  }
  const auto found = measure(url, for_ms);
  if (is_json) {
    const nlohmann::json report = {{"round_trip", found.round_trips.json()},
                                   {"lock_and_unlock", found.pairs.json()},
                                   {"handover", found.handovers.json()}};
    std::puts(report.dump().c_str());
  } else {
    print(found);
  }
  return exit_ok;
}

}  // namespace mortise::cli
