// The shared state of a run with real code on simulated servers: time, chance, grants, holds and
// violations.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "simulation/harness/chance.hpp"
#include "simulation/harness/simulated_redis.hpp"
#include "simulation/harness/trace_file.hpp"
#include "simulation/harness/virtual_time.hpp"
#include "support/history.hpp"

namespace mortise::process_simulation {

using simulation::chance;
using simulation::drifting_clock;
using simulation::hold_trace;
using simulation::virtual_time;

// Of one lock.
struct grants {
  std::int64_t highest_token = 0;
  time_ns last = 0;
};

struct world {
  explicit world(std::uint64_t seed) : dice(seed) {}
  virtual_time time;
  chance dice;
  time_ns latency_ns = ns_per_ms;  // one way, typical
  bool is_healed = false;
  bool is_verbose = false;
  bool is_exclusive = true;               // no server loses what it has granted
  bool has_one_clock = true;              // its servers are of one time
  std::map<std::string, grants> granted;  // by name
  std::vector<testing::hold_record> history;
  std::int64_t lost = 0;  // holds that were
  std::vector<std::string> violations;
  hold_trace* trace = nullptr;  // none, unless a file was asked for

  void violate(const std::string& what);
  void log(const std::string& what);
  // The time at which bytes that are sent now are delivered, after those of before: `last`.
  time_ns delivery_time(time_ns& last);
};

// What processes do.
struct terms {
  int names = 1;
  int rw_names = 0;  // of these, the first are read-write locks
  std::int64_t write_per_mille = 300;
  std::int64_t change_per_mille = 0;  // the part of holds that upgrade or downgrade
  std::int64_t lease_ms = 1000;
  std::int64_t drift_ppm = 4'900;
  time_ns think_ns = 50 * ns_per_ms;
  time_ns hold_ns = 100 * ns_per_ms;
};

// The words of a command, of which bytes may have several.
std::vector<simulation::arguments> commands_of(std::string_view bytes);
// For the reader of a run's log.
std::string describe(const simulation::arguments& words, const std::string& reply);

// The wall clock of a server begins about here.
constexpr time_ns epoch_ns = 1'790'000'000 * ns_per_s;

}  // namespace mortise::process_simulation
