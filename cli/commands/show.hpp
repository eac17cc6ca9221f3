// `mortise show NAME`.
#pragma once

namespace mortise::cli {

int show_lock(int argc, const char* const* argv);

}  // namespace mortise::cli
