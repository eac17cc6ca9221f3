// UTF-8, as far as texts are checked.
#pragma once

#include <cstddef>
#include <string_view>

namespace mortise {

// The length of the sequence at the front of a text that is not empty when it is well-formed, else
// 0. Surrogates, overlong forms and what lies above U+10FFFF are not well-formed.
std::size_t utf8_size(std::string_view text) noexcept;

}  // namespace mortise
