// `mortise doctor`.
#pragma once

namespace mortise::cli {

int examine(int argc, const char* const* argv);

}  // namespace mortise::cli
