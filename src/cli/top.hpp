// `mortise top`: the locks that are fought for most.
#pragma once

namespace mortise::cli {

int watch_locks(int argc, const char* const* argv);

}  // namespace mortise::cli
