// `mortise version`.
#pragma once

namespace mortise::cli {

int print_version(int argc, const char* const* argv);

}  // namespace mortise::cli
