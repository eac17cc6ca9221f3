// A process in the background of this one: in a session of its own, with null streams, and without
// the program's descriptors, signal settings and environment.
#pragma once

#include <sys/types.h>

#include <span>

#include "base/time.hpp"

namespace mortise {

// Starts the program. It inherits these descriptors only, as 3, 4 and so on. `arguments` and
// `environment` end with nullptr. Returns 0 or an errno.
int start_in_background(const char* program, char* const* arguments, char* const* environment,
                        std::span<const int> inherited, pid_t& process) noexcept;

// Waits for the end of a process that goes on in a child of its own. If the program ignores or
// collects SIGCHLD, the system reaps the process.
void reap_starter(pid_t process, time_ns deadline) noexcept;

}  // namespace mortise
