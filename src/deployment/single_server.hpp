// One Redis or Valkey server, by TCP or by a unix socket.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/options.hpp"
#include "deployment/deployment.hpp"
#include "net/reactor.hpp"
#include "redis/connection.hpp"
#include "redis/url.hpp"

namespace mortise::deployment {

// What the client needs from every connection before it is used.
struct session_plan {
  std::string inbox;  // the channel to listen on
  std::vector<redis::prologue_command> prologue;
};

// Not connected yet; see deployment::open.
std::unique_ptr<deployment> open_single_server(net::reactor& loop, const redis::endpoint_url& where,
                                               const settings& defaults, session_plan plan,
                                               listener& hears);

}  // namespace mortise::deployment
