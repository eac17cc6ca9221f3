// The writes to the register that a lock guards: it accepts no token below the highest it has seen.
#pragma once

#include <string>
#include <vector>

#include "evidence/checker/operation.hpp"

namespace mortise::evidence {

// A sentence for each accepted write with a stale token, and for each refusal without a reason.
std::vector<std::string> check_writes(const operation_history& history);

}  // namespace mortise::evidence
