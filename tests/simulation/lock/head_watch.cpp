#include "simulation/lock/head_watch.hpp"

#include <algorithm>
#include <cstdlib>

#include "protocol/native/inbox.hpp"
#include "simulation/lock/queue_entry.hpp"

namespace mortise::simulation {

namespace {

// So many look every second or two, and the next few after this at the latest.
constexpr std::size_t first_places = 8;
constexpr time_ns seldom_ns = 8 * ns_per_s;
// The longest grace period.
constexpr time_ns grace_ns = 5 * ns_per_s;

}  // namespace

// Its process runs and is connected, so that it does what it has to.
bool head_watch::is_well(const std::string& entry) const {
  const auto id = client_of(entry);
  return std::any_of(clients_.begin(), clients_.end(), [&](const auto& client) {
    return client->id() == id && !client->is_over() && client->is_up() && !client->is_paused();
  });
}

bool head_watch::has_room(const std::string& entry, const std::string& lock_key) {
  auto permits = permits_of(entry);
  if (const auto* const lock = redis_.find(lock_key)) {
    for (const auto& [member, ends] : lock->scores) {
      if (ends >= static_cast<double>(redis_.now_ms())) permits += permits_of(member);
    }
  }
  const auto* const capacity = redis_.find(lock_key + ":permits");
  return permits <= (capacity == nullptr ? lock::exclusive_permits
                                         : std::strtoll(capacity->text.c_str(), nullptr, 10));
}

head_watch::condition head_watch::condition_of(const std::deque<std::string>& queue,
                                               const std::string& lock_key) {
  const auto& head = queue.front();
  if (is_well(head)) return has_room(head, lock_key) ? condition::has_room : condition::fine;
  const auto behind = std::min(queue.size(), first_places);
  if (std::none_of(queue.begin() + 1, queue.begin() + static_cast<std::ptrdiff_t>(behind),
                   [&](const auto& entry) { return is_well(entry); })) {
    return condition::fine;
  }
  return redis_.subscribers(protocol::inbox_channel({client_of(head)})) == 0 ? condition::dead
                                                                             : condition::silent;
}

// The promise, plus network delays and clock drift.
time_ns head_watch::bound(condition state) const {
  const auto promised = state == condition::silent ? 5 * ns_per_s : 2 * ns_per_s;
  return (promised + 16 * world_.plan.latency_ns) * 106 / 100;
}

void head_watch::look(const std::string& lock_key, const std::string& queue_key) {
  // The commands of an old connection that are still in flight can enqueue a client that does not
  // know of it.
  if (!world_.plan.is_exclusive || !world_.plan.kills_old_sessions) return;
  const auto now = world_.time.now();
  auto& seen = names_[lock_key];
  if (grace_period_.is_in_grace_period()) seen.grace_until = now;
  const auto* const queue = redis_.find(queue_key);
  if (queue == nullptr) {
    seen.head.clear();
    return;
  }
  if (queue->items.size() > first_places) seen.crowded_at = now;
  const auto state = condition_of(queue->items, lock_key);
  if (queue->items.front() != seen.head || state != seen.state) {
    seen.head = queue->items.front();
    seen.state = state;
    seen.since = now;
  }
  if (state == condition::fine) return;
  const auto crowded_until = seen.crowded_at == 0 ? 0 : seen.crowded_at + seldom_ns;
  const auto from = std::max({seen.since, world_.healthy_since, crowded_until});
  const auto waited = now - from;
  // One grace period, however long the server is in its grace period.
  if (waited > bound(state) + (seen.grace_until >= from ? grace_ns : 0)) {
    const auto* const what = state == condition::has_room ? " waits although there is room"
                             : state == condition::dead   ? " is dead and keeps out others"
                                                          : " is silent and keeps out others";
    world_.violate(lock_key + ": " + seen.head + what + ", for " +
                   std::to_string(waited / ns_per_ms) + " ms");
  }
}

}  // namespace mortise::simulation
