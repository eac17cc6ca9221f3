// `mortise bench`: how fast locks are where the user has them.
#pragma once

namespace mortise::cli {

int bench_locks(int argc, const char* const* argv);

}  // namespace mortise::cli
