#include "client/switchboard.hpp"

#include <algorithm>
#include <utility>

namespace mortise::client {

// The servers are told under the mutex, so that they hear of comings and goings in their order.
void switchboard::connect(deployment::deployment& servers, std::string_view name,
                          std::string_view channel, std::uint64_t keeper) {
  const std::lock_guard guard(mutex_);
  lines_[std::string(channel)].push_back({keeper, true});
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

void switchboard::begin_anew() {
  const std::lock_guard guard(mutex_);
  for (auto& [channel, list] : lines_) {
    for (auto& item : list) item.is_new = true;
  }
}

std::vector<std::uint64_t> switchboard::listeners(std::string_view channel) {
  const std::lock_guard guard(mutex_);
  std::vector<std::uint64_t> all;
  const auto known = lines_.find(channel);
  if (known == lines_.end()) return all;
  for (const auto& item : known->second) all.push_back(item.keeper);
  return all;
}

std::vector<std::uint64_t> switchboard::newcomers(std::string_view channel) {
  const std::lock_guard guard(mutex_);
  std::vector<std::uint64_t> fresh;
  const auto known = lines_.find(channel);
  if (known == lines_.end()) return fresh;
  for (auto& item : known->second) {
    if (std::exchange(item.is_new, false)) fresh.push_back(item.keeper);
  }
  return fresh;
}

}  // namespace mortise::client
