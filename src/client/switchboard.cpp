#include "client/switchboard.hpp"

#include <algorithm>
#include <utility>

namespace mortise::client {

bool switchboard::is_before(const line& item, std::uint64_t keeper) noexcept {
  return item.keeper < keeper;
}

// The servers are told under the mutex, so that they hear of comings and goings in their order.
void switchboard::connect(deployment::deployment& servers, std::string_view name,
                          std::string_view channel, std::uint64_t keeper) {
  const std::lock_guard guard(mutex_);
  auto& list = lines_[std::string(channel)];
  const auto place = std::lower_bound(list.begin(), list.end(), keeper, is_before);
  list.insert(place, {keeper, true});
  // Also for a channel that is listened to already: the confirmation tells a newcomer when to look.
  servers.listen(name, channel);
}

void switchboard::disconnect(deployment::deployment& servers, std::string_view name,
                             std::string_view channel, std::uint64_t keeper) noexcept {
  const std::lock_guard guard(mutex_);
  const auto known = lines_.find(channel);
  if (known == lines_.end()) return;
  auto& list = known->second;
  list.erase(std::remove_if(list.begin(), list.end(),
                            [&](const line& item) { return item.keeper == keeper; }),
             list.end());
  if (!list.empty()) return;
  lines_.erase(known);
  servers.unlisten(name, channel);
}

void switchboard::begin_anew() noexcept {
  const std::lock_guard guard(mutex_);
  for (auto& [channel, list] : lines_) {
    for (auto& item : list) item.is_new = true;
  }
}

std::uint64_t switchboard::next_listener(std::string_view channel, std::uint64_t after) noexcept {
  const std::lock_guard guard(mutex_);
  const auto known = lines_.find(channel);
  if (known == lines_.end()) return 0;
  const auto& list = known->second;
  const auto next = std::lower_bound(list.begin(), list.end(), after + 1, is_before);
  return next == list.end() ? 0 : next->keeper;
}

std::uint64_t switchboard::next_newcomer(std::string_view channel) noexcept {
  const std::lock_guard guard(mutex_);
  const auto known = lines_.find(channel);
  if (known == lines_.end()) return 0;
  for (auto& item : known->second) {
    if (std::exchange(item.is_new, false)) return item.keeper;
  }
  return 0;
}

}  // namespace mortise::client
