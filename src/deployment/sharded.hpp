// Several deployments among which the names of locks are shared out: each name always belongs to
// the same one. They know nothing of each other, and what becomes of one concerns the others'
// names in nothing.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "deployment/deployment.hpp"
#include "deployment/single_url.hpp"

namespace mortise::deployment {

// Not connected yet; see deployment::open.
std::unique_ptr<deployment> make_sharded(const std::vector<single_url>& shards, net::reactor& loop,
                                         const settings& terms, std::string_view client_id,
                                         listener& hears);

}  // namespace mortise::deployment
