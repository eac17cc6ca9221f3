// The notifications that a gate sends on its own.
#pragma once

#include "base/status.hpp"
#include "lock/lock_event.hpp"

namespace mortise::lock {

class acquire_operation;
struct owner;

class gate_listener {
 public:
  virtual ~gate_listener() = default;
  virtual void on_lost(owner& loser) noexcept = 0;
  virtual void on_at_risk(owner& holder, reason why) noexcept = 0;
  // Others wait for the lock of this hold. Once for each hold, as a hint.
  virtual void on_contended(owner& holder) noexcept = 0;
  // The failure of an unlock that had ended when it was sent. Its handle may be freed.
  virtual void on_not_released(const outcome& error) noexcept = 0;
  // Before the first event of a wait. Only for reports, as on_event().
  virtual void on_wait_began(const acquire_operation& waiter) noexcept {
    static_cast<void>(waiter);
  }
  // For the history and for reports. Nothing depends on it.
  virtual void on_event(const lock_event& event) noexcept { static_cast<void>(event); }
};

}  // namespace mortise::lock
