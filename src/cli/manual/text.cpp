#include "cli/manual/text.hpp"

namespace mortise::cli::manual {

std::vector<std::string> split(std::string_view text, std::string_view by) {
  std::vector<std::string> parts;
  while (true) {
    const auto end = text.find(by);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + by.size());
  }
}

std::string join(const std::vector<std::string>& parts, std::string_view with) {
  std::string text;
  for (const auto& part : parts) text.append(text.empty() ? "" : with).append(part);
  return text;
}

std::string replace(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

}  // namespace mortise::cli::manual
