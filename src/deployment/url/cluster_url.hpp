// The URL of a Redis or Valkey Cluster.
#pragma once

#include <memory>
#include <string_view>

#include "base/options.hpp"
#include "base/status.hpp"
#include "deployment/api/open.hpp"

namespace mortise::deployment {

// Finds the maker for redis+cluster:// or rediss+cluster://, see open.hpp.
outcome read_cluster_url(std::string_view url, settings& terms, maker& target);

}  // namespace mortise::deployment
