// A process and all that descend from it.
#pragma once

#include <sys/types.h>

#include <functional>
#include <vector>

namespace mortise::cli::exec {

struct relative {
  pid_t process;
  pid_t parent;
};

// The descendants of a process, also those that have ended and not been waited for, without those
// for which `is_spared` says so, and theirs. A descendant cannot leave the tree, whatever its
// process group, session or descriptors, as long as the root adopts orphans
// (PR_SET_CHILD_SUBREAPER).
std::vector<relative> descendants_of(pid_t root, const std::function<bool(pid_t)>& is_spared);

// Sends a signal to that process, and to no other that has got its number meanwhile.
void send_to(const relative& one, int signal);

// Whether that is what looks after the server of `local:`, which outlives us.
bool is_supervisor(pid_t process);

}  // namespace mortise::cli::exec
