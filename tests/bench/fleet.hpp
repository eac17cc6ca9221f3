// A fleet of contenders for one lock, spread over processes: each is a thread that acquires, holds
// for a moment, unlocks, and acquires again. What they see is recorded in memory that they share.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench_process.hpp"
#include "reference.hpp"
#include "subject.hpp"

namespace mortise::bench {

struct fleet_plan {
  std::string url;
  std::string name;
  std::string options;  // of the handles
  int contenders = 2;
  int processes = 1;
  bool shares_client = false;  // one client for all contenders of a process
  std::int64_t hold_ns = 0;    // how long each holds
  bool pings = false;          // each holder measures the round trip first
};

// What one measurement has seen.
struct fleet_result {
  std::vector<double> handoff_us;  // from the call of unlock until the next owner knows
  std::vector<double> round_trip_us;
  std::vector<double> waited_us;  // of granted acquires
  double acquisitions = 0;
  double seconds = 0;
  server_usage server;

  [[nodiscard]] double rate() const { return acquisitions / seconds; }
  [[nodiscard]] double commands_each() const { return server.commands / acquisitions; }
  [[nodiscard]] double server_us_each() const { return server.cpu_us / acquisitions; }
};

class fleet {
 public:
  // Returns when all are connected.
  explicit fleet(fleet_plan plan);

  // Lets the first `active` of them contend. Begins to measure when all of these have been waiting,
  // and ends after so many acquisitions or so many seconds, whichever is first.
  fleet_result measure(int active, int acquisitions, double seconds, reference& server);

 private:
  static constexpr std::uint32_t sample_limit = 1U << 16U;
  struct notice_board {
    std::atomic<std::uint32_t> ready{0};
    std::atomic<std::uint32_t> round{0};   // changes when a round begins
    std::atomic<std::uint32_t> active{0};  // how many take part in it
    std::atomic<std::uint32_t> entered{0};
    std::atomic<std::uint32_t> left{0};
    std::atomic<bool> is_over{false};  // the round is
    std::atomic<std::uint32_t> holders{0};
    std::atomic<std::int64_t> unlocked_ns{0};
    std::atomic<std::uint32_t> acquisitions{0};
    std::atomic<std::uint32_t> round_trips{0};
    std::int64_t handoff_ns[sample_limit];
    std::int64_t waited_ns[sample_limit];
    std::int64_t round_trip_ns[sample_limit];
  };

  void run_process(int number) const;
  void contend(mortise_lock* lock, reference* pinger) const;
  void wait_for(const std::atomic<std::uint32_t>& counter, std::uint32_t value);
  void check_processes();

  fleet_plan plan_;
  shared<notice_board> board_;
  std::vector<std::unique_ptr<process>> processes_;
};

}  // namespace mortise::bench
