// What a managed service asks of the text of a script before it runs it: each command is written
// out, and each of its keys is KEYS[n]. Alibaba Cloud does so; the words are its own.
#pragma once

#include <string>
#include <string_view>

namespace mortise::testing {

// The error with which such a service refuses the script; empty for one that it runs.
std::string refusal_of_script(std::string_view script);

}  // namespace mortise::testing
