// Liveness: how long waiters wait without a reason.
#pragma once

#include <cstdint>

#include "evidence/checker/claims.hpp"

namespace mortise::evidence {

struct liveness {
  std::int64_t longest_idle_ns = 0;  // of a lock that nobody holds while an owner waits
  std::int64_t longest_wait_ns = 0;  // of an owner that later callers pass
  std::int64_t most_passed = 0;      // how many passed one owner
};

// An idle time counts from the end of the last server fault on.
liveness measure_waits(const claims& found, const operation_history& history);

}  // namespace mortise::evidence
