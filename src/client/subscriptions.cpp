#include "client/subscriptions.hpp"

#include <algorithm>
#include <utility>

namespace mortise::client {

bool subscriptions::is_before(const subscriber& item, std::uint64_t gate_id) noexcept {
  return item.gate_id < gate_id;
}

// Notifies the servers under the mutex, so that subscriptions and their ends keep their order.
void subscriptions::add(deployment::deployment& servers, const deployment::named_key& lock,
                        std::string_view channel, std::uint64_t gate_id) {
  const std::lock_guard guard(mutex_);
  auto& list = by_channel_[std::string(channel)];
  const auto place = std::lower_bound(list.begin(), list.end(), gate_id, is_before);
  list.insert(place, {gate_id, std::string(lock.name), std::string(lock.key), true});
  // Also for a channel that has listeners: the confirmation shows a new listener when to check its
  // lock.
  servers.listen(lock, channel);
}

void subscriptions::remove(deployment::deployment& servers, const deployment::named_key& lock,
                           std::string_view channel, std::uint64_t gate_id) noexcept {
  const std::lock_guard guard(mutex_);
  const auto known = by_channel_.find(channel);
  if (known == by_channel_.end()) return;
  auto& list = known->second;
  list.erase(std::remove_if(list.begin(), list.end(),
                            [&](const subscriber& item) { return item.gate_id == gate_id; }),
             list.end());
  if (!list.empty()) return;
  by_channel_.erase(known);
  servers.unlisten(lock, channel);
}

void subscriptions::mark_new(const deployment::name_set& names) noexcept {
  const std::lock_guard guard(mutex_);
  for (auto& [channel, list] : by_channel_) {
    for (auto& item : list) item.is_new = item.is_new || names.has({item.name, item.key});
  }
}

std::uint64_t subscriptions::next_listener(std::string_view channel, std::uint64_t after) noexcept {
  const std::lock_guard guard(mutex_);
  const auto known = by_channel_.find(channel);
  if (known == by_channel_.end()) return 0;
  const auto& list = known->second;
  const auto next = std::lower_bound(list.begin(), list.end(), after + 1, is_before);
  return next == list.end() ? 0 : next->gate_id;
}

std::uint64_t subscriptions::next_new_subscriber(std::string_view channel) noexcept {
  const std::lock_guard guard(mutex_);
  const auto known = by_channel_.find(channel);
  if (known == by_channel_.end()) return 0;
  for (auto& item : known->second) {
    if (std::exchange(item.is_new, false)) return item.gate_id;
  }
  return 0;
}

}  // namespace mortise::client
