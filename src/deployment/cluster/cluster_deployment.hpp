// The deployment that redis+cluster:// names.
#pragma once

#include <memory>
#include <string_view>

#include "deployment/api/deployment.hpp"
#include "net/dial/dialer.hpp"
#include "net/reactor.hpp"
#include "redis/login/url.hpp"

namespace mortise::deployment {

// `each` configures the connection to every server.
std::unique_ptr<deployment> make_cluster(const redis::endpoint_url& each,
                                         const net::transport_factory& make_transport,
                                         net::reactor& loop, const settings& terms,
                                         std::string_view client_id, listener& listener);

}  // namespace mortise::deployment
