// Closes clients when the process exits, which releases their holds (option `release_at_exit`).
#pragma once

#include <memory>

#include "base/status.hpp"

namespace mortise::client {

class client;

// exit(), or a return from main, closes the client if it is still open. A forked child's exit()
// does not (hazard 21). Closing all clients takes as long as closing one.
outcome close_at_exit(std::weak_ptr<client> client);

}  // namespace mortise::client
