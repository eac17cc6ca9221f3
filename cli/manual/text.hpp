// String helpers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mortise::cli::manual {

std::vector<std::string> split(std::string_view text, std::string_view separator);
std::string join(const std::vector<std::string>& parts, std::string_view separator);
std::string replace(std::string text, std::string_view pattern, std::string_view replacement);

}  // namespace mortise::cli::manual
