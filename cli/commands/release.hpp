// `mortise release`: ends another client's hold.
#pragma once

namespace mortise::cli {

int release_lock(int argc, const char* const* argv);

}  // namespace mortise::cli
