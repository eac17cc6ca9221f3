#include "redis/resp/info.hpp"

namespace mortise::redis {

std::string_view info_field(std::string_view info, std::string_view key) noexcept {
  while (!info.empty()) {
    const auto end = info.find('\n');
    auto line = info.substr(0, end);
    info.remove_prefix(end == std::string_view::npos ? info.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.size() > key.size() && line.starts_with(key) && line[key.size()] == ':') {
      return line.substr(key.size() + 1);
    }
  }
  return {};
}

}  // namespace mortise::redis
