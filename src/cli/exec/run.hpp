// `mortise exec`: runs a command while a lock is held.
#pragma once

namespace mortise::cli::exec {

// What follows `mortise`, beginning with "exec"; what the process ends with. Throws a failure.
int run(int argc, const char* const* argv);

}  // namespace mortise::cli::exec
