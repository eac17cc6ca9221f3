// What a call to a tenure has brought about; the gate acts on it.
#pragma once

#include <cstdint>

namespace mortise::lock {

enum class news : std::uint8_t {
  none,
  granted,
  not_free,  // a try that failed; the tenure is over
  refused,   // details() says why; a tenure that is leaving tries on
  renewed,
  renew_failed,  // details(); the old deadline stands
  raised,        // the whole lock is ours, with a new fencing token
  not_raised,    // others have a part of it; the hold is as before
  raise_failed,  // details(); the hold is as before
  lost,
  at_risk,
  left,  // leave_result() says how; the tenure is over
};

}  // namespace mortise::lock
