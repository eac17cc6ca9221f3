// Descriptors that a forked child must not keep. A copy of a socket would keep the connection open
// after the parent's death, and with it the parent's inbox at the server (hazard 21). The child
// closes them before fork() returns. They are also close-on-exec, for children that libc does not
// report.
#pragma once

namespace mortise {

// Registers a descriptor, so that a child closes it. Returns the descriptor, even if it is invalid.
int keep_private(int descriptor) noexcept;
// Closes a registered descriptor.
void close_private(int descriptor) noexcept;

// Runs in a child, called by fork.cpp. Uses only functions that are safe when other threads were
// interrupted at any point.
void close_inherited() noexcept;

}  // namespace mortise
