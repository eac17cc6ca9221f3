// The faults of a run.
#include <algorithm>
#include <utility>

#include "protocol/scripts/scripts.hpp"
#include "simulation/lock/run.hpp"

namespace mortise::simulation {

void run::plan_faults() {
  const auto& plan = world_.plan;
  plan_fault(plan.breaks, &run::break_connection);
  plan_fault(plan.flaps, &run::break_one);
  plan_fault(plan.crashes, &run::crash_client);
  plan_fault(plan.pauses, &run::pause_client);
  plan_fault(plan.server_pauses, &run::pause_server);
  plan_fault(plan.outages, &run::shut_server);
  plan_fault(plan.refusals, &run::refuse);
  plan_fault(plan.script_flushes, &run::flush_scripts);
  plan_fault(plan.replacements, &run::replace_server);
  plan_fault(plan.stalls, &run::stall_connection);
  plan_fault(plan.changes, &run::change_server);
  plan_fault(plan.kills, &run::kill_connections);
  plan_fault(plan.data_losses, &run::lose_data);
  plan_fault(plan.promotions, &run::promote);
  plan_fault(plan.meddlings, &run::meddle);
  plan_fault(plan.clock_steps, &run::step_clock);
  plan_fault(plan.resizes, &run::resize);
  if (plan.has_oddities) plan_fault(plan.duration, &run::close_client);
}

void run::plan_fault(time_ns mean, void (run::*what)()) {
  if (mean == 0) return;
  world_.time.after(world_.dice.below(2 * mean), [this, mean, what] {
    if (world_.is_healed) return;
    (this->*what)();
    plan_fault(mean, what);
  });
}

simulated_client* run::somebody() {
  const auto index = world_.dice.below(static_cast<std::int64_t>(clients_.size()));
  auto* const client = clients_[static_cast<std::size_t>(index)].get();
  return client->is_over() ? nullptr : client;
}

const run::watched_name& run::some_name() {
  return names_[static_cast<std::size_t>(
      world_.dice.below(static_cast<std::int64_t>(names_.size())))];
}

void run::resize() {
  const auto& locks = world_.plan.locks;
  const auto& chosen =
      locks[static_cast<std::size_t>(world_.dice.below(static_cast<std::int64_t>(locks.size())))];
  if (chosen.kind != lock::lock_kind::semaphore) return;
  ++world_.seen[count::resizes];
  const auto capacity = std::to_string(world_.dice.between(1, chosen.capacity));
  world_.log("---- %s has %s permits", chosen.name.c_str(), capacity.c_str());
  arguments command{"EVAL", std::string(scripts::semaphore_resize.text), "4"};
  for (auto& key : chosen.rules().keys(chosen.name)) command.push_back(std::move(key));
  command.insert(command.end(), {"", "0", "resize", "1", capacity});
  server_.watch.execute(admin_, command);
}

// ---- clients and their connections ----------------------------------------------------------

void run::break_connection() {
  auto* const client = somebody();
  if (client != nullptr) client->cut();
}

// Always the same client. It does not excuse delays of the others.
void run::break_one() {
  const auto living = std::find_if(clients_.begin(), clients_.end(),
                                   [](const auto& client) { return !client->is_over(); });
  if (living != clients_.end()) (*living)->flap();
}

void run::crash_client() {
  auto* const client = somebody();
  if (client == nullptr) return;
  ++world_.seen[count::crashes];
  client->crash();
  add_client();
}

void run::pause_client() {
  auto* const client = somebody();
  if (client == nullptr) return;
  const auto longest =
      *std::max_element(world_.plan.leases_ms.begin(), world_.plan.leases_ms.end());
  client->pause(world_.time.now() + world_.dice.spread(3 * longest * ns_per_ms));
}

void run::stall_connection() {
  auto* const client = somebody();
  if (client == nullptr) return;
  ++world_.seen[count::stalls];
  const auto until = world_.time.now() + world_.dice.spread(5 * ns_per_s);
  client->stall(until);
  world_.disturb(until + ns_per_s);
}

void run::close_client() {
  auto* const client = somebody();
  if (client == nullptr || client->is_paused()) return;
  ++world_.seen[count::closes];
  client->close();
  add_client();
}

// ---- the server -----------------------------------------------------------------------------

void run::pause_server() {
  ++world_.seen[count::server_pauses];
  const auto until = world_.time.now() + world_.dice.spread(5 * ns_per_s);
  world_.log("---- the server hangs until %ld us", until / ns_per_us);
  server_.pause(until);
  world_.disturb(until + ns_per_s);
}

void run::shut_server() {
  ++world_.seen[count::outages];
  world_.log("---- the server is gone");
  const auto until = world_.time.now() + world_.dice.spread(5 * ns_per_s);
  server_.shut(until);
  if (world_.dice.happens(500)) server_.redis.flush_scripts();
  world_.disturb(until + ns_per_s);
}

// A restart, or a replica that had everything.
void run::change_server() {
  ++world_.seen[count::changes];
  const auto until = world_.time.now() + world_.dice.spread(5 * ns_per_s);
  world_.log("---- the server is another one from %ld us on", until / ns_per_us);
  server_.change(server_.redis.all_data(), until);
  world_.disturb(until + 2 * ns_per_s);
}

void run::kill_connections() {
  ++world_.seen[count::kills];
  world_.log("---- all connections end");
  server_.end_connections();
  world_.disturb(world_.time.now() + 2 * ns_per_s);
}

void run::refuse() {
  ++world_.seen[count::refusals];
  auto& fault = server_.redis.fault;
  fault = {};
  switch (world_.dice.below(8)) {
    case 0:
      fault.refuse_all = "LOADING Redis is loading the dataset in memory";
      break;
    case 1:
      fault.refuse_all = "BUSY Redis is busy running a script.";
      break;
    case 2:
      fault.refuse_all = "NOPERM this user has no permissions";
      break;
    case 3:
      fault.refuse_all = "SOMETHING that nobody has heard of";
      break;
    case 4:
      fault.refuse_writes = "READONLY You can't write against a read only replica.";
      break;
    case 5:
      fault.refuse_writes = "MISCONF Redis is configured to save RDB snapshots";
      break;
    case 6:
      fault.refuse_writes = "NOREPLICAS Not enough good replicas to write.";
      break;
    default:
      fault.is_out_of_memory = true;
      break;
  }
  const auto until = world_.time.now() + world_.dice.spread(2 * ns_per_s);
  world_.log("---- the server refuses until %ld us: %s%s", until / ns_per_us,
             fault.refuse_all.c_str(), fault.refuse_writes.c_str());
  world_.disturb(until + ns_per_s);
  world_.time.at(until, [this, number = ++refusal_number_] {
    if (number == refusal_number_) server_.redis.fault = {};
  });
}

void run::flush_scripts() {
  ++world_.seen[count::script_flushes];
  world_.log("---- SCRIPT FLUSH");
  server_.redis.flush_scripts();
}

// As by a proxy that goes to another server with the same data.
void run::replace_server() {
  using spelling = redis::compare_and_delete;
  ++world_.seen[count::replacements];
  server_.redis.compare_and_delete =
      world_.dice.one_of({spelling::none, spelling::delifeq, spelling::delex});
  world_.log("---- the server knows other commands");
}

// ---- outside the promise --------------------------------------------------------------------

void run::administer(const arguments& command) {
  // An administrator is never refused.
  const auto fault = std::exchange(server_.redis.fault, {});
  server_.redis.call(command);
  server_.redis.fault = fault;
}

void run::lose_data() {
  ++world_.seen[count::data_losses];
  if (world_.dice.happens(500)) {
    world_.log("---- the server restarts without its data");
    server_.change({}, world_.time.now());
    return world_.disturb(world_.time.now() + 2 * ns_per_s);
  }
  world_.log("---- FLUSHALL");
  administer({"FLUSHALL"});
  world_.disturb(world_.time.now());
}

// Whatever happens from now on has not reached the replica.
void run::promote() {
  world_.time.after(world_.dice.spread(ns_per_s), [this, data = server_.redis.all_data()] {
    if (world_.is_healed) return;
    ++world_.seen[count::promotions];
    world_.log("---- a replica is promoted");
    server_.change(data, world_.time.now());
    world_.disturb(world_.time.now() + 2 * ns_per_s);
  });
}

// Like a client that has learned the holder from a query.
void run::force_release(const watched_name& of) {
  auto owners = holders(of);
  const auto& locks = world_.plan.locks;
  const auto known = std::find_if(locks.begin(), locks.end(),
                                  [&](const auto& lock) { return lock.name == of.name; });
  const auto& script = known->rules().force_release;
  if (owners.empty() || script.code == nullptr) return;
  if (owners.front().ends_with('*')) owners.front().pop_back();  // others wait for it
  arguments command{"EVAL", std::string(script.code->text), std::to_string(script.keys)};
  const auto keys = known->rules().keys(of.name);
  std::copy_n(keys.begin(), script.keys, std::back_inserter(command));
  command.insert(command.end(), {owners.front(), "0", "force"});
  if (script.arguments > 3) command.insert(command.end(), {"1", std::to_string(known->capacity)});
  administer(command);
}

void run::meddle() {
  ++world_.seen[count::meddlings];
  const auto& chosen = some_name();
  const auto& lock = chosen.lock_key;
  const auto& queue = chosen.queue_key;
  const auto until = world_.time.now() + world_.dice.spread(2 * ns_per_s);
  std::vector<std::string> spoilt;
  switch (world_.dice.below(8)) {
    case 0:
      administer({"DEL", lock});
      break;
    case 1:
      administer({"DEL", queue});
      break;
    case 2:
      administer({"DEL", "mortise:fence"});
      break;
    case 3:
      administer({"SET", lock, "another program's"});
      spoilt = {"DEL", lock};
      break;
    case 4:
      administer({"DEL", lock});
      administer({"RPUSH", lock, "a list"});
      spoilt = {"DEL", lock};
      break;
    case 5:
      administer({"SET", queue, "no list"});
      spoilt = {"DEL", queue};
      break;
    case 6:
      administer({"SET", "mortise:fence", "no number"});
      break;
    default:
      force_release(chosen);
      break;
  }
  world_.log("---- an administrator meddles");
  world_.disturb(until);
  if (!spoilt.empty()) {
    world_.time.at(until, [this, spoilt] { administer(spoilt); });
  }
}

void run::step_clock() {
  ++world_.seen[count::clock_steps];
  const auto by = world_.dice.spread(20 * ns_per_s) * (world_.dice.happens(500) ? 1 : -1);
  world_.log("---- the server's clock steps by %ld us", by / ns_per_us);
  server_.clock.step(by);
  // Stepped back, it makes every lease that much longer.
  world_.disturb(world_.time.now() + std::abs(by));
}

}  // namespace mortise::simulation
