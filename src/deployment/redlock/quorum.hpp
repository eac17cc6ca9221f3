// N independent servers. A quorum of them grants the lock: the Redlock algorithm, with fencing
// tokens by ballot, quarantine and push.
//
// Source: S. Sanfilippo, Distributed Locks with Redis, 2014 (the algorithm); M. Kleppmann, How to
// do distributed locking, 2016 (why it needs fencing tokens).
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "deployment/api/deployment.hpp"
#include "deployment/url/single_url.hpp"

namespace mortise::deployment {

// Not connected yet; see deployment::open.
std::unique_ptr<deployment> make_quorum(const std::vector<single_url>& servers, net::reactor& loop,
                                        const settings& terms, std::string_view client_id,
                                        listener& receiver);

}  // namespace mortise::deployment
