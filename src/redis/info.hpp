// What a server says to INFO: lines of "key:value".
#pragma once

#include <string_view>

namespace mortise::redis {

// The value of this key; empty when there is none. Of several the first: modules write theirs last.
std::string_view info_field(std::string_view info, std::string_view key) noexcept;

}  // namespace mortise::redis
