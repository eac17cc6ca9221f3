// The meaning of an error reply for the command: not carried out, or unknown (hazard 28).
#pragma once

#include <string_view>

#include "lock/step.hpp"
#include "redis/resp/error_text.hpp"

namespace mortise::protocol {

// The default, for an error that is not in the table, is `unknown`.
lock::step_result read_error(std::string_view text);

// A reply of an unknown shape. It may mean anything except success (hazard 31).
lock::step_result unreadable();

}  // namespace mortise::protocol
