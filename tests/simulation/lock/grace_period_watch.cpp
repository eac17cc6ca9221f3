#include "simulation/lock/grace_period_watch.hpp"

#include <algorithm>

#include "protocol/table.hpp"

namespace mortise::simulation {

namespace {

constexpr std::int64_t changed_ms = 5000;
constexpr std::int64_t cut_off_ms = 2000;
// What the TTL of a queue has beyond this is left of a grace period, and for how long its end is
// known.
constexpr std::int64_t grace_ms = 360'000;
constexpr std::int64_t over_ms = 5000;

}  // namespace

std::int64_t grace_period_watch::left_ms() const {
  const auto left = until_ms_ - redis_.now_ms();
  // Beyond that the clock was set back.
  return left > changed_ms ? 0 : left;
}

void grace_period_watch::look(const arguments& command) {
  const bool is_in_handshake =
      command.size() == 7 && command[0] == "EVAL" && command[3] == protocol::server_key;
  const auto& fault = redis_.fault;
  if (!is_in_handshake || !fault.refuse_all.empty() || !fault.refuse_writes.empty()) return;
  const auto* const known = redis_.find(protocol::server_key);
  const bool is_changed = known != nullptr && known->text != redis_.run_id;
  const auto for_now = is_changed ? changed_ms : command[5] == "back" ? cut_off_ms : 0;
  until_ms_ = redis_.now_ms() + std::max({std::int64_t{0}, left_ms(), for_now});
}

bool grace_period_watch::is_subscribed(const std::string& client) const {
  return redis_.subscribers("mortise:inbox:" + client) > 0;
}

bool grace_period_watch::keeps_place(const std::string& client,
                                     std::int64_t queue_expires_ms) const {
  if (is_subscribed(client)) return true;
  const auto left = queue_expires_ms - redis_.now_ms() - grace_ms;
  if (left <= 0 && left > -over_ms) return false;
  // What was noted may be lost with the data.
  return is_in_grace_period() && world_.plan.is_exclusive;
}

void grace_period_watch::note_waiters(const std::string& lock_key,
                                      const std::deque<std::string>& clients) {
  auto& since_ms = absences_[lock_key].since_ms;
  std::erase_if(since_ms, [&](const auto& item) {
    return std::find(clients.begin(), clients.end(), item.first) == clients.end();
  });
  for (const auto& client : clients) {
    if (is_subscribed(client)) {
      since_ms.erase(client);
    } else {
      since_ms.try_emplace(client, redis_.now_ms());
    }
  }
}

bool grace_period_watch::is_waited_for_again(const std::string& lock_key,
                                             const std::string& client) {
  if (is_subscribed(client) || !world_.plan.is_exclusive) return false;
  auto& known = absences_[lock_key];
  const auto now = redis_.now_ms();
  const auto since = known.since_ms.find(client);
  const bool is_again = since != known.since_ms.end() && since->second <= known.began_ms &&
                        now >= known.ends_ms && now < known.ends_ms + over_ms;
  if (now >= known.ends_ms) {
    known.began_ms = now;
    known.ends_ms = now + left_ms();
  }
  return is_again;
}

}  // namespace mortise::simulation
