// Starts the supervisor of `local:`, which starts the server.
#pragma once

#include "base/status.hpp"
#include "base/time.hpp"
#include "local/local_server.hpp"

namespace mortise::local {

// The supervisor inherits `lock_fd`, and so the lock. It keeps the lock until the server accepts
// connections or is dead. Ok only means that the supervisor runs.
outcome launch_supervisor(const local_settings& settings, int lock_fd, time_ns deadline);

}  // namespace mortise::local
