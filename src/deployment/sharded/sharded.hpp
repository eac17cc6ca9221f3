// Several deployments that share the names of locks. Each name always belongs to the same
// deployment. A problem of one deployment does not affect the names of the others.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "deployment/api/deployment.hpp"
#include "deployment/url/single_url.hpp"

namespace mortise::deployment {

// Not connected yet; see deployment::open.
std::unique_ptr<deployment> make_sharded(const std::vector<single_url>& shards, net::reactor& loop,
                                         const settings& terms, std::string_view client_id,
                                         listener& listener);

}  // namespace mortise::deployment
