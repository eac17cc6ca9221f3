// Starts the keeper of `local:`, which starts the server.
#pragma once

#include "base/status.hpp"
#include "base/time.hpp"
#include "local/local_server.hpp"

namespace mortise::local {

// The keeper inherits `lock_fd`, and so the lock, and keeps it until the server accepts or is dead.
// Ok only says that the keeper runs.
outcome launch_keeper(const local_settings& settings, int lock_fd, time_ns deadline);

}  // namespace mortise::local
