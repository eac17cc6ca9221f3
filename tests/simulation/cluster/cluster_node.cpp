#include "simulation/cluster/cluster_node.hpp"

#include <strings.h>

#include <algorithm>
#include <set>

#include "simulation/cluster/slot_trace.hpp"

namespace mortise::cluster_simulation {

using simulation::reply;

namespace {

bool is_word(const std::string& text, const char* word) {
  return strcasecmp(text.c_str(), word) == 0;
}

// The keys that a command names, as the server finds them. What it does not know has none.
std::vector<std::string> keys_of(const arguments& words) {
  if (words.size() < 2) return {};
  if (is_word(words[0], "EVAL") || is_word(words[0], "EVALSHA")) {
    const auto count = std::stoul(words[2]);
    return {words.begin() + 3, words.begin() + 3 + static_cast<std::ptrdiff_t>(count)};
  }
  static const std::set<std::string> first = {"GET",     "SET",   "INCR",    "INCRBY",
                                              "DELIFEQ", "DELEX", "PEXPIRE", "SSUBSCRIBE"};
  if (first.count(words[0]) != 0) return {words[1]};
  if (words[0] == "DEL") return {words.begin() + 1, words.end()};
  return {};
}

// Of EXEC, the keys of all its commands.
std::vector<std::string> keys_of(const arguments& words, const session& from) {
  auto keys = keys_of(words);
  if (words[0] == "EXEC" && !from.is_aborted) {
    for (const auto& queued : from.queued) {
      for (const auto& key : keys_of(queued)) keys.push_back(key);
    }
  }
  return keys;
}

}  // namespace

node::node(node_set& of, int as, std::int64_t drift_ppm, time_ns offset)
    : number(as),
      clock(process_simulation::epoch_ns + offset, drift_ppm),
      redis([this, &of] { return clock.read(of.around().time.now()) / ns_per_us; }),
      master(as),
      all_(of) {
  redis.run_id = "run" + std::to_string(as);
}

bool node::is_dead() const { return all_.around().time.now() < up_at; }
bool node::hangs() const { return all_.around().time.now() < works_at; }

// ---- commands -------------------------------------------------------------------------------

void node::execute(session& from, const arguments& words) {
  const auto answers = from.send;
  if (all_.around().is_verbose) {
    from.send = [&](const std::string& message) {
      all_.around().log("   at " + std::to_string(number) + ", " + std::to_string(from.id) +
                        process_simulation::describe(words, message));
      answers(message);
    };
  }
  if (words[0] == "ASKING") {
    asking_[from.id] = true;
    send_reply(from, reply::status("OK"));
  } else if (words[0] == "CLUSTER") {
    const bool is_map = is_word(words[1], "SLOTS");
    send_reply(from,
               is_map ? slots() : reply::error("NOPERM this user has no right to CLUSTER NODES"));
  } else {
    run(from, words);
  }
  from.send = answers;
}

void node::send_reply(session& from, const reply& what) {
  std::string bytes;
  what.write(bytes, from.protocol);
  from.send(bytes);
}

// EXEC is over with it, and nothing of it carried out.
void node::refuse(session& from, const arguments& words, const std::string& error) {
  from.is_aborted = from.is_in_multi;
  if (words[0] == "EXEC") from.is_in_multi = false;
  send_reply(from, reply::error(error));
}

// Executes a command, or redirects the client.
void node::run(session& from, const arguments& words) {
  const auto keys = keys_of(words, from);
  const bool is_asking = !keys.empty() && std::exchange(asking_[from.id], false);
  const auto redirect =
      keys.empty() ? "" : redirection_of(keys, words[0] == "SSUBSCRIBE", is_asking);
  if (!redirect.empty()) return refuse(from, words, redirect);
  if (all_.trace != nullptr && !keys.empty()) {
    all_.trace->execute(*this, cluster::slot_of(keys.front()), from, words);
  } else {
    redis.execute(from, words);
  }
  note();
}

// Empty where this one is to carry it out.
std::string node::redirection_of(const std::vector<std::string>& keys, bool is_channel,
                                 bool is_asking) {
  const auto slot = cluster::slot_of(keys.front());
  const auto moved = [&](const char* word, int to) {
    return std::string(word) + " " + std::to_string(slot) + " " + node_set::address_of(to);
  };
  if (is_down) return "CLUSTERDOWN The cluster is down";
  const int owner = owners[static_cast<std::size_t>(slot)];
  const auto missing = std::count_if(keys.begin(), keys.end(),
                                     [&](const auto& key) { return redis.find(key) == nullptr; });
  const auto all = static_cast<std::int64_t>(keys.size());
  constexpr auto* later = "TRYAGAIN Multiple keys request during rehashing of slot";
  if (owner != number) {
    // A replica lets clients listen to the channels of its master's slots.
    if (is_channel && owner == masters[static_cast<std::size_t>(number)]) return {};
    const bool takes = is_asking && importing.count(slot) != 0;
    if (!takes) return moved("MOVED", owner);
    return all > 1 && missing > 0 ? later : std::string();
  }
  const auto leaves = migrating.find(slot);
  if (leaves == migrating.end() || is_channel || missing == 0) return {};
  return missing < all ? later : moved("ASK", leaves->second);
}

// CLUSTER SLOTS, as it believes.
reply node::slots() const {
  std::vector<reply> ranges;
  const auto address = [](int of) {
    return reply::list({reply::bulk("10.0.0." + std::to_string(of + 1)), reply::number(6379),
                        reply::bulk("id" + std::to_string(of)), reply::list({})});
  };
  for (int first = 0; first < cluster::slot_count;) {
    const auto owner = owners[static_cast<std::size_t>(first)];
    int next = first;
    while (next < cluster::slot_count && owners[static_cast<std::size_t>(next)] == owner) ++next;
    auto range = reply::list({reply::number(first), reply::number(next - 1), address(owner)});
    for (int other = 0; other < static_cast<int>(masters.size()); ++other) {
      if (other != owner && masters[static_cast<std::size_t>(other)] == owner) {
        range.items.push_back(address(other));
      }
    }
    ranges.push_back(std::move(range));
    first = next;
  }
  return reply::list(std::move(ranges));
}

// For the replica that follows it when it fails.
void node::note() {
  if (all_.terms_.lag_ns == 0) return;
  const auto now = all_.around().time.now();
  if (past.empty() || past.back().second != redis.all_data()) {
    past.emplace_back(now, redis.all_data());
  }
  while (past.size() > 1 && past[1].first < now - 2 * all_.terms_.lag_ns) past.pop_front();
}

// ---- the cluster ----------------------------------------------------------------------------

node_set::node_set(world& around, const cluster_terms& made) : world_(around), terms_(made) {
  const auto drift = around.dice.between(-made.drift_ppm, made.drift_ppm);
  for (int number = 0; number < 2 * made.masters; ++number) {
    nodes_.push_back(
        std::make_unique<node>(*this, number, drift, around.dice.below(made.clock_spread_ns)));
    if (number >= made.masters) nodes_.back()->master = number - made.masters;
  }
  for (int slot = 0; slot < cluster::slot_count; ++slot) {
    owners_[static_cast<std::size_t>(slot)] =
        static_cast<std::int8_t>(slot * made.masters / cluster::slot_count);
  }
  for (auto& one : nodes_) gossip(*one);
}

// It learns the present state. Subscribers to channels of slots that it had are notified.
void node_set::gossip(node& one) {
  const bool was_master =
      !one.masters.empty() && one.masters[static_cast<std::size_t>(one.number)] == one.number;
  for (auto& session : one.redis.sessions()) {
    const auto channels = session->channels;
    for (const auto& channel : channels) {
      const auto slot = static_cast<std::size_t>(cluster::slot_of(channel));
      if (one.owners[slot] != one.number || owners_[slot] == one.number) continue;
      session->channels.erase(channel);
      auto farewell =
          reply::list({reply::bulk("sunsubscribe"), reply::bulk(channel),
                       reply::number(static_cast<std::int64_t>(session->channels.size()))});
      farewell.type = reply::form::push;
      std::string bytes;
      farewell.write(bytes, session->protocol);
      if (session->is_open && session->send) session->send(bytes);
    }
  }
  one.owners = owners_;
  one.masters.resize(nodes_.size());
  for (const auto& other : nodes_)
    one.masters[static_cast<std::size_t>(other->number)] = other->master;
  // A master that was replaced takes over what its successor has.
  if (was_master && one.master != one.number) one.redis.load(at(one.master).redis.all_data());
}

void node_set::gossip_late() {
  for (const auto& each : nodes_) {
    auto& one = *each;
    const auto known = std::max({world_.time.now(), one.up_at, one.works_at});
    world_.time.at(known + world_.dice.spread(terms_.gossip_ns), [this, &one] { gossip(one); });
  }
}

int node_set::replica_of(int master) {
  for (const auto& one : nodes_) {
    // And it has learned that it is one.
    const bool is_one = one->number != master && one->master == master &&
                        one->masters[static_cast<std::size_t>(one->number)] == master;
    if (is_one && !one->is_dead() && !one->hangs()) return one->number;
  }
  return -1;
}

// ---- slots that move ------------------------------------------------------------------------

int node_set::other_master(int slot) {
  std::vector<int> others;
  for (const auto& one : nodes_) {
    const bool is_fit = one->master == one->number && !one->is_dead() && !one->hangs();
    if (is_fit && one->number != owner_of(slot)) others.push_back(one->number);
  }
  if (others.empty()) return -1;
  return others[static_cast<std::size_t>(
      world_.dice.below(static_cast<std::int64_t>(others.size())))];
}

// Source and target know of it at once, and the others in time.
void node_set::give(int slot, int to) {
  const auto from = owner_of(slot);
  world_.log("---- slot " + std::to_string(slot) + " is " + std::to_string(to) + "'s");
  owners_[static_cast<std::size_t>(slot)] = static_cast<std::int8_t>(to);
  gossip(at(to));
  gossip(at(from));
  gossip_late();
}

void node_set::move(int slot) {
  auto& from = at(owner_of(slot));
  const auto to = other_master(slot);
  if (to < 0 || from.is_dead() || from.hangs() || from.migrating.count(slot) != 0) return;
  for (const auto& key : from.redis.keys()) {
    if (cluster::slot_of(key) == slot) move_key(slot, from.number, to, key);
  }
  give(slot, to);
}

// The rest of its TTL moves with it.
void node_set::move_key(int slot, int from, int to, const std::string& key) {
  auto& source = at(from).redis;
  auto& target = at(to).redis;
  const auto* found = source.find(key);
  if (found == nullptr || cluster::slot_of(key) != slot) return;
  auto copy = *found;
  if (copy.expires_ms >= 0) {
    copy.expires_ms =
        target.now_ms() + std::max<std::int64_t>(copy.expires_ms - source.now_ms(), 1);
  }
  target.put(key, std::move(copy));
  source.take(key);
}

void node_set::move_slowly(int slot, time_ns lasting) {
  const auto from = owner_of(slot);
  const auto to = other_master(slot);
  if (to < 0 || at(from).is_dead() || at(from).hangs()) return;
  if (at(from).migrating.count(slot) != 0) return;
  world_.log("---- slot " + std::to_string(slot) + " goes from " + std::to_string(from) + " to " +
             std::to_string(to));
  at(to).importing[slot] = from;
  at(from).migrating[slot] = to;
  move_on(slot, from, to, lasting / 4);
}

// One key after the other, until there is none. It is given up where one of both fails.
void node_set::move_on(int slot, int from, int to, time_ns pause) {
  disturb(world_.time.now() + pause);
  world_.time.after(world_.dice.below(pause), [this, slot, from, to, pause] {
    auto& source = at(from);
    if (source.migrating.count(slot) == 0 || owner_of(slot) != from) return;
    const auto keys = source.redis.keys();
    const auto next = std::find_if(keys.begin(), keys.end(),
                                   [&](const auto& key) { return cluster::slot_of(key) == slot; });
    if (next == keys.end()) return end_move(slot, from, to);
    move_key(slot, from, to, *next);
    move_on(slot, from, to, pause);
  });
}

void node_set::end_move(int slot, int from, int to) {
  at(to).importing.erase(slot);
  give(slot, to);
  at(from).migrating.erase(slot);
}

// ---- failovers ------------------------------------------------------------------------------

// The data of its replica: those of some time ago.
simulated_redis::data node_set::data_from(node& master) {
  auto heard = master.redis.all_data();
  const auto until = world_.time.now() - world_.dice.below(terms_.lag_ns);
  for (const auto& [when, what] : master.past) {
    if (when <= until) heard = what;
  }
  return heard;
}

void node_set::promote(int replica, int before, const simulated_redis::data& with) {
  world_.log("---- " + std::to_string(replica) + " takes over from " + std::to_string(before));
  auto& one = at(replica);
  one.master = replica;
  for (const auto& other : nodes_) {
    if (other->master == before) other->master = replica;
  }
  for (auto& owner : owners_) {
    if (owner == before) owner = static_cast<std::int8_t>(replica);
  }
  one.past.clear();
  one.redis.load({});
  for (const auto& [key, value] : with) {
    if (owner_of(cluster::slot_of(key)) == replica) one.redis.put(key, value);
  }
  for (const auto& other : nodes_) {
    other->is_down = false;
    // The migration stops where it may have met a failed node.
    if (terms_.lag_ns > 0) other->migrating.clear();
    if (terms_.lag_ns > 0) other->importing.clear();
  }
  gossip(one);
  gossip_late();
}

void node_set::fail_over(int master) {
  const auto replica = replica_of(master);
  auto& one = at(master);
  if (!may_fail(one)) return;
  const auto pause = world_.dice.spread(100 * ns_per_ms);
  one.works_at = at(replica).works_at = world_.time.now() + pause;
  disturb(one.works_at);
  // Before what it has not answered by then is carried out.
  world_.time.at(one.works_at - 1, [this, master, replica] {
    if (at(master).is_dead() || at(replica).is_dead() || at(replica).master != master) return;
    promote(replica, master, at(master).redis.all_data());
    gossip(at(master));
  });
}

void node_set::promote_later(int master) {
  const auto replica = replica_of(master);
  const auto delay = world_.dice.between(200, 2000) * ns_per_ms;
  auto& one = at(master);
  for (auto* const end : {&one.up_at, &one.works_at}) {
    if (*end > world_.time.now()) *end = std::max(*end, world_.time.now() + 2 * delay);
  }
  disturb(std::max(one.up_at, one.works_at));
  world_.time.after(delay / 2, [this, is_seen = world_.dice.happens(500)] {
    for (const auto& other : nodes_) other->is_down = other->is_down || is_seen;
  });
  world_.time.after(delay, [this, master, replica, heard = data_from(one)] {
    for (const auto& other : nodes_) other->is_down = false;
    auto& lost = at(master);
    if (lost.master != master || at(replica).is_dead() || at(replica).master != master) return;
    promote(replica, master, heard);
    // Otherwise it takes itself for the master until it learns better, and continues where it hung.
    if (terms_.lag_ns == 0) gossip(lost);
  });
}

// CLUSTER FAILOVER TAKEOVER loses the writes that the replica has missed, and those of the master
// until it learns of it.
void node_set::take_over(int master) {
  auto& one = at(master);
  if (terms_.lag_ns > 0 && may_fail(one)) promote(replica_of(master), master, data_from(one));
}

// A slot that is half-way when one of both fails is lost in parts, as a replica knows nothing of
// the move.
bool node_set::may_fail(const node& one) {
  if (one.is_dead() || one.hangs() || one.master != one.number) return false;
  const bool is_whole = one.migrating.empty() && one.importing.empty();
  return replica_of(one.number) >= 0 && (is_whole || terms_.lag_ns > 0);
}

void node_set::kill(int master) {
  auto& one = at(master);
  if (!may_fail(one)) return;
  world_.log("---- " + std::to_string(master) + " dies");
  ++one.era;
  one.up_at = world_.time.now() + world_.dice.between(1, 5000) * ns_per_ms;
  promote_later(master);
  on_death(master);
  one.redis.restart(one.redis.all_data());
}

void node_set::hang(int master) {
  auto& one = at(master);
  if (!may_fail(one)) return;
  world_.log("---- " + std::to_string(master) + " hangs");
  one.works_at = world_.time.now() + world_.dice.between(1, 5000) * ns_per_ms;
  promote_later(master);
}

void node_set::hang_briefly(int number) {
  auto& one = at(number);
  one.works_at = std::max(one.works_at, world_.time.now() + world_.dice.spread(400 * ns_per_ms));
  disturb(one.works_at);
}

}  // namespace mortise::cluster_simulation
