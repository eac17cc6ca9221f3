#include "deployment/api/rendezvous.hpp"

#include <algorithm>
#include <numeric>

namespace mortise::deployment {

namespace {

std::uint64_t mix(std::uint64_t value) noexcept {
  value ^= value >> 33U;
  value *= 0xff51afd7ed558ccdU;
  value ^= value >> 33U;
  value *= 0xc4ceb9fe1a85ec53U;
  value ^= value >> 33U;
  return value;
}

}  // namespace

std::uint64_t rendezvous_hash(std::string_view text) noexcept {
  std::uint64_t value = 0xcbf29ce484222325U;
  for (const char c : text) {
    value ^= static_cast<unsigned char>(c);
    value *= 0x00000100000001b3U;
  }
  return mix(value);
}

rendezvous::rendezvous(const std::vector<shard>& shards) {
  std::vector<std::size_t> order(shards.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](auto a, auto b) { return shards[a].name < shards[b].name; });
  for (const auto index : order) {
    const auto& [name, weight] = shards[index];
    for (std::int64_t number = 1; number <= weight; ++number) {
      entries_.push_back({rendezvous_hash(name + "#" + std::to_string(number)), index});
    }
  }
}

std::size_t rendezvous::shard_of(std::string_view name) const noexcept {
  const auto own = rendezvous_hash(name);
  const auto* best = &entries_.front();
  auto highest = mix(best->hash ^ own);
  for (const auto& item : entries_) {
    const auto score = mix(item.hash ^ own);
    if (score <= highest) continue;  // the first name wins a tie
    highest = score;
    best = &item;
  }
  return best->shard;
}

}  // namespace mortise::deployment
