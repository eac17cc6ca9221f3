// Foreign text for a message: one line of bounded length, safe on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace mortise {

// The text in double quotes. Other bytes than printable ASCII become '?'. "…" marks a cut text.
std::string printable(std::string_view text, std::size_t longest = 64);

}  // namespace mortise
