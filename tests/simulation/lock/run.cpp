#include "simulation/lock/run.hpp"

#include <algorithm>
#include <cstdarg>

#include "protocol/native/owner_token.hpp"
#include "protocol/wire.hpp"
#include "simulation/lock/queue_entry.hpp"

namespace mortise::simulation {

namespace {

constexpr time_ns look_every_ns = 20 * ns_per_ms;
// Longer than the five minutes after which a queue expires that no client looks at.
constexpr time_ns forgetting_ns = 400 * ns_per_s;
constexpr std::int64_t most_attempts = 700;

constexpr std::int64_t most_events = 20'000'000;

}  // namespace

void world::violate(const std::string& what) {
  log("VIOLATION: %s", what.c_str());
  if (violations.size() < 20) {
    violations.push_back("at " + std::to_string(time.now() / ns_per_us) + " us: " + what);
  }
}

void world::log(const char* format, ...) {
  if (!is_verbose) return;
  std::printf("%12.3f ms  ", static_cast<double>(time.now()) / 1e6);
  va_list values;
  va_start(values, format);
  std::vprintf(format, values);
  va_end(values);
  std::printf("\n");
}

run::run(const plan& chosen, bool is_verbose, const std::string& trace)
    : world_(chosen), server_(world_), admin_(server_.redis.connect()) {
  world_.is_verbose = is_verbose;
  if (!trace.empty()) trace_ = std::make_unique<lock_trace>(world_, server_, trace);
  world_.trace = trace_.get();
  server_.redis.defers_own_pushes = chosen.defers_own_pushes;
  server_.redis.compare_and_delete = chosen.compare_and_delete;
  for (const auto& one : chosen.locks) {
    const auto keys = one.rules().keys(one.name);
    names_.push_back({one.name, keys[0], keys[2]});
  }
  for (int i = 0; i < chosen.clients; ++i) add_client();
}

simulated_client& run::add_client() {
  const auto number = static_cast<int>(clients_.size()) + 1;
  clients_.push_back(std::make_unique<simulated_client>(world_, server_, number));
  add_users(*clients_.back());
  clients_.back()->connect();
  return *clients_.back();
}

void run::add_users(simulated_client& to) {
  auto& dice = world_.dice;
  const auto& plan = world_.plan;
  for (int i = 0; i < plan.handles; ++i) {
    const auto lease = plan.leases_ms[static_cast<std::size_t>(
        dice.below(static_cast<std::int64_t>(plan.leases_ms.size())))];
    const bool is_strict = dice.happens(plan.strict_per_mille);
    users_.push_back(std::make_unique<user>(to,
                                            plan.locks[static_cast<std::size_t>(dice.below(
                                                static_cast<std::int64_t>(plan.locks.size())))],
                                            is_strict, static_cast<int>(users_.size()) + 1, lease));
    users_.back()->start();
  }
}

// Ends the eventful part of a run early when enough has happened.
bool run::is_enough() {
  return world_.seen[count::acquired] + world_.seen[count::not_acquired] > most_attempts;
}

const std::vector<std::string>& run::go() {
  const auto& plan = world_.plan;
  watch_liveness();
  plan_faults();
  while (world_.violations.empty() && !is_enough() && world_.time.now() < plan.duration) {
    live(std::min(plan.duration, world_.time.now() + ns_per_s));
  }
  heal();
  const auto longest = *std::max_element(plan.leases_ms.begin(), plan.leases_ms.end());
  const auto recovery = plan.has_faults() ? 20 * ns_per_s + longest * 3 / 2 * ns_per_ms : 0;
  // Users that were busy need not be watched at that pace while the system recovers.
  if (is_enough()) world_.plan.think_ns = std::max(world_.plan.think_ns, ns_per_s);
  live(world_.time.now() + recovery);
  wind_up();
  if (world_.violations.empty()) check_end();
  return world_.violations;
}

void run::live(time_ns until) {
  while (world_.violations.empty() && world_.time.advance(until)) {
    if (++events_ > most_events) world_.violate("too many events: something spins");
  }
}

// ---- liveness -------------------------------------------------------------------------------

void run::watch_liveness() {
  for (auto& watched : names_) {
    watch_name(watched);
    if (shared_watch::is_shared(watched.queue_key))
      heads_.look(watched.lock_key, watched.queue_key);
  }
  if (!world_.plan.has_faults()) check_leftovers();
  world_.time.after(look_every_ns, [this] { watch_liveness(); });
}

std::vector<std::string> run::holders(const watched_name& of) {
  const auto* lock = server_.redis.find(of.lock_key);
  if (lock == nullptr) return {};
  if (lock->type == simulated_redis::entry::kind::text) return {lock->text};
  std::vector<std::string> tokens;
  for (const auto& [member, score] : lock->scores) {
    // The counter is below zero, and a lease that is over will be swept.
    if (score >= static_cast<double>(server_.redis.now_ms())) tokens.push_back(owner_of(member));
  }
  return tokens;
}

std::vector<std::string> run::waiters(const watched_name& of) {
  std::vector<std::string> tokens;
  if (const auto* queue = server_.redis.find(of.queue_key)) {
    for (const auto& item : queue->items) tokens.push_back(owner_of(item));
  }
  return tokens;
}

bool run::is_exported(const std::string& token) const {
  return std::any_of(world_.exported.begin(), world_.exported.end(),
                     [&](const auto& each) { return token.starts_with(each.claim.owner_token); });
}

// Whether a lease at the server belongs to an owner that cannot release it, or to nobody until an
// adoption.
bool run::is_stuck(const watched_name& of) {
  const auto all = holders(of);
  return std::any_of(all.begin(), all.end(), [&](const auto& token) {
    if (is_exported(token)) return true;
    const auto id = protocol::split_owner_token(token).client;
    return std::none_of(clients_.begin(), clients_.end(), [&](const auto& client) {
      return client->id() == id && !client->is_dead() && client->is_up() && !client->is_paused();
    });
  });
}

// While a healthy waiter waits without a holder, it must be granted the lock soon after the lease
// of the dead or paused holder has ended.
void run::watch_name(watched_name& watched) {
  const auto now = world_.time.now();
  auto waits_since = now;
  for (const auto& who : users_) {
    const auto& client = who->client();
    if (client.is_dead() || who->name() != watched.name) continue;
    watched.idle_since = std::max(watched.idle_since, who->last_held());
    if (who->is_waiting() && client.is_up() && !client.is_paused()) {
      const auto able_since = std::max(client.well_since(), client.running_since());
      waits_since = std::min(waits_since, std::max(who->waiting_since(), able_since));
    }
  }
  if (is_stuck(watched)) watched.idle_since = now;
  const auto stall = now - std::max({waits_since, watched.idle_since, world_.healthy_since});
  if (stall > worst_stall_)
    world_.log("stall of %ld us at %s", stall / ns_per_us, watched.name.c_str());
  worst_stall_ = std::max(worst_stall_, stall);
  // After faults a waiter may have to find out by itself, and a grant to an owner that gave up has
  // to lapse. A client that waits while the data are lost looks again after 15 s at the latest.
  auto bound = (world_.plan.is_exclusive ? 4 : 24) * ns_per_s;
  const auto& leases_ms = world_.plan.leases_ms;
  const auto longest_ns = to_ns(*std::max_element(leases_ms.begin(), leases_ms.end()));
  // An old connection whose last commands come late may take the lock without a holder.
  if (!world_.plan.kills_old_sessions) bound += 2 * longest_ns;
  // A replica that has not received a release keeps the lock for its earlier holder.
  if (world_.plan.promotions > 0) bound += 2 * longest_ns;
  if (!world_.plan.has_faults()) bound = 300 * ns_per_ms + 20 * world_.plan.latency_ns;
  if (stall > bound) {
    world_.violate("\"" + watched.name + "\": nobody gets the lock for " +
                   std::to_string(stall / ns_per_ms) + " ms although somebody waits");
  }
  for (const auto& who : users_) check_value(*who, watched);
  if (world_.plan.has_faults()) return;
  for (const auto& who : users_) {
    const bool is_late = now - std::max(waits_since, who->uncontended_since()) > bound;
    if (is_late && who->name() == watched.name)
      world_.violate(who->describe() + ": a holder has no report of waiters");
  }
}

// The servers show no value of an earlier hold for the present one.
void run::check_value(user& who, const watched_name& watched) {
  if (who.name() != watched.name || !who.holds_now() || !who.gate_driver()) return;
  const auto token = who.gate_driver()->gate().owner_token(who.owner());
  const auto* const value = server_.redis.find(protocol::value_key(watched.lock_key, token));
  if (token.empty() || value == nullptr) return;
  const bool is_of_hold =
      value->text.starts_with(who.value_start()) || value->text == who.owner().value;
  if (!is_of_hold) world_.violate(who.describe() + ": shows the value " + value->text);
}

// A gate that is at rest has left nothing behind.
void run::check_leftovers() {
  for (const auto& watched : names_) {
    auto there = holders(watched);
    const auto queue = waiters(watched);
    there.insert(there.end(), queue.begin(), queue.end());
    for (const auto& token : there) {
      for (const auto& client : clients_) {
        if (client->is_over()) continue;
        if (protocol::split_owner_token(token).client != client->id()) continue;
        auto maker = client->gates().next(0);
        while (maker && !maker->has_made(token)) maker = client->gates().next(maker->id() + 1);
        const bool is_at_rest = !maker || maker->gate().is_idle();
        if (is_at_rest && !is_exported(token)) world_.violate(token + " was left behind");
      }
    }
  }
}

// ---- the end --------------------------------------------------------------------------------

void run::heal() {
  world_.is_healed = true;
  server_.redis.fault = {};
  for (const auto& client : clients_) client->wake();
  world_.log("---- healed");
  world_.disturb(world_.time.now());
}

void run::wind_up() {
  world_.log("---- winding up");
  for (const auto& who : users_) who->retire();
  live(world_.time.now() + 2 * ns_per_s);
  for (const auto& who : users_) {
    if (!who->client().is_over()) who->give_up();
  }
  const auto longest =
      2 * *std::max_element(world_.plan.leases_ms.begin(), world_.plan.leases_ms.end());
  live(world_.time.now() + 10 * ns_per_s + 3 * longest * ns_per_ms);
  if (!world_.violations.empty()) return;
  for (const auto& client : clients_) {
    if (client->is_dead()) continue;
    auto& gates = client->gates();
    for (auto each = gates.next(0); each; each = gates.next(each->id() + 1)) {
      if (!each->gate().is_idle()) world_.violate(client->id() + ": a gate does not come to rest");
      if (each->handles == 0) world_.violate(client->id() + ": a gate without handles is kept");
    }
  }
  for (const auto& who : users_) {
    if (!who->client().is_dead() && !who->is_settled()) {
      world_.violate(who->describe() + ": an accepted operation was never finished");
    }
    who->check_poison();
  }
  check_leftovers();
}

void run::check_end() {
  if (!world_.plan.has_faults()) check_cost();
  // Without faults nothing may be left at once, and otherwise once every lease and queue has ended.
  if (world_.plan.has_faults()) live(world_.time.now() + forgetting_ns);
  for (const auto& key : server_.redis.keys()) {
    const bool stays = key == protocol::fence_key || key == protocol::server_key;
    if (!stays && !key.ends_with(":permits")) world_.violate("the key \"" + key + "\" is left");
  }
  testing::history_rules rules;
  rules.is_exclusive = world_.plan.is_exclusive;
  for (const auto& problem : testing::check_history(world_.history, rules)) {
    world_.violate(problem);
  }
}

// Server commands for each time that the lock changed hands, with many waiting.
void run::check_cost() {
  if (world_.plan.kind != "contended") return;
  std::int64_t commands = 0;
  for (const auto& [name, facts] : server_.watch.names()) commands += facts.commands;
  const auto cycles = world_.seen[count::acquired];
  if (cycles > 100 && commands * 10 > cycles * 21) {
    world_.violate(std::to_string(commands) + " commands for " + std::to_string(cycles) +
                   " contended cycles");
  }
}

}  // namespace mortise::simulation
