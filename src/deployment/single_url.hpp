// The URL of one server, alone or in a list of several.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/options.hpp"
#include "base/status.hpp"
#include "deployment/open.hpp"

namespace mortise::deployment {

struct single_url {
  maker make;
  std::string place;        // "host:port", a path, or "local:"
  std::string shard;        // empty unless given
  std::int64_t weight = 0;  // 0 unless given
  std::int64_t database = 0;
  // The options in it, in order.
  std::vector<std::pair<std::string, std::string>> options;
};

// Its options override the settings.
outcome read_single_url(std::string_view url, settings& terms, single_url& into);

}  // namespace mortise::deployment
