// Runs code just before the library starts its helper process.
#pragma once

#include <functional>

namespace mortise::testing {

// Once, on the thread that starts the helper next, inside posix_spawn.
void before_the_helper_starts(std::function<void()> run);

}  // namespace mortise::testing
