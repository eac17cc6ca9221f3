// One Redis or Valkey server, by TCP, with or without TLS, or by a unix socket. Or the server that
// several Sentinels name as the master.
#pragma once

#include <memory>
#include <string_view>

#include "base/options.hpp"
#include "deployment/api/deployment.hpp"
#include "net/dial/dialer.hpp"
#include "net/reactor.hpp"
#include "redis/login/url.hpp"

namespace mortise::deployment {

// Makes the sockets. Empty for plain ones.
struct transports {
  net::transport_factory of_server;
  net::transport_factory of_sentinels;
};

// Not connected yet; see deployment::open.
std::unique_ptr<deployment> make_single_server(const redis::endpoint_url& where,
                                               const transports& ways, net::reactor& loop,
                                               const settings& terms, std::string_view client_id,
                                               listener& listener);

}  // namespace mortise::deployment
