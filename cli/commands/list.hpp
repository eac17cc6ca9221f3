// `mortise list`.
#pragma once

namespace mortise::cli {

int list_locks(int argc, const char* const* argv);

}  // namespace mortise::cli
