// `mortise exec`: runs a command while a lock is held.
#pragma once

namespace mortise::cli::exec {

// The arguments after `mortise`, starting with "exec". Returns the exit code. Throws a failure.
int run(int argc, const char* const* argv);

}  // namespace mortise::cli::exec
