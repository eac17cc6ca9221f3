// The result of a call to a claim. The gate acts on the result.
#pragma once

#include <cstdint>

namespace mortise::lock {

enum class claim_event : std::uint8_t {
  none,
  granted,
  not_free,  // a try that failed; the claim is over
  refused,   // details() has the reason; a claim in release retries
  renewed,
  renew_failed,  // details() has the reason; the old deadline stands
  raised,        // exclusive from now on, with a new fencing token
  not_raised,    // other holders share the lock; the hold is as before
  raise_failed,  // details() has the reason; the hold is as before
  value_set,
  value_failed,  // details() has the reason; the next renewal tries again
  lost,
  at_risk,
  released,  // release_result() has the result; the claim is over
};

}  // namespace mortise::lock
