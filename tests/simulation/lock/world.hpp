// What all parts of a run share: its plan, its time and dice, what it has seen, and what went
// wrong.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <list>
#include <string>
#include <vector>

#include "lock/exported_claim.hpp"
#include "protocol/protocols.hpp"
#include "redis/service/compare_and_delete.hpp"
#include "simulation/harness/chance.hpp"
#include "simulation/harness/virtual_time.hpp"
#include "support/history.hpp"

namespace mortise::simulation {

// One lock of a run.
struct named_lock {
  std::string name;
  lock::lock_kind kind = lock::lock_kind::mutex;
  std::int64_t capacity = 1;  // how much there is of it
  [[nodiscard]] const protocol::table& rules() const { return *protocol::find(kind, "queued"); }
};

// Everything that is chosen for a run before it starts, drawn from its seed (plan.cpp).
struct plan {
  std::uint64_t seed = 0;
  std::string kind;  // calm, contended, faulty, silent, broken promises
  time_ns duration = 10 * ns_per_s;
  int clients = 3;
  int handles = 3;  // of each client
  std::vector<named_lock> locks{{"name 0"}};
  std::vector<std::int64_t> leases_ms{1000};
  time_ns latency_ns = ns_per_ms;  // one way, typical
  time_ns think_ns = 50 * ns_per_ms;
  time_ns hold_ns = 50 * ns_per_ms;
  std::int64_t command_timeout_ms = 3000;
  std::int64_t drift_ppm = 4'900;  // clocks run at most this much faster or slower than truth
  int strict_per_mille = 200;
  int try_per_mille = 200;
  int write_per_mille = 500;
  std::int64_t retain_ms = 0;  // what some handles retain their claims for
  bool has_oddities = true;    // cancels, short timeouts, forgotten handles, extensions
  bool defers_own_pushes = false;
  redis::compare_and_delete compare_and_delete = redis::compare_and_delete::none;
  bool kills_old_sessions = true;  // a reconnect is allowed CLIENT KILL
  int trap_per_mille = 0;          // of requests are followed by a break or pause of the client
  // The mean time between faults of a class; 0: never.
  time_ns breaks = 0;
  time_ns flaps = 0;  // one client loses its connection again and again
  time_ns crashes = 0;
  time_ns pauses = 0;
  time_ns server_pauses = 0;
  time_ns outages = 0;   // the server restarts, or can't be reached
  time_ns refusals = 0;  // LOADING, READONLY, OOM, …
  time_ns script_flushes = 0;
  time_ns replacements = 0;  // it knows other commands from one moment to the next
  time_ns stalls = 0;        // a connection delivers nothing for a while
  time_ns changes = 0;       // the server is another process, with the same data
  time_ns kills = 0;         // all connections end at once
  time_ns resizes = 0;       // an owner changes how many permits a semaphore has; no fault
  // Outside the promise of exclusion.
  time_ns data_losses = 0;   // FLUSHALL, a restart without data
  time_ns promotions = 0;    // the server is a replica that was behind
  time_ns meddlings = 0;     // an administrator deletes or overwrites keys, or ends a hold by force
  time_ns clock_steps = 0;   // of the server
  bool is_exclusive = true;  // none of the last four

  [[nodiscard]] bool has_faults() const {
    return breaks + flaps + crashes + pauses + server_pauses + outages + refusals + script_flushes +
               replacements + stalls + changes + kills + data_losses + promotions + meddlings +
               clock_steps + trap_per_mille >
           0;
  }
};

plan make_plan(std::uint64_t seed);

enum class count : std::uint8_t {
  acquired,
  not_acquired,
  timed_out,
  cancelled,
  lost,
  at_risk,
  contended,
  values,
  adopted,
  unknown,
  unreachable,
  refused,
  other,
  unlocked,
  extended,
  reentered,
  by_message,
  shared,
  commands,
  breaks,
  crashes,
  pauses,
  server_pauses,
  outages,
  refusals,
  script_flushes,
  replacements,
  stalls,
  changes,
  kills,
  data_losses,
  promotions,
  meddlings,
  clock_steps,
  closes,
  forgotten,
  upgraded,
  downgraded,
  resizes,
  broken_answers,
  ghost_commands,
  gathered,
  size,
};

struct counters {
  std::array<std::int64_t, static_cast<std::size_t>(count::size)> values{};
  std::int64_t& operator[](count which) { return values[static_cast<std::size_t>(which)]; }
  void add(const counters& other) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += other.values[i];
  }
};
const char* count_name(count which);

class lock_trace;

// A hold that a user has exported, by the name of its lock.
struct exported_hold {
  std::string name;
  lock::exported_claim claim;
  int adoptions = 2;  // how often it may be tried
};

struct world {
  explicit world(const struct plan& chosen) : plan(chosen), dice(chosen.seed * 2 + 1) {}

  struct plan plan;
  virtual_time time;
  chance dice;
  counters seen;
  bool is_verbose = false;
  bool is_healed = false;  // no more faults
  std::vector<std::string> violations;
  std::vector<testing::hold_record> history;
  lock_trace* trace = nullptr;  // none, unless a file was asked for
  std::list<exported_hold> exported;
  // Since when nothing was wrong with the server, the network or a clock; faults move it on.
  time_ns healthy_since = 0;

  void violate(const std::string& what);
  void log(const char* format, ...) __attribute__((format(printf, 2, 3)));
  void disturb(time_ns until) {
    if (until > healthy_since) healthy_since = until;
  }
};

}  // namespace mortise::simulation
