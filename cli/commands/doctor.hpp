// `mortise doctor`.
#pragma once

namespace mortise::cli {

int check_health(int argc, const char* const* argv);

}  // namespace mortise::cli
