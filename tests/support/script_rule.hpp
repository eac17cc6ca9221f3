// The rules of a managed service for the text of a script: each command is written out, and each of
// its keys is KEYS[n]. They are those of Alibaba Cloud, with its own error text.
#pragma once

#include <string>
#include <string_view>

namespace mortise::testing {

// The error with which such a service refuses the script; empty for one that it runs.
std::string refusal_of_script(std::string_view script);

}  // namespace mortise::testing
