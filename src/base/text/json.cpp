#include "base/text/json.hpp"

#include "base/text/utf8.hpp"

namespace mortise {

void append_json(std::string& out, std::string_view text) {
  static constexpr std::string_view digits = "0123456789abcdef";
  out += '"';
  while (!text.empty()) {
    const auto size = utf8_size(text);
    const auto first = static_cast<unsigned char>(text.front());
    if (size == 0) {
      out += "\xEF\xBF\xBD";
    } else if (first < 0x20 || first == 0x7F) {
      out.append("\\u00").append(1, digits[first >> 4U]).append(1, digits[first & 0xFU]);
    } else {
      if (first == '"' || first == '\\') out += '\\';
      out.append(text.substr(0, size));
    }
    text.remove_prefix(size == 0 ? 1 : size);
  }
  out += '"';
}

}  // namespace mortise
