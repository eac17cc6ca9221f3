#include "protocol/health/server_facts.hpp"

#include <charconv>

#include "redis/resp/info.hpp"

namespace mortise::protocol {

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  if (result.ec != std::errc() || result.ptr != end) return {};
  return number;
}

std::optional<std::string_view> server_facts::info_field(std::string_view field) const {
  const auto text = redis::info_field(info, field);
  if (text.empty()) return {};
  return text;
}

std::optional<std::int64_t> server_facts::count(std::string_view field) const {
  return whole_number(redis::info_field(info, field));
}

std::optional<std::string_view> server_facts::configured(const std::string& parameter) const {
  const auto found = config.find(parameter);
  if (found == config.end()) return {};
  return found->second;
}

}  // namespace mortise::protocol
