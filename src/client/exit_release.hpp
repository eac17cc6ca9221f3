// Clients that are closed when the process exits, which gives back what they hold (the option
// `release_at_exit`).
#pragma once

#include <memory>

#include "base/status.hpp"

namespace mortise::client {

class client;

// exit(), and so a return from main, closes the client if it is still open then; a forked child's
// exit() does not (hazard 21). All clients together take as long as one.
outcome close_at_exit(std::weak_ptr<client> client);

}  // namespace mortise::client
