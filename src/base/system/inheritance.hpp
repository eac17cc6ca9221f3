// The descriptors of the program that a started process inherits.
#pragma once

#include <spawn.h>

namespace mortise {

// The declaration of libc: adds an action that closes all descriptors from `first` on.
using add_closefrom = int (*)(posix_spawn_file_actions_t* actions, int first);

// libc's function, if it has one: glibc from 2.34 on, not musl.
add_closefrom libc_closefrom() noexcept;

// Nothing from `first` on is inherited. Without libc's function only the descriptors that are open
// now are closed: a descriptor opened meanwhile without O_CLOEXEC is still inherited. Returns 0 or
// an errno.
int inherit_below(int first, posix_spawn_file_actions_t& actions, add_closefrom closefrom);

}  // namespace mortise
