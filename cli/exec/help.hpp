// The text of `mortise exec --help`.
#pragma once

namespace mortise::cli::exec {

extern const char* const help_text;

}  // namespace mortise::cli::exec
