// Processes that contend for a few locks while a test kills and stops them. What they believed is
// recorded, and what they write is fenced.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "support/child.hpp"
#include "support/history.hpp"

namespace mortise::testing {

constexpr std::size_t contended_locks = 3;

// How long to contend: MORTISE_CHAOS_SECONDS, or this default.
std::int64_t chaos_seconds(std::int64_t otherwise);
// What chance begins with: MORTISE_CHAOS_SEED, or the same number in each run of the first tier,
// and another one each time in `./dev test --full` and longer runs. Reports print it.
unsigned chaos_seed();

// Memory that all processes share: what the locks protect, and what came of it.
struct shared_store {
  struct cell {
    std::atomic<std::int64_t> highest{0};
    std::atomic<std::int64_t> taken{0};
    std::atomic<std::int64_t> refused{0};

    // Takes no token below the highest that it has seen.
    void write(std::int64_t token);
  };
  std::array<cell, contended_locks> cells;
  std::atomic<bool> is_over{false};
};

class shared_memory {
 public:
  shared_memory();
  ~shared_memory();
  shared_memory(const shared_memory&) = delete;
  shared_memory& operator=(const shared_memory&) = delete;
  shared_store* operator->() const { return store_; }

 private:
  shared_store* store_ = nullptr;
};

// Every other process retains what it has unlocked.
inline std::vector<std::string> and_retaining(const std::string& url) {
  return {url, url + "&retain=150ms"};
}

class contenders {
 public:
  // The processes take turns with these URLs. One hold of so many is long. The first so many locks
  // are read-write locks. The N-th process that is started does `first` with N, before anything.
  contenders(std::vector<std::string> urls, std::size_t count, unsigned seed,
             unsigned long_one_in = 50, std::size_t rw_locks = 0,
             std::function<void(std::size_t number)> first = {});

  // Kills one or stops it for a while, shorter and longer than a lease.
  void kill_one();
  void stop_one();
  // One or the other, again and again.
  void harm_for(std::int64_t for_ms);
  // Whether to continue: until the time is up and there were enough acquires, however slow the
  // machine is; no longer than two minutes more.
  [[nodiscard]] bool is_to_go_on(time_ns since, std::int64_t for_s, std::size_t least = 20) const;
  // Continues the processes whose time has come, and receives the reports of all.
  void collect();
  void finish();
  // Finishes, prints the result in a line that begins with the faults of the servers, and fails the
  // test for each broken promise.
  void report(const std::string& harm, bool is_exclusive);

  [[nodiscard]] const std::vector<hold_record>& history() const { return history_; }
  [[nodiscard]] int kills() const { return kills_; }
  [[nodiscard]] int stops() const { return stops_; }
  // Writes that came too late, and that the token has kept out.
  [[nodiscard]] std::int64_t refused() const;

 private:
  struct process {
    std::unique_ptr<child> body;
    time_ns resume_at = 0;  // 0 when it is not stopped
  };

  process start();
  void drain(child& body);
  // Keeps a line that reports a hold; false for the last line of the process.
  bool take(const std::string& line);

  const std::vector<std::string> urls_;
  const unsigned seed_;
  const unsigned long_one_in_;
  const std::size_t rw_locks_;
  const std::function<void(std::size_t)> first_;
  std::mt19937 chance_;
  shared_memory store_;
  std::size_t started_ = 0;
  std::vector<process> processes_;
  std::vector<hold_record> history_;
  int kills_ = 0;
  int stops_ = 0;
};

}  // namespace mortise::testing
