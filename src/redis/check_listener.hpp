// Notified by the checks that run besides a connection: whether its server has moved, answers a new
// connection, or lacks commands. Called on the I/O thread.
#pragma once

#include "base/status.hpp"
#include "base/time.hpp"

namespace mortise::redis {

class check_listener {
 public:
  virtual ~check_listener() = default;
  // The name lists other addresses, but no longer the connected one.
  virtual void on_moved(outcome why) noexcept = 0;
  // The server has answered a health check that began at `since`.
  virtual void on_healthy(time_ns since) noexcept = 0;
  // A check has closed its own connection.
  virtual void on_check_over() noexcept = 0;
};

}  // namespace mortise::redis
