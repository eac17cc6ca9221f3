#include "base/text/printable.hpp"

namespace mortise {

std::string printable(std::string_view text, std::size_t longest) {
  std::string shown = "\"";
  for (const char c : text.substr(0, longest)) shown += c >= ' ' && c <= '~' ? c : '?';
  if (text.size() > longest) shown += "…";
  shown += '"';
  return shown;
}

}  // namespace mortise
