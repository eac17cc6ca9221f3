// Parts of a second connection to a server.
#pragma once

#include <memory>

#include "deployment/replication/followed_server.hpp"
#include "redis/connection_config.hpp"

namespace mortise::deployment {

// The configuration of a second connection to the same server, without an inbox. `base_config`
// configures the server's own.
redis::connection_config second_connection_config(const redis::connection_config& base_config,
                                                  std::shared_ptr<followed_server> where);

}  // namespace mortise::deployment
