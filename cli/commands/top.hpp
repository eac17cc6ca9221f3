// `mortise top`: the most contended locks.
#pragma once

namespace mortise::cli {

int watch_locks(int argc, const char* const* argv);

}  // namespace mortise::cli
