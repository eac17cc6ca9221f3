// Descriptors that a forked child must not keep: its copy of a socket would hold the connection
// open when the parent is dead, and with it the parent's inbox at the server (hazard 21). The child
// closes them before fork() returns there. They are close-on-exec besides, for children that libc
// does not tell us of.
#pragma once

namespace mortise {

// From now on a child closes it. Returns it, also when it is none.
int keep_private(int descriptor) noexcept;
// Closes one that was kept private.
void close_private(int descriptor) noexcept;

// In a child, by fork.cpp: only what is safe to call when other threads were in the middle of
// anything.
void close_inherited() noexcept;

}  // namespace mortise
