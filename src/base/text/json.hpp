// A text as JSON.
#pragma once

#include <string>
#include <string_view>

namespace mortise {

// Appends the text in quotes, as RFC 8259 requires. Invalid UTF-8 becomes U+FFFD, so that every
// reader accepts the text.
void append_json(std::string& out, std::string_view text);

}  // namespace mortise
