#include "base/text/utf8.hpp"

#include <array>
#include <cstdint>

namespace mortise {

// NOLINTNEXTLINE(readability-function-cognitive-complexity): a parser.
std::size_t utf8_size(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return 1;
  const std::size_t size = byte(0) < 0xC2 ? 0 : byte(0) < 0xE0 ? 2 : byte(0) < 0xF0 ? 3 : 4;
  if (size == 0 || byte(0) > 0xF4 || text.size() < size) return 0;
  std::uint32_t point = byte(0) & (0x7FU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
    point = (point << 6U) | (byte(i) & 0x3FU);
  }
  constexpr std::array<std::uint32_t, 5> least = {0, 0, 0x80, 0x800, 0x10000};
  if (point < least.at(size) || point > 0x10FFFF) return 0;
  return point >= 0xD800 && point <= 0xDFFF ? 0 : size;
}

}  // namespace mortise
