#include "deployment/cluster/routing/router.hpp"

#include <algorithm>
#include <utility>

#include "base/text/decimal.hpp"

namespace mortise::cluster {

namespace {

// Pause between checks of detached slots. A random part of the same length is added.
constexpr time_ns check_ns = 50 * ns_per_ms;
// The same for slots with a lasting rejection.
constexpr time_ns refused_ns = ns_per_s;
// The pause of a rejecting server is the time of its rejections divided by this number.
constexpr time_ns pauses_of_refusal = 8;
// Pause before requests of a moving slot are repeated: the first and the longest.
constexpr time_ns shortest_repeat_ns = 20 * ns_per_ms;
constexpr time_ns longest_repeat_ns = 200 * ns_per_ms;
// After more redirections the servers do not know the owner themselves.
constexpr int most_redirections = 5;
// A server that left the cluster is forgotten after this time. Its address may then belong to a
// server of another cluster.
constexpr time_ns forget_ns = 60 * ns_per_s;
// Servers in containers or behind NAT announce an address of their own network by default.
constexpr auto* remedy_address =
    "; the cluster announces this address: if the client cannot reach it, set cluster-announce-ip "
    "and cluster-announce-port at that server, or give the client the option address_map";

}  // namespace

outcome not_reached(std::string_view what) {
  auto why = outcome::of(status::unreachable, what);
  why.is_retryable = true;
  return why;
}

router::router(io& actions, time_ns patience_ns) : io_(actions), patience_ns_(patience_ns) {
  owners_.fill(no_server);
  problem_ = not_reached("no server of the cluster has answered in time");
}

void router::begin(const std::vector<endpoint>& seeds, time_ns now) {
  for (const auto& address : seeds) {
    const auto server = number_of(address, now);
    if (std::find(seeds_.begin(), seeds_.end(), server) == seeds_.end()) seeds_.push_back(server);
  }
  request_topology(now);
}

// ---- servers --------------------------------------------------------------------------------

int router::number_of(const endpoint& address, time_ns now) {
  const auto known = std::find_if(servers_.begin(), servers_.end(),
                                  [&](const server_state& one) { return one.address == address; });
  if (known != servers_.end()) {
    known->reported_at = now;
    return static_cast<int>(known - servers_.begin());
  }
  if (const auto left = find_reusable(now); left != no_server) {
    reuse(left, address, now);
    return left;
  }
  if (servers_.size() >= most_servers) return no_server;
  const auto number = static_cast<int>(servers_.size());
  server_state next;
  next.address = address;
  next.reported_at = now;
  servers_.reserve(servers_.size() + 1);
  io_.add_server(number, address);
  servers_.push_back(std::move(next));  // last, and without an allocation
  return number;
}

bool router::is_forgotten(const server_state& one, time_ns now) noexcept {
  return !one.is_listed && !one.is_begun && !one.is_up && now - one.reported_at >= forget_ns;
}

// A server that left the cluster and has no references.
int router::find_reusable(time_ns now) const {
  std::vector<bool> is_held(servers_.size());
  const auto hold = [&](int server) {
    if (server != no_server) is_held[static_cast<std::size_t>(server)] = true;
  };
  std::for_each(seeds_.begin(), seeds_.end(), hold);
  std::for_each(owners_.begin(), owners_.end(), hold);
  for (const auto& one : servers_) std::for_each(one.replicas.begin(), one.replicas.end(), hold);
  for (const auto& [slot, state] : slots_) {
    if (state.users > 0) hold(state.server);
  }
  for (const auto& [attempt, probe] : failover_probes_) hold(probe.first);
  for (std::size_t number = 0; number < servers_.size(); ++number) {
    if (!is_held[number] && is_forgotten(servers_[number], now)) return static_cast<int>(number);
  }
  return no_server;
}

// Unused slots may still refer to the old server. They must not mistake the new server for it
// (hazard 7).
void router::reuse(int server, const endpoint& address, time_ns now) {
  server_state next;
  next.address = address;
  next.reported_at = now;
  const auto why = not_reached("its server left the cluster");
  io_.change_server(server, address);
  for (auto& [slot, state] : slots_) {
    if (state.refused_by == server) state.refused_by = no_server;
    if (state.server != server) continue;
    if (state.phase != phase::detached) detach(slot, state, why);
    set_server(slot, state, no_server);
  }
  servers_[static_cast<std::size_t>(server)] = std::move(next);
}

void router::connect(int server) noexcept {
  auto& one = servers_[static_cast<std::size_t>(server)];
  one.unused_since = time_never;
  if (!std::exchange(one.is_begun, true)) io_.connect(server);
}

void router::on_up(int server, time_ns now) {
  auto& one = servers_[static_cast<std::size_t>(server)];
  one.is_up = one.was_up = true;
  one.awaited_since = time_never;
  one.overdue_until = 0;
  one.problem = {};
  one.refusing_since = time_never;
  one.probe_at = 0;
  for (auto& [slot, state] : slots_) {
    // Its user may be gone, and the next one expects that an attempt is under way.
    const bool is_expected = state.users > 0 || state.phase == phase::attaching;
    if (state.server == server && is_expected) attach(slot, state);
  }
  if (topology_.is_requested) ask_topology(now);
}

void router::on_new_run(int server) noexcept {
  for (const auto& [slot, state] : slots_) {
    if (state.server == server) io_.on_owner_changed(slot);
  }
}

void router::on_down(int server, const outcome& why, time_ns now) {
  auto& one = servers_[static_cast<std::size_t>(server)];
  one.is_up = false;
  one.overdue_until = 0;
  one.problem = one.is_begun ? why : outcome();
  one.awaited_since = time_never;
  if (!is_known_) problem_ = why;
  if (topology_.server == server) {
    topology_.server = no_server;
    topology_.next = std::min(topology_.next, now + shortest_pause_ns);
  }
  bool is_used_or_unknown = !is_known_;
  for (auto& [slot, state] : slots_) {
    if (state.server != server) continue;
    is_used_or_unknown = is_used_or_unknown || state.users > 0;
    detach(slot, state, why);
  }
  if (!is_used_or_unknown) return;
  next_check_ = std::min(next_check_, now);
  request_topology(now);
}

void router::on_overdue(int server, time_ns now) {
  auto& one = servers_[static_cast<std::size_t>(server)];
  if (!one.is_up) return;
  // While replies are overdue, the next report comes sooner than that.
  const bool is_first_report = now >= std::exchange(one.overdue_until, now + 2 * patience_ns_);
  if (!is_first_report) return;
  next_check_ = std::min(next_check_, now);
  request_topology(now);
}

bool router::is_troubled(const server_state& one, time_ns now) const noexcept {
  return now < one.overdue_until || (!one.is_up && !one.problem.ok());
}

// Checks servers with a used slot.
bool router::is_any_troubled(time_ns now) const noexcept {
  return std::any_of(slots_.begin(), slots_.end(), [&](const auto& item) {
    const auto at = item.second.server;
    return item.second.users > 0 && at != no_server &&
           is_troubled(servers_[static_cast<std::size_t>(at)], now);
  });
}

// ---- slots ----------------------------------------------------------------------------------

void router::use(int slot, time_ns now) {
  auto& state = slots_[slot];
  if (state.users++ > 0 || state.phase != phase::detached) return;
  set_server(slot, state, owners_.at(static_cast<std::size_t>(slot)));
  if (state.server == no_server) {
    detach(slot, state, not_reached("no server of the cluster has this slot"));
    next_check_ = std::min(next_check_, now + check_ns);
    return request_topology(now);
  }
  attach(slot, state);
  next_check_ = std::min(next_check_, now + check_ns);
}

void router::stop_using(int slot) noexcept {
  const auto known = slots_.find(slot);
  if (known != slots_.end()) --known->second.users;
}

// The number distinguishes this attempt from earlier ones in flight.
void router::attach(int slot, used_slot& state) {
  const auto server = state.server;
  if (server == no_server) return;
  connect(server);
  const auto& one = servers_[static_cast<std::size_t>(server)];
  if (!one.is_up && !one.problem.ok()) return detach(slot, state, one.problem);
  if (state.phase == phase::attached) io_.on_detached(slot);
  state.phase = phase::attaching;
  state.attempt = ++attempts_;
  if (one.is_up && !io_.attach(slot, server, state.attempt)) {
    detach(slot, state, not_reached("cannot send requests to the server now"));
  }
}

void router::detach(int slot, used_slot& state, const outcome& why) {
  state.problem = why;
  state.phase = phase::detached;
  state.attempt = 0;
  io_.on_detached(slot);
}

void router::set_server(int slot, used_slot& state, int server) {
  const auto before = std::exchange(state.server, server);
  // Nothing is held yet in a slot without an owner.
  if (before != no_server && before != server) io_.on_owner_changed(slot);
}

// Another server has the slot, or is believed to have it.
void router::reassign(int slot, used_slot& state, int server, const outcome& why) {
  if (state.phase == phase::attached) detach(slot, state, why);
  set_server(slot, state, server);
  if (server == no_server) return detach(slot, state, why);
  if (++state.redirections <= most_redirections) return attach(slot, state);
  detach(slot, state, not_reached("servers of the cluster name each other as this slot's owner"));
}

void router::on_attachment(int slot, int server, std::uint64_t attempt, const attachment& result,
                           time_ns now) {
  if (failover_probes_.find(attempt) != failover_probes_.end())
    return on_failover_probe(server, attempt, result, now);
  const auto known = slots_.find(slot);
  if (known == slots_.end() || known->second.attempt != attempt) return;
  auto& state = known->second;
  state.attempt = 0;  // it is over, also if memory runs out below
  switch (result.code) {
    case attachment::end::attached:
      owners_.at(static_cast<std::size_t>(slot)) = static_cast<std::int16_t>(server);
      state.phase = phase::attached;
      state.redirections = 0;
      state.problem = {};
      state.repeat_pause_ns = 0;
      if (std::exchange(state.refused_by, no_server) == server) end_refusal(server);
      return io_.on_attached(slot, server);
    case attachment::end::moved:
      return on_moved(slot, server, result.target, now);
    case attachment::end::later:
    case attachment::end::refused:
      note_refusal(slot, server, result.code, now);
      [[fallthrough]];
    case attachment::end::again:
      detach(slot, state, result.why);
      next_check_ = std::min(next_check_, now + check_ns + io_.random_below(check_ns));
      return;
    case attachment::end::broken:
      return;  // on_down() follows or was called, or check_slot() tries again
  }
}

void router::on_moved(int slot, int server, const endpoint& target, time_ns now) {
  const auto known = slots_.find(slot);
  if (known == slots_.end() || known->second.server != server) return;  // known already
  const auto next = number_of(target, now);
  if (next == no_server) return on_unserved(slot, server, now);
  owners_.at(static_cast<std::size_t>(slot)) = static_cast<std::int16_t>(next);
  if (next != server) topology_.last_server = next - 1;  // the best informed server is asked next
  auto why = not_reached("the slot has moved to ");
  why.say(why.words(), target.text());
  reassign(slot, known->second, next, why);
  next_check_ = std::min(next_check_, now + check_ns);
  request_topology(now);
}

void router::on_unserved(int slot, int server, time_ns now) {
  const auto known = slots_.find(slot);
  if (known == slots_.end() || known->second.server != server) return;
  if (known->second.phase != phase::attached) return;
  note_refusal(slot, server, attachment::end::later, now);
  detach(slot, known->second, not_reached("the cluster is not serving this slot"));
  next_check_ = std::min(next_check_, now + check_ns + io_.random_below(check_ns));
}

// The slot stays attached. Failed requests are repeated after a pause. The pause is short at first,
// because a slot with few keys moves in milliseconds.
void router::on_migrating(int slot, time_ns now) {
  const auto known = slots_.find(slot);
  if (known == slots_.end()) return;
  auto& state = known->second;
  if (state.phase != phase::attached || state.repeat_at != time_never) return;
  state.repeat_pause_ns =
      std::clamp(2 * state.repeat_pause_ns, shortest_repeat_ns, longest_repeat_ns);
  state.repeat_at = now + state.repeat_pause_ns + io_.random_below(state.repeat_pause_ns / 2);
  next_repeat_ = std::min(next_repeat_, state.repeat_at);
}

void router::repeat_requests(time_ns now) {
  auto next = time_never;
  next_repeat_ = now;  // if memory runs out
  for (auto& [slot, state] : slots_) {
    if (state.repeat_at <= now) {
      io_.on_repeat(slot);
      state.repeat_at = time_never;
    }
    next = std::min(next, state.repeat_at);
  }
  next_repeat_ = next;
}

// The server reports that the slot has moved, but not the new owner. The attempt to attach returns
// it.
void router::on_unsubscribed(int slot, int server, time_ns now) {
  const auto known = slots_.find(slot);
  if (known == slots_.end() || known->second.server != server) return;
  if (known->second.phase != phase::attached) return;
  attach(slot, known->second);
  next_check_ = std::min(next_check_, now + check_ns);
}

// ---- troubled servers -----------------------------------------------------------------------

// Sends one slot of each troubled server to a server that may have become the master. True if a
// troubled server has used slots.
bool router::send_failover_probes(time_ns now) {
  bool is_any = false;
  for (std::size_t number = 0; number < servers_.size(); ++number) {
    auto& one = servers_[number];
    const auto before = static_cast<int>(number);
    if (!is_troubled(one, now)) continue;
    const auto used = std::find_if(slots_.begin(), slots_.end(), [&](const auto& item) {
      return item.second.server == before && item.second.users > 0;
    });
    if (used == slots_.end()) continue;
    is_any = true;
    if (one.replicas.empty()) continue;
    const auto replica = one.replicas[one.next_failover_probe++ % one.replicas.size()];
    connect(replica);
    if (!servers_[static_cast<std::size_t>(replica)].is_up) continue;
    const auto attempt = ++attempts_;
    failover_probes_.emplace(attempt, std::pair(before, used->first));
    if (!io_.attach(used->first, replica, attempt)) failover_probes_.erase(attempt);
  }
  return is_any;
}

void router::on_failover_probe(int server, std::uint64_t attempt, const attachment& result,
                               time_ns now) {
  const auto before = failover_probes_.at(attempt).first;
  failover_probes_.erase(attempt);
  auto after = no_server;
  if (result.code == attachment::end::attached) after = server;
  if (result.code == attachment::end::moved) after = number_of(result.target, now);
  if (after == no_server || after == before) return;
  if (!is_troubled(servers_[static_cast<std::size_t>(before)], now)) return;
  reassign_all(before, after);
  request_topology(now);
}

// Assigns all slots of one server to the other, as far as they are known.
void router::reassign_all(int before, int after) {
  for (auto& owner : owners_) {
    if (owner == before) owner = static_cast<std::int16_t>(after);
  }
  auto& one = servers_[static_cast<std::size_t>(before)];
  if (one.is_up) io_.leave(before, "another server has taken over");
  const auto why = not_reached("its server has failed, and another has taken over");
  for (auto& [slot, state] : slots_) {
    if (state.server == before) reassign(slot, state, after, why);
  }
}

// A server that rejects one slot most likely rejects all. So slots do not retry on their own: a
// client with a thousand slots would occupy a server that is in trouble.
void router::note_refusal(int slot, int server, attachment::end result, time_ns now) {
  slots_.at(slot).refused_by = server;
  auto& one = servers_[static_cast<std::size_t>(server)];
  if (now < one.probe_at && slot != one.probed) return;
  one.refusing_since = std::min(one.refusing_since, now);
  const auto shortest = result == attachment::end::refused ? refused_ns : check_ns;
  const auto pause =
      std::clamp((now - one.refusing_since) / pauses_of_refusal, shortest, longest_pause_ns);
  one.probe_at = now + pause + io_.random_below(pause);
}

void router::end_refusal(int server) noexcept {
  auto& one = servers_[static_cast<std::size_t>(server)];
  one.refusing_since = time_never;
  one.probe_at = 0;
  next_check_ = 0;
}

// Slots take turns, because one of them may be rejected for a reason of its own.
void router::probe(int server, time_ns now) {
  auto& one = servers_[static_cast<std::size_t>(server)];
  auto next = slots_.upper_bound(one.probed);
  for (auto left = slots_.size(); left > 0; --left, ++next) {
    if (next == slots_.end()) next = slots_.begin();
    auto& [slot, state] = *next;
    const bool is_waiting = state.users > 0 && state.phase == phase::detached;
    if (!is_waiting || state.server != server || state.refused_by != server) continue;
    one.probed = slot;
    one.probe_at = now + patience_ns_;
    return attach(slot, state);
  }
}

// Handles a slot that is not attached.
void router::check_slot(int slot, used_slot& state, time_ns now) {
  if (state.phase == phase::attaching) {
    // The server neither connects nor rejects, for example behind NAT. Callers get the reason
    // before the attempt ends. The slot attaches once the server is up.
    auto& one = servers_[static_cast<std::size_t>(state.server)];
    if (one.is_up && state.attempt == 0) return attach(slot, state);
    if (one.is_up) return;
    one.awaited_since = std::min(one.awaited_since, now);
    if (now - one.awaited_since < patience_ns_) return;
    return detach(slot, state, not_reached("the server has not answered yet"));
  }
  state.redirections = 0;
  const auto owner = owners_.at(static_cast<std::size_t>(slot));
  if (owner == no_server) return;
  set_server(slot, state, owner);
  const auto& one = servers_[static_cast<std::size_t>(owner)];
  const bool is_probed = state.refused_by == owner && one.refusing_since != time_never;
  if (!is_probed && (one.is_up || !one.is_begun)) attach(slot, state);
}

void router::check_slots(time_ns now) {
  bool has_trouble = send_failover_probes(now);
  for (std::size_t number = 0; number < servers_.size(); ++number) {
    const auto& one = servers_[number];
    const bool is_refusing = one.is_up && one.refusing_since != time_never;
    if (is_refusing && now >= one.probe_at) probe(static_cast<int>(number), now);
  }
  for (auto& [slot, state] : slots_) {
    if (state.users <= 0 || state.phase == phase::attached) continue;
    has_trouble = true;
    check_slot(slot, state, now);
  }
  if (!has_trouble) return;
  next_check_ = now + check_ns + io_.random_below(check_ns);
  request_topology(now);
}

// ---- time -----------------------------------------------------------------------------------

time_ns router::next_timer() const noexcept {
  return std::min({next_check_, next_repeat_, topology_.next, next_disconnect_});
}

void router::on_timer(time_ns now) {
  if (now >= topology_.next) {
    topology_.next = time_never;
    topology_.is_requested = true;
    ask_topology(now);
  }
  if (now >= next_disconnect_) disconnect_unused(now);
  if (now >= next_repeat_) repeat_requests(now);
  if (now < next_check_) return;
  next_check_ = time_never;
  check_slots(now);
}

// ---- queries --------------------------------------------------------------------------------

router::phase router::phase_of(int slot) const noexcept {
  const auto known = slots_.find(slot);
  return known == slots_.end() ? phase::detached : known->second.phase;
}

bool router::is_used(int slot) const noexcept {
  const auto known = slots_.find(slot);
  return known != slots_.end() && known->second.users > 0;
}

int router::server_of(int slot) const noexcept {
  const auto known = slots_.find(slot);
  return known == slots_.end() ? no_server : known->second.server;
}

outcome router::problem(int slot) const {
  const auto known = slots_.find(slot);
  if (known == slots_.end()) return problem_;
  if (known->second.phase != phase::detached) return {};
  auto why = known->second.problem.ok() ? not_reached("not contacted yet") : known->second.problem;
  if (known->second.server != no_server) {
    const auto& one = servers_[static_cast<std::size_t>(known->second.server)];
    const bool is_seed =
        std::find(seeds_.begin(), seeds_.end(), known->second.server) != seeds_.end();
    const auto* const hint = one.was_up || is_seed ? "" : remedy_address;
    why.say("slot ", decimal(slot), " at ", one.address.text(), ": ", why.words(), hint);
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

}  // namespace mortise::cluster
