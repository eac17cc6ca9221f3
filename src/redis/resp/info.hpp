// A server's reply to INFO: lines of "key:value".
#pragma once

#include <string_view>

namespace mortise::redis {

// The value of this key; empty without the key. The first of several counts, because modules write
// theirs last.
std::string_view info_field(std::string_view info, std::string_view key) noexcept;

}  // namespace mortise::redis
