#pragma once

#include <cstdint>

#include "cli/handles.hpp"

namespace mortise::cli {

// `mortise doctor --deadlocks`. Returns the exit code.
int report_deadlocks(mortise_client* client, int64_t wait_ms, bool is_json, mortise_error* error);

}  // namespace mortise::cli
