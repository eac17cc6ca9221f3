#include <algorithm>

#include "lock/gate/owner.hpp"
#include "simulation/lock/world.hpp"

namespace mortise::simulation {

namespace {

void plan_calm(plan& made, chance& dice) {
  made.kind = "calm";
  made.duration = dice.between(5, 40) * ns_per_s;
}

// Many waiters and nothing else, to count the requests to the server.
void plan_contended(plan& made, chance& dice) {
  made.kind = "contended";
  made.clients = static_cast<int>(dice.between(5, 12));
  made.handles = static_cast<int>(dice.between(1, 4));
  made.locks.resize(1);
  made.leases_ms = {30'000};
  made.think_ns = dice.between(1, 50) * ns_per_us;
  made.latency_ns = dice.between(20, 2000) * ns_per_us;
  // So long that the queue always has a waiter.
  made.hold_ns = 4 * made.latency_ns + dice.spread(20 * ns_per_ms);
  made.duration =
      std::clamp<time_ns>(200 * (made.hold_ns + made.latency_ns), ns_per_s / 2, 10 * ns_per_s);
  made.try_per_mille = 0;
  made.has_oddities = false;
  made.resizes = 0;
}

std::vector<named_lock> draw_locks(chance& dice) {
  std::vector<named_lock> locks;
  for (auto count = dice.between(1, 3); count > 0; --count) {
    named_lock made{"name " + std::to_string(locks.size())};
    made.kind = dice.one_of({lock::lock_kind::mutex, lock::lock_kind::mutex, lock::lock_kind::rw,
                             lock::lock_kind::semaphore});
    if (made.kind == lock::lock_kind::rw) made.capacity = lock::exclusive_permits;
    if (made.kind == lock::lock_kind::semaphore) made.capacity = dice.between(1, 6);
    locks.push_back(made);
  }
  return locks;
}

time_ns now_and_then(chance& dice) {
  return dice.happens(500) ? 0 : dice.between(100, 5000) * ns_per_ms;
}

void plan_faulty(plan& made, chance& dice) {
  made.kind = "faulty";
  made.duration = dice.between(5, 40) * ns_per_s;
  made.command_timeout_ms = dice.one_of<std::int64_t>({100, 500, 3000});
  made.latency_ns = std::min(made.latency_ns, made.command_timeout_ms * ns_per_ms / 10);
  made.breaks = now_and_then(dice);
  made.crashes = now_and_then(dice) * 3;
  made.pauses = now_and_then(dice);
  made.server_pauses = now_and_then(dice) * 2;
  made.outages = now_and_then(dice) * 4;
  made.refusals = now_and_then(dice) * 2;
  made.script_flushes = now_and_then(dice);
  made.replacements = now_and_then(dice);
  made.stalls = now_and_then(dice) * 2;
  made.trap_per_mille = dice.one_of({0, 2, 10});
  made.kills_old_sessions = dice.happens(850);
  if (dice.happens(200)) made.changes = dice.between(500, 8000) * ns_per_ms;
}

// Processes die and stop, and no other fault excuses a long wait.
void plan_silent(plan& made, chance& dice) {
  made.kind = "silent";
  made.duration = dice.between(20, 60) * ns_per_s;
  made.clients = static_cast<int>(dice.between(3, 6));
  made.handles = static_cast<int>(dice.between(1, 2));
  made.leases_ms = {dice.one_of<std::int64_t>({1000, 5000}), 30'000};
  made.latency_ns = std::min(made.latency_ns, 20 * ns_per_ms);
  made.hold_ns = dice.between(1, 20) * ns_per_s;
  made.pauses = dice.between(1000, 8000) * ns_per_ms;
  made.crashes = dice.happens(300) ? 0 : dice.between(2, 15) * ns_per_s;
}

// The server goes down and comes back with its queues, processes die, and no other fault excuses a
// waiter that is passed over.
void plan_grace_period(plan& made, chance& dice) {
  made.kind = "grace_period";
  made.duration = dice.between(10, 40) * ns_per_s;
  made.clients = static_cast<int>(dice.between(3, 8));
  made.leases_ms = {dice.one_of<std::int64_t>({200, 1000, 5000, 30'000})};
  made.latency_ns = std::min(made.latency_ns, 20 * ns_per_ms);
  made.hold_ns = dice.spread(3 * ns_per_s);
  made.think_ns = dice.spread(300 * ns_per_ms);
  made.changes = dice.happens(300) ? 0 : dice.between(500, 8000) * ns_per_ms;
  made.kills = dice.happens(500) && made.changes > 0 ? 0 : dice.between(500, 8000) * ns_per_ms;
  made.flaps = dice.happens(700) ? 0 : dice.between(200, 1000) * ns_per_ms;
  made.crashes = dice.happens(500) ? 0 : dice.between(1, 10) * ns_per_s;
}

void plan_broken_promises(plan& made, chance& dice) {
  if (dice.happens(500)) plan_faulty(made, dice);
  made.kind = "broken promises";
  made.is_exclusive = false;
  const auto which = dice.below(4);
  if (which == 0) made.data_losses = dice.between(300, 5000) * ns_per_ms;
  if (which == 1) made.meddlings = dice.between(300, 5000) * ns_per_ms;
  if (which == 2) made.clock_steps = dice.between(300, 5000) * ns_per_ms;
  if (which == 3) made.promotions = dice.between(1000, 8000) * ns_per_ms;
}

}  // namespace

plan make_plan(std::uint64_t seed) {
  chance dice(seed * 2);
  plan made;
  made.seed = seed;
  made.clients = static_cast<int>(dice.between(1, 6));
  made.handles = static_cast<int>(dice.between(1, 5));
  made.locks = draw_locks(dice);
  made.leases_ms.clear();
  for (auto count = dice.between(1, 2); count > 0; --count) {
    made.leases_ms.push_back(dice.one_of<std::int64_t>({50, 200, 1000, 1000, 5000, 30'000}));
  }
  const auto shortest = *std::min_element(made.leases_ms.begin(), made.leases_ms.end());
  made.latency_ns =
      20 * ns_per_us + dice.spread(std::min(shortest * ns_per_ms / 10, 200 * ns_per_ms));
  made.think_ns = 100 * ns_per_us + dice.spread(500 * ns_per_ms);
  made.hold_ns = dice.spread(shortest * ns_per_ms);
  made.strict_per_mille = dice.one_of({0, 200, 1000});
  made.try_per_mille = dice.one_of({0, 200, 800});
  made.write_per_mille = dice.one_of({50, 300, 1000});
  made.retain_ms = dice.happens(500) ? 0 : 1 + dice.spread(2 * shortest);
  made.resizes = dice.happens(500) ? 0 : dice.between(50, 3000) * ns_per_ms;
  made.defers_own_pushes = dice.happens(500);
  made.compare_and_delete =
      dice.one_of({redis::compare_and_delete::none, redis::compare_and_delete::delifeq,
                   redis::compare_and_delete::delex});
  const auto kind = dice.below(100);
  if (kind < 12) {
    plan_calm(made, dice);
  } else if (kind < 20) {
    plan_grace_period(made, dice);
  } else if (kind < 30) {
    plan_contended(made, dice);
  } else if (kind < 75) {
    plan_faulty(made, dice);
  } else if (kind < 85) {
    plan_silent(made, dice);
  } else {
    plan_broken_promises(made, dice);
  }
  return made;
}

const char* count_name(count which) {
  static constexpr std::array names{
      "acquired",       "not acquired", "timed out",      "cancelled",       "lost",
      "at risk",        "contended",    "values",         "adopted",         "unknown",
      "unreachable",    "refused",      "other outcomes", "unlocked",        "extended",
      "reentered",      "by message",   "shared",         "server commands", "breaks",
      "crashes",        "pauses",       "server pauses",  "outages",         "refusals",
      "script flushes", "replacements", "stalls",         "changes",         "kills",
      "data losses",    "promotions",   "meddlings",      "clock steps",     "closes",
      "forgotten",      "upgraded",     "downgraded",     "resizes",         "broken answers",
      "ghost commands", "gathered"};
  static_assert(names.size() == static_cast<std::size_t>(count::size));
  return names[static_cast<std::size_t>(which)];
}

}  // namespace mortise::simulation
