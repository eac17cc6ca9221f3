// `mortise bench`: the speed of locks on the user's servers.
#pragma once

namespace mortise::cli {

int bench_locks(int argc, const char* const* argv);

}  // namespace mortise::cli
