// What a process that is started gets of the program's descriptors.
#pragma once

#include <spawn.h>

namespace mortise::local {

// As libc declares it: adds to the actions that all descriptors from `first` on are closed.
using add_closefrom = int (*)(posix_spawn_file_actions_t* actions, int first);

// That of libc, where it has one: glibc from 2.34 on, and no musl.
add_closefrom libc_closefrom() noexcept;

// Nothing from `first` on is inherited. Without libc's help that is what is open now: what another
// thread opens meanwhile without O_CLOEXEC is inherited all the same. Returns 0 or an errno.
int inherit_below(int first, posix_spawn_file_actions_t& actions, add_closefrom closefrom);

}  // namespace mortise::local
