// How a router uses the topology: which server it asks, and which servers it connects to.
#include <algorithm>
#include <utility>

#include "deployment/cluster/routing/router.hpp"

namespace mortise::cluster {

namespace {

// Interval of topology requests without a change.
constexpr time_ns period_ns = 60 * ns_per_s;
// After this many times the patience, every request to a server is answered or given up.
constexpr int patience_to_end = 4;
// Topologies with older claims are believed if no other has come for this long: the cluster was
// created again.
constexpr time_ns longest_doubt_ns = 10 * ns_per_s;

}  // namespace

void router::request_topology(time_ns now) {
  topology_.is_requested = true;
  const auto earliest = topology_.sent_at + topology_.pause_ns;
  if (now >= earliest) return ask_topology(now);
  topology_.next = std::min(topology_.next, earliest);
}

int router::next_to_ask(time_ns now) noexcept {
  const auto count = static_cast<int>(servers_.size());
  for (int step = 1; step <= count; ++step) {
    const auto number = (topology_.last_server + step) % count;
    const auto& one = servers_[static_cast<std::size_t>(number)];
    if (one.is_up && now >= one.overdue_until) return topology_.last_server = number;
  }
  return no_server;
}

void router::ask_topology(time_ns now) {
  const bool is_open = topology_.server != no_server && now < topology_.sent_at + patience_ns_;
  if (is_open) {
    topology_.next = std::min(topology_.next, topology_.sent_at + patience_ns_);
    return;
  }
  const auto server = servers_.empty() ? no_server : next_to_ask(now);
  topology_.next = now + longest_pause_ns;
  if (server == no_server) return try_next_server(now);
  topology_.sent_at = now;
  topology_.next = now + patience_ns_;
  const auto longer_ns = topology_.pause_ns * 4;
  topology_.pause_ns = std::clamp(longer_ns, shortest_pause_ns, longest_pause_ns);
  topology_.server = io_.ask_topology(server) ? server : no_server;
}

// No server that could be asked is connected. The seeds may be replaced or dead for good. Then only
// another known server can report their successors. These servers are tried one after the other. A
// server that comes up is asked.
void router::try_next_server(time_ns now) {
  for (const auto seed : seeds_) connect(seed);
  const auto before = topology_.tried_server;
  if (before != no_server && !servers_[static_cast<std::size_t>(before)].is_up) {
    const auto& last = servers_[static_cast<std::size_t>(before)];
    const bool is_connecting = last.is_begun && last.problem.ok();
    if (is_connecting && now < topology_.tried_at + patience_ns_) return;
    if (last.is_begun && !is_needed(before)) rest(before);
  }
  const auto count = static_cast<int>(servers_.size());
  for (int step = 1; step <= count; ++step) {
    const auto next = (before + step) % count;
    const auto& one = servers_[static_cast<std::size_t>(next)];
    if (one.is_begun || is_forgotten(one, now)) continue;
    topology_.tried_server = next;
    topology_.tried_at = now;
    topology_.next = now + patience_ns_;
    return connect(next);
  }
}

// Whether the server is connected for another reason than a topology request.
bool router::is_needed(int server) const noexcept {
  return std::find(seeds_.begin(), seeds_.end(), server) != seeds_.end() ||
         std::any_of(slots_.begin(), slots_.end(), [&](const auto& item) {
           return item.second.server == server && item.second.users > 0;
         });
}

void router::rest(int server) noexcept {
  auto& one = servers_[static_cast<std::size_t>(server)];
  one.is_begun = false;
  one.problem = {};
  io_.disconnect(server);
}

void router::on_no_topology(int server, const outcome& why, time_ns now) {
  if (topology_.server != server) return;
  topology_.server = no_server;
  if (!is_known_) problem_ = why;
  topology_.next = now + shortest_pause_ns;
}

void router::note_owners(const std::vector<slot_range>& ranges, time_ns now) {
  owner_map new_owners;
  new_owners.fill(no_server);
  for (auto& one : servers_) {
    one.replicas.clear();
    one.reported_epoch = 0;
  }
  std::vector<int> listed;
  for (const auto& range : ranges) {
    const auto master = number_of(range.master, now);
    if (master == no_server) continue;
    listed.push_back(master);
    servers_[static_cast<std::size_t>(master)].reported_epoch = range.epoch;
    for (const auto& address : range.replicas) {
      const auto replica = number_of(address, now);
      if (replica != no_server) listed.push_back(replica);
      auto& known = servers_[static_cast<std::size_t>(master)].replicas;
      const bool is_new = std::find(known.begin(), known.end(), replica) == known.end();
      if (replica != no_server && is_new) known.push_back(replica);
    }
    auto* const first = new_owners.begin() + range.first;
    std::fill(first, first + (range.last - range.first + 1), static_cast<std::int16_t>(master));
  }
  owners_ = new_owners;  // numbers of the previous owners were not reused
  for (auto& one : servers_) one.is_listed = false;
  for (const auto server : listed) servers_[static_cast<std::size_t>(server)].is_listed = true;
}

// Whether a topology's claim is older than the known owner's. Servers of the cluster compare claims
// in the same way.
bool router::is_behind(int known, int claimant, time_ns now) const noexcept {
  if (known == no_server || claimant == no_server || known == claimant) return false;
  const auto& one = servers_[static_cast<std::size_t>(known)];
  const auto claimed_epoch = servers_[static_cast<std::size_t>(claimant)].reported_epoch;
  return claimed_epoch != 0 && claimed_epoch < one.epoch && !is_troubled(one, now);
}

// True if the topology has an older claim, so that the server that sent it is behind.
bool router::keep_newer_claims(const owner_map& before, time_ns now) {
  bool is_any = false;
  for (std::size_t slot = 0; slot < owners_.size(); ++slot) {
    if (!is_behind(before.at(slot), owners_.at(slot), now)) continue;
    owners_.at(slot) = before.at(slot);
    servers_[static_cast<std::size_t>(before.at(slot))].is_listed = true;
    is_any = true;
  }
  return is_any;
}

// A server reports the loss of a slot that is attached there. A report of another server may be
// older (hazard 10), unless its epoch is higher. True if they differ. Then the server itself is
// asked next.
bool router::keep_attached(int server, time_ns now) {
  bool is_any = false;
  for (const auto& [slot, state] : slots_) {
    auto& owner = owners_.at(static_cast<std::size_t>(slot));
    if (state.phase != phase::attached || owner == state.server || owner == no_server) continue;
    auto& one = servers_[static_cast<std::size_t>(state.server)];
    const auto claimed_epoch = servers_[static_cast<std::size_t>(owner)].reported_epoch;
    const bool is_newer = one.epoch != 0 && claimed_epoch > one.epoch;
    if (state.server == server || is_newer || is_troubled(one, now)) continue;
    owner = static_cast<std::int16_t>(state.server);
    one.is_listed = true;
    topology_.last_server = state.server - 1;
    is_any = true;
  }
  return is_any;
}

void router::take_epochs(bool is_new_cluster) noexcept {
  for (auto& one : servers_) {
    one.epoch = is_new_cluster ? one.reported_epoch : std::max(one.epoch, one.reported_epoch);
  }
}

// Sends each used slot to its owner. True if all used slots are attached.
bool router::reassign_moved() {
  const auto why = not_reached("another server has the slot now");
  bool are_attached = true;
  for (auto& [slot, state] : slots_) {
    const auto owner = owners_.at(static_cast<std::size_t>(slot));
    if (state.users <= 0 || owner == no_server) continue;
    if (owner != state.server) reassign(slot, state, owner, why);
    are_attached = are_attached && state.phase == phase::attached;
  }
  return are_attached;
}

void router::on_topology(int server, const std::vector<slot_range>& ranges, time_ns now) {
  if (topology_.server == server) topology_.server = no_server;
  if (ranges.empty()) {
    if (!is_known_) problem_ = not_reached("the cluster has no server with slots");
    topology_.next = now + shortest_pause_ns;
    return;
  }
  const auto before = owners_;
  note_owners(ranges, now);
  const bool is_new_cluster =
      topology_.behind_since != time_never && now - topology_.behind_since >= longest_doubt_ns;
  const bool is_older = !is_new_cluster && keep_newer_claims(before, now);
  topology_.behind_since = is_older ? std::min(topology_.behind_since, now) : time_never;
  const bool is_disputed = keep_attached(server, now);
  take_epochs(is_new_cluster);
  is_known_ = true;
  problem_ = {};
  topology_.is_requested = false;
  topology_.next = now + period_ns - io_.random_below(period_ns / 4);
  leave_replaced(now);
  const bool are_attached = reassign_moved();
  const bool is_doubted = is_older || is_disputed;
  if (are_attached && !is_doubted && !is_any_troubled(now)) topology_.pause_ns = shortest_pause_ns;
  if (is_doubted) request_topology(now);
  disconnect_unused(now);
}

// Does not wait for requests at a silent server that is no longer a master.
void router::leave_replaced(time_ns now) {
  for (std::size_t number = 0; number < servers_.size(); ++number) {
    const auto& one = servers_[number];
    const auto server = static_cast<std::int16_t>(number);
    if (!one.is_up || now >= one.overdue_until) continue;
    if (std::find(owners_.begin(), owners_.end(), server) != owners_.end()) continue;
    io_.leave(server, "another server has taken over");
  }
}

// Masters, servers of used slots, and replicas that may replace a troubled master.
std::vector<bool> router::needed(time_ns now) const {
  std::vector<bool> found(servers_.size());
  for (const auto master : masters()) found[static_cast<std::size_t>(master)] = true;
  for (const auto& [slot, state] : slots_) {
    if (state.users <= 0 || state.server == no_server) continue;
    const auto& one = servers_[static_cast<std::size_t>(state.server)];
    found[static_cast<std::size_t>(state.server)] = true;
    if (!is_troubled(one, now)) continue;
    for (const auto replica : one.replicas) found[static_cast<std::size_t>(replica)] = true;
  }
  return found;
}

// Disconnects probed replicas, and servers that left the cluster, once nothing is open there.
// Without a connected master only they can report the topology, and stay connected.
void router::disconnect_unused(time_ns now) {
  next_disconnect_ = time_never;
  const auto all = masters();
  const bool has_master = std::any_of(all.begin(), all.end(), [&](int master) {
    return servers_[static_cast<std::size_t>(master)].is_up;
  });
  if (!has_master) return;
  const auto is_needed = needed(now);
  for (std::size_t number = 0; number < servers_.size(); ++number) {
    auto& one = servers_[number];
    one.unused_since =
        one.is_begun && !is_needed[number] ? std::min(one.unused_since, now) : time_never;
    if (one.unused_since == time_never) continue;
    const auto end = one.unused_since + patience_to_end * patience_ns_;
    if (now < end) {
      next_disconnect_ = std::min(next_disconnect_, end);
      continue;
    }
    rest(static_cast<int>(number));
  }
}

}  // namespace mortise::cluster
