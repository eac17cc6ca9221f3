// A text as JSON has it.
#pragma once

#include <string>
#include <string_view>

namespace mortise {

// Appends the text in quotes, as RFC 8259 wants it. What is not UTF-8 in it becomes U+FFFD, so that
// every reader takes it.
void append_json(std::string& out, std::string_view text);

}  // namespace mortise
