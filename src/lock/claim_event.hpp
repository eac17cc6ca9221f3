// What a call to a claim has brought about; the gate acts on it.
#pragma once

#include <cstdint>

namespace mortise::lock {

enum class claim_event : std::uint8_t {
  none,
  granted,
  not_free,  // a try that failed; the claim is over
  refused,   // details() says why; a claim that is leaving tries on
  renewed,
  renew_failed,  // details(); the old deadline stands
  raised,        // the whole lock is ours, with a new fencing token
  not_raised,    // others have a part of it; the hold is as before
  raise_failed,  // details(); the hold is as before
  lost,
  at_risk,
  released,  // release_result() says how; the claim is over
};

}  // namespace mortise::lock
