// `mortise why NAME`.
#pragma once

namespace mortise::cli {

int show_history(int argc, const char* const* argv);

}  // namespace mortise::cli
