#include "cluster/router.hpp"

#include <algorithm>
#include <utility>

#include "base/decimal.hpp"

namespace mortise::cluster {

namespace {

// How long slots that are away are left alone, and the same again at random.
constexpr time_ns look_ns = 50 * ns_per_ms;
// The same for one that a server has refused.
constexpr time_ns refused_ns = ns_per_s;
// For how long nothing is asked again of a slot that is being moved, at first and later.
constexpr time_ns shortest_again_ns = 20 * ns_per_ms;
constexpr time_ns longest_again_ns = 200 * ns_per_ms;
// The topology is asked for at most this often; while something is amiss less and less often; and
// from time to time where nothing is.
constexpr time_ns shortest_pause_ns = 100 * ns_per_ms;
constexpr time_ns longest_pause_ns = 2 * ns_per_s;
constexpr time_ns period_ns = 60 * ns_per_s;
// What was asked of a server is answered, or given up, after so many times its patience.
constexpr int patience_to_end = 4;
// Servers that each say another has the slot do not know themselves.
constexpr int most_hops = 5;
// A cluster has at most some thousand servers; more addresses than that are somebody's mistake.
constexpr std::size_t most_servers = 4096;

outcome not_reached(std::string_view what) {
  auto why = outcome::of(status::unreachable, what);
  why.is_retryable = true;
  return why;
}

}  // namespace

router::router(link& world, time_ns patience_ns) : world_(world), patience_ns_(patience_ns) {
  owners_.fill(no_server);
  problem_ = not_reached("no server of the cluster has answered in time");
}

void router::begin(const std::vector<endpoint>& seeds, time_ns now) {
  for (const auto& where : seeds) {
    const auto server = number_of(where);
    if (std::find(seeds_.begin(), seeds_.end(), server) == seeds_.end()) seeds_.push_back(server);
  }
  want_topology(now);
}

// ---- servers --------------------------------------------------------------------------------

int router::number_of(const endpoint& where) {
  const auto known = std::find_if(servers_.begin(), servers_.end(),
                                  [&](const server_state& one) { return one.where == where; });
  if (known != servers_.end()) return static_cast<int>(known - servers_.begin());
  if (servers_.size() >= most_servers) return no_server;
  const auto number = static_cast<int>(servers_.size());
  servers_.push_back({});
  servers_.back().where = where;
  world_.add_server(number, where);
  return number;
}

void router::connect(int server) noexcept {
  auto& one = servers_[static_cast<std::size_t>(server)];
  one.unused_since = time_never;
  if (!std::exchange(one.is_begun, true)) world_.connect(server);
}

void router::on_up(int server, time_ns now) {
  auto& one = servers_[static_cast<std::size_t>(server)];
  one.is_up = true;
  one.overdue_until = 0;
  one.problem = {};
  for (auto& [slot, state] : slots_) {
    if (state.at == server && state.users > 0) arrive(slot, state);
  }
  if (topology_.is_wanted) ask_topology(now);
}

void router::on_down(int server, const outcome& why, time_ns now) {
  auto& one = servers_[static_cast<std::size_t>(server)];
  one.is_up = false;
  one.overdue_until = 0;
  one.problem = one.is_begun ? why : outcome();
  if (!is_known_) problem_ = why;
  if (topology_.asked == server) {
    topology_.asked = no_server;
    topology_.next = std::min(topology_.next, now + shortest_pause_ns);
  }
  bool is_missed = !is_known_;
  for (auto& [slot, state] : slots_) {
    if (state.at != server) continue;
    is_missed = is_missed || state.users > 0;
    go_away(slot, state, why);
  }
  if (!is_missed) return;
  next_look_ = std::min(next_look_, now);
  want_topology(now);
}

void router::on_overdue(int server, time_ns now) {
  auto& one = servers_[static_cast<std::size_t>(server)];
  if (!one.is_up) return;
  // As long as it is so it is said again, sooner than that.
  const bool is_news = now >= std::exchange(one.overdue_until, now + 2 * patience_ns_);
  if (!is_news) return;
  next_look_ = std::min(next_look_, now);
  want_topology(now);
}

bool router::is_troubled(const server_state& one, time_ns now) const noexcept {
  return now < one.overdue_until || (!one.is_up && !one.problem.ok());
}

// Of those that have a slot in use.
bool router::is_any_troubled(time_ns now) const noexcept {
  return std::any_of(slots_.begin(), slots_.end(), [&](const auto& item) {
    const auto at = item.second.at;
    return item.second.users > 0 && at != no_server &&
           is_troubled(servers_[static_cast<std::size_t>(at)], now);
  });
}

// ---- slots ----------------------------------------------------------------------------------

void router::use(int slot, time_ns now) {
  auto& state = slots_[slot];
  if (state.users++ > 0 || state.phase != phase::away) return;
  turn_to(slot, state, owners_.at(static_cast<std::size_t>(slot)));
  if (state.at == no_server) {
    go_away(slot, state, not_reached("no server of the cluster has this slot"));
    next_look_ = std::min(next_look_, now + look_ns);
    return want_topology(now);
  }
  arrive(slot, state);
  next_look_ = std::min(next_look_, now + look_ns);
}

void router::stop_using(int slot) noexcept {
  const auto known = slots_.find(slot);
  if (known != slots_.end()) --known->second.users;
}

// What is on its way is told apart from it by its number.
void router::arrive(int slot, used_slot& state) {
  const auto server = state.at;
  if (server == no_server) return;
  connect(server);
  const auto& one = servers_[static_cast<std::size_t>(server)];
  if (!one.is_up && !one.problem.ok()) return go_away(slot, state, one.problem);
  if (state.phase == phase::here) world_.on_away(slot);
  state.phase = phase::arriving;
  state.attempt = ++attempts_;
  if (one.is_up && !world_.arrive(slot, server, state.attempt)) {
    go_away(slot, state, not_reached("the server cannot be asked just now"));
  }
}

void router::go_away(int slot, used_slot& state, const outcome& why) {
  state.problem = why;
  state.phase = phase::away;
  state.attempt = 0;
  world_.on_away(slot);
}

void router::turn_to(int slot, used_slot& state, int server) {
  if (std::exchange(state.at, server) != server) world_.on_owner_changed(slot);
}

// Another server has it, or is believed to.
void router::go_on(int slot, used_slot& state, int server, const outcome& why) {
  if (state.phase == phase::here) go_away(slot, state, why);
  turn_to(slot, state, server);
  if (server == no_server) return go_away(slot, state, why);
  if (++state.hops <= most_hops) return arrive(slot, state);
  go_away(slot, state, not_reached("servers of the cluster name each other as this slot's owner"));
}

void router::on_arrival(int slot, int server, std::uint64_t attempt, const arrival& came,
                        time_ns now) {
  if (scouts_.find(attempt) != scouts_.end()) return on_scout(server, attempt, came, now);
  const auto known = slots_.find(slot);
  if (known == slots_.end() || known->second.attempt != attempt) return;
  auto& state = known->second;
  switch (came.how) {
    case arrival::end::here:
      owners_.at(static_cast<std::size_t>(slot)) = static_cast<std::int16_t>(server);
      state.phase = phase::here;
      state.hops = 0;
      state.problem = {};
      state.again_pause_ns = 0;
      return world_.on_here(slot, server);
    case arrival::end::moved:
      return on_moved(slot, server, came.to, now);
    case arrival::end::later:
    case arrival::end::refused:
      if (came.how == arrival::end::refused) state.not_before = now + refused_ns;
      go_away(slot, state, came.why);
      next_look_ = std::min(next_look_, now + look_ns + world_.random_below(look_ns));
      return;
    case arrival::end::broken:
      return;  // on_down() comes, or has come
  }
}

void router::on_moved(int slot, int server, const endpoint& to, time_ns now) {
  const auto known = slots_.find(slot);
  if (known == slots_.end() || known->second.at != server) return;  // known already
  const auto next = number_of(to);
  if (next == no_server) return on_unserved(slot, server, now);
  owners_.at(static_cast<std::size_t>(slot)) = static_cast<std::int16_t>(next);
  if (next != server) topology_.last = next - 1;  // who knows most is asked next
  auto why = not_reached("the slot has moved to ");
  why.say(why.words(), to.text());
  go_on(slot, known->second, next, why);
  next_look_ = std::min(next_look_, now + look_ns);
  want_topology(now);
}

void router::on_unserved(int slot, int server, time_ns now) {
  const auto known = slots_.find(slot);
  if (known == slots_.end() || known->second.at != server) return;
  if (known->second.phase != phase::here) return;
  go_away(slot, known->second, not_reached("the cluster is not serving this slot"));
  next_look_ = std::min(next_look_, now + look_ns + world_.random_below(look_ns));
}

// The slot stays where it is. What was not carried out is asked again after a pause, which is
// short at first: a slot with few keys is moved in milliseconds.
void router::on_halfway(int slot, time_ns now) {
  const auto known = slots_.find(slot);
  if (known == slots_.end()) return;
  auto& state = known->second;
  if (state.phase != phase::here || state.again_at != time_never) return;
  state.again_pause_ns = std::clamp(2 * state.again_pause_ns, shortest_again_ns, longest_again_ns);
  state.again_at = now + state.again_pause_ns + world_.random_below(state.again_pause_ns / 2);
  next_again_ = std::min(next_again_, state.again_at);
}

void router::let_ask_again(time_ns now) {
  auto next = time_never;
  next_again_ = now;  // should memory run out
  for (auto& [slot, state] : slots_) {
    if (state.again_at <= now) {
      world_.on_again(slot);
      state.again_at = time_never;
    }
    next = std::min(next, state.again_at);
  }
  next_again_ = next;
}

// Whoever says that it has gone does not say where. It is asked.
void router::on_unheard(int slot, int server, time_ns now) {
  const auto known = slots_.find(slot);
  if (known == slots_.end() || known->second.at != server) return;
  if (known->second.phase != phase::here) return;
  arrive(slot, known->second);
  next_look_ = std::min(next_look_, now + look_ns);
}

// ---- what is amiss --------------------------------------------------------------------------

// One slot of each server that is troubled goes ahead to a server that may have become the master.
// True where there is one to go on for.
bool router::send_scouts(time_ns now) {
  bool is_any = false;
  for (std::size_t number = 0; number < servers_.size(); ++number) {
    auto& one = servers_[number];
    const auto before = static_cast<int>(number);
    if (!is_troubled(one, now)) continue;
    const auto used = std::find_if(slots_.begin(), slots_.end(), [&](const auto& item) {
      return item.second.at == before && item.second.users > 0;
    });
    if (used == slots_.end()) continue;
    is_any = true;
    if (one.replicas.empty()) continue;
    const auto to = one.replicas[one.next_scout++ % one.replicas.size()];
    connect(to);
    if (!servers_[static_cast<std::size_t>(to)].is_up) continue;
    const auto attempt = ++attempts_;
    scouts_.emplace(attempt, std::pair(before, used->first));
    if (!world_.arrive(used->first, to, attempt)) scouts_.erase(attempt);
  }
  return is_any;
}

void router::on_scout(int server, std::uint64_t attempt, const arrival& came, time_ns now) {
  const auto before = scouts_.at(attempt).first;
  scouts_.erase(attempt);
  auto after = no_server;
  if (came.how == arrival::end::here) after = server;
  if (came.how == arrival::end::moved) after = number_of(came.to);
  if (after == no_server || after == before) return;
  if (!is_troubled(servers_[static_cast<std::size_t>(before)], now)) return;
  follow(before, after);
  want_topology(now);
}

// All that the one had is the other's now, as far as is known.
void router::follow(int before, int after) {
  for (auto& owner : owners_) {
    if (owner == before) owner = static_cast<std::int16_t>(after);
  }
  auto& one = servers_[static_cast<std::size_t>(before)];
  if (one.is_up) world_.leave(before, "another server has taken over");
  const auto why = not_reached("its server has failed, and another has taken over");
  for (auto& [slot, state] : slots_) {
    if (state.at == before) go_on(slot, state, after, why);
  }
}

void router::look_after_slots(time_ns now) {
  bool is_amiss = send_scouts(now);
  for (auto& [slot, state] : slots_) {
    if (state.users <= 0 || state.phase == phase::here) continue;
    is_amiss = true;
    if (state.phase == phase::arriving || now < state.not_before) continue;
    state.hops = 0;
    const auto owner = owners_.at(static_cast<std::size_t>(slot));
    if (owner == no_server) continue;
    turn_to(slot, state, owner);
    const auto& one = servers_[static_cast<std::size_t>(owner)];
    if (one.is_up || !one.is_begun) arrive(slot, state);
  }
  if (!is_amiss) return;
  next_look_ = now + look_ns + world_.random_below(look_ns);
  want_topology(now);
}

// ---- the topology ---------------------------------------------------------------------------

void router::want_topology(time_ns now) {
  topology_.is_wanted = true;
  const auto earliest = topology_.asked_at + topology_.pause_ns;
  if (now >= earliest) return ask_topology(now);
  topology_.next = std::min(topology_.next, earliest);
}

int router::next_to_ask(time_ns now) noexcept {
  const auto count = static_cast<int>(servers_.size());
  for (int step = 1; step <= count; ++step) {
    const auto number = (topology_.last + step) % count;
    const auto& one = servers_[static_cast<std::size_t>(number)];
    if (one.is_up && now >= one.overdue_until) return topology_.last = number;
  }
  return no_server;
}

void router::ask_topology(time_ns now) {
  const bool is_open = topology_.asked != no_server && now < topology_.asked_at + patience_ns_;
  if (is_open) {
    topology_.next = std::min(topology_.next, topology_.asked_at + patience_ns_);
    return;
  }
  const auto server = servers_.empty() ? no_server : next_to_ask(now);
  topology_.next = now + longest_pause_ns;
  if (server == no_server) return seek(now);
  topology_.asked_at = now;
  topology_.next = now + patience_ns_;
  const auto longer_ns = topology_.pause_ns * 4;
  topology_.pause_ns = std::clamp(longer_ns, shortest_pause_ns, longest_pause_ns);
  topology_.asked = world_.ask_topology(server) ? server : no_server;
}

// No server that could be asked is connected. The seeds may be replaced or dead for good, and then
// only another server of the known map can say who has followed: they are tried one after the
// other. A server that comes up is asked.
void router::seek(time_ns now) {
  for (const auto seed : seeds_) connect(seed);
  const auto before = topology_.sought;
  if (before != no_server && !servers_[static_cast<std::size_t>(before)].is_up) {
    const auto& last = servers_[static_cast<std::size_t>(before)];
    const bool is_on_its_way = last.is_begun && last.problem.ok();
    if (is_on_its_way && now < topology_.sought_at + patience_ns_) return;
    if (last.is_begun && !is_wanted(before)) rest(before);
  }
  const auto count = static_cast<int>(servers_.size());
  for (int step = 1; step <= count; ++step) {
    const auto next = (before + step) % count;
    if (servers_[static_cast<std::size_t>(next)].is_begun) continue;
    topology_.sought = next;
    topology_.sought_at = now;
    topology_.next = now + patience_ns_;
    return connect(next);
  }
}

// Whether it is connected to for another reason than to be asked for the topology.
bool router::is_wanted(int server) const noexcept {
  return std::find(seeds_.begin(), seeds_.end(), server) != seeds_.end() ||
         std::any_of(slots_.begin(), slots_.end(), [&](const auto& item) {
           return item.second.at == server && item.second.users > 0;
         });
}

void router::rest(int server) noexcept {
  auto& one = servers_[static_cast<std::size_t>(server)];
  one.is_begun = false;
  one.problem = {};
  world_.disconnect(server);
}

void router::on_no_topology(int server, const outcome& why, time_ns now) {
  if (topology_.asked != server) return;
  topology_.asked = no_server;
  if (!is_known_) problem_ = why;
  topology_.next = now + shortest_pause_ns;
}

void router::note_owners(const std::vector<slot_range>& told) {
  owners_.fill(no_server);
  for (auto& one : servers_) one.replicas.clear();
  for (const auto& range : told) {
    const auto master = number_of(range.master);
    if (master == no_server) continue;
    for (const auto& where : range.replicas) {
      const auto replica = number_of(where);
      auto& known = servers_[static_cast<std::size_t>(master)].replicas;
      const bool is_new = std::find(known.begin(), known.end(), replica) == known.end();
      if (replica != no_server && is_new) known.push_back(replica);
    }
    auto* const first = owners_.begin() + range.first;
    std::fill(first, first + (range.last - range.first + 1), static_cast<std::int16_t>(master));
  }
}

// Sends each slot to its owner. Whether all that are used are here.
bool router::go_where_they_are() {
  const auto why = not_reached("another server has the slot now");
  bool are_here = true;
  for (auto& [slot, state] : slots_) {
    const auto owner = owners_.at(static_cast<std::size_t>(slot));
    if (state.users <= 0 || owner == no_server) continue;
    if (owner != state.at) go_on(slot, state, owner, why);
    are_here = are_here && state.phase == phase::here;
  }
  return are_here;
}

void router::on_topology(int server, const std::vector<slot_range>& told, time_ns now) {
  if (topology_.asked == server) topology_.asked = no_server;
  if (told.empty()) {
    if (!is_known_) problem_ = not_reached("the cluster has no server with slots");
    topology_.next = now + shortest_pause_ns;
    return;
  }
  note_owners(told);
  is_known_ = true;
  problem_ = {};
  topology_.is_wanted = false;
  topology_.next = now + period_ns - world_.random_below(period_ns / 4);
  leave_the_replaced(now);
  if (go_where_they_are() && !is_any_troubled(now)) topology_.pause_ns = shortest_pause_ns;
  leave_the_unused(now);
}

// What is open at a silent server that is no master any more is not waited for.
void router::leave_the_replaced(time_ns now) {
  for (std::size_t number = 0; number < servers_.size(); ++number) {
    const auto& one = servers_[number];
    const auto server = static_cast<std::int16_t>(number);
    if (!one.is_up || now >= one.overdue_until) continue;
    if (std::find(owners_.begin(), owners_.end(), server) != owners_.end()) continue;
    world_.leave(server, "another server has taken over");
  }
}

// Masters, where slots are that are used, and who may follow a master that is troubled.
std::vector<bool> router::needed(time_ns now) const {
  std::vector<bool> found(servers_.size());
  for (const auto master : masters()) found[static_cast<std::size_t>(master)] = true;
  for (const auto& [slot, state] : slots_) {
    if (state.users <= 0 || state.at == no_server) continue;
    const auto& one = servers_[static_cast<std::size_t>(state.at)];
    found[static_cast<std::size_t>(state.at)] = true;
    if (!is_troubled(one, now)) continue;
    for (const auto replica : one.replicas) found[static_cast<std::size_t>(replica)] = true;
  }
  return found;
}

// Replicas that were looked at, and servers that have left the cluster, once nothing is open there.
// As long as no master is connected to they are all that can be asked for the topology.
void router::leave_the_unused(time_ns now) {
  next_end_ = time_never;
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
      next_end_ = std::min(next_end_, end);
      continue;
    }
    rest(static_cast<int>(number));
  }
}

// ---- time -----------------------------------------------------------------------------------

time_ns router::next_timer() const noexcept {
  return std::min({next_look_, next_again_, topology_.next, next_end_});
}

void router::on_timer(time_ns now) {
  if (now >= topology_.next) {
    topology_.next = time_never;
    topology_.is_wanted = true;
    ask_topology(now);
  }
  if (now >= next_end_) leave_the_unused(now);
  if (now >= next_again_) let_ask_again(now);
  if (now < next_look_) return;
  next_look_ = time_never;
  look_after_slots(now);
}

// ---- looks ----------------------------------------------------------------------------------

router::phase router::phase_of(int slot) const noexcept {
  const auto known = slots_.find(slot);
  return known == slots_.end() ? phase::away : known->second.phase;
}

bool router::is_used(int slot) const noexcept {
  const auto known = slots_.find(slot);
  return known != slots_.end() && known->second.users > 0;
}

int router::server_of(int slot) const noexcept {
  const auto known = slots_.find(slot);
  return known == slots_.end() ? no_server : known->second.at;
}

outcome router::problem(int slot) const {
  const auto known = slots_.find(slot);
  if (known == slots_.end()) return problem_;
  if (known->second.phase != phase::away) return {};
  auto why = known->second.problem.ok() ? not_reached("not asked yet") : known->second.problem;
  if (known->second.at != no_server) {
    const auto& where = servers_[static_cast<std::size_t>(known->second.at)].where;
    why.say("slot ", decimal(slot), " at ", where.text(), ": ", why.words());
  } else {
    why.say("slot ", decimal(slot), ": ", why.words());
  }
  return why;
}

outcome router::problem() const { return problem_; }

std::vector<int> router::masters() const {
  std::vector<int> found(owners_.begin(), owners_.end());
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  found.erase(std::remove(found.begin(), found.end(), no_server), found.end());
  return found;
}

int router::first_slot_of(int server) const noexcept {
  const auto* const first = std::find(owners_.begin(), owners_.end(), server);
  return static_cast<int>(first - owners_.begin()) % slot_count;
}

int router::count_covered() const noexcept {
  return static_cast<int>(
      std::count_if(owners_.begin(), owners_.end(), [](auto owner) { return owner != no_server; }));
}

}  // namespace mortise::cluster
