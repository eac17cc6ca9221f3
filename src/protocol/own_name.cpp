#include "protocol/own_name.hpp"

#include <utility>

namespace mortise::protocol {

namespace {

bool is_plain(std::string_view name) noexcept {
  return name.starts_with("mortise:") || name.starts_with("{mortise:");
}

std::string with_prefix(std::string_view prefix, std::string name) {
  if (is_plain(name)) name.insert(0, prefix);
  return name;
}

}  // namespace

// No namespace contains one of these characters, and none is `mortise`.
std::string_view own_name(std::string_view name) noexcept {
  if (is_plain(name)) return name;
  const auto end = name.find_first_of(":{");
  if (end == name.npos || name[end] != ':') return {};
  const auto rest = name.substr(end + 1);
  return is_plain(rest) ? rest : std::string_view();
}

key_set keys_of(const table& rules, std::string_view prefix, std::string_view name) {
  auto keys = rules.keys(name);
  for (auto& key : keys) key = with_prefix(prefix, std::move(key));
  return keys;
}

std::string channel_of(const table& rules, std::string_view prefix, const key_set& keys) {
  return rules.channel == nullptr ? "" : with_prefix(prefix, rules.channel(keys.front()));
}

std::string_view place_of(const key_set& keys) noexcept {
  for (const std::string_view key : keys) {
    const auto name = own_name(key);
    if (name.starts_with(fence_key)) return name.substr(fence_key.size());
  }
  return {};
}

}  // namespace mortise::protocol
