#include "cli/manual/text.hpp"

namespace mortise::cli::manual {

std::vector<std::string> split(std::string_view text, std::string_view separator) {
  std::vector<std::string> parts;
  while (true) {
    const auto end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + separator.size());
  }
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (const auto& part : parts) text.append(text.empty() ? "" : separator).append(part);
  return text;
}

std::string replace(std::string text, std::string_view pattern, std::string_view replacement) {
  for (size_t at = 0; (at = text.find(pattern, at)) != std::string::npos;
       at += replacement.size()) {
    text.replace(at, pattern.size(), replacement);
  }
  return text;
}

}  // namespace mortise::cli::manual
