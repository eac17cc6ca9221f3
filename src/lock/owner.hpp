// One handle as the lock logic sees it: who may hold, on which terms, and what it has.
#pragma once

#include <cstdint>
#include <string>

namespace mortise::lock {

class acquiring;

enum class owner_state : std::uint8_t {
  idle,
  acquiring,
  held,
  unlocking,  // the hold is over, the server has not answered yet
  lost,       // the hold was lost and has not been unlocked
};

struct owner {
  // Terms; fixed when the handle is made.
  std::int64_t lease_ms = 30'000;
  std::int64_t max_hold_ms = 3'600'000;  // -1: no limit
  bool renews = true;
  bool is_reentrant = false;
  std::string label;

  // Kept by the gate.
  owner_state state = owner_state::idle;
  std::int64_t hold_count = 0;
  std::int64_t token = 0;        // of the present or the last hold
  acquiring* pending = nullptr;  // the acquire that waits
};

}  // namespace mortise::lock
