// Validation of UTF-8.
#pragma once

#include <cstddef>
#include <string_view>

namespace mortise {

// The length of the sequence at the front of a nonempty text. 0 if the sequence is malformed.
// Surrogates, overlong forms and values above U+10FFFF are malformed.
std::size_t utf8_size(std::string_view text) noexcept;

}  // namespace mortise
