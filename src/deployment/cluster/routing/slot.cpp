#include "deployment/cluster/routing/slot.hpp"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>

namespace mortise::cluster {

namespace {

// CRC-16/XMODEM: polynomial 0x1021, initial value 0.
constexpr std::array<std::uint16_t, 256> crc_table = [] {
  std::array<std::uint16_t, 256> table{};
  for (std::size_t byte = 0; byte < table.size(); ++byte) {
    auto crc = static_cast<unsigned>(byte << 8U);
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc & 0x8000U) != 0 ? (crc << 1U) ^ 0x1021U : crc << 1U;
    }
    table[byte] = static_cast<std::uint16_t>(crc);
  }
  return table;
}();

int slot_of_all(std::string_view text) noexcept {
  unsigned crc = 0;
  for (const char c : text) {
    const auto index = ((crc >> 8U) ^ static_cast<unsigned char>(c)) & 0xFFU;
    crc = ((crc << 8U) ^ crc_table.at(index)) & 0xFFFFU;
  }
  return static_cast<int>(crc % slot_count);
}

// Room for the decimal digits of a number.
struct digits {
  std::array<char, 12> text{};
  std::string_view write(std::uint32_t number) noexcept {
    const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
    return {text.data(), static_cast<std::size_t>(end - text.data())};
  }
};

// The least number for each slot. Some hundred thousand numbers are tried, once.
std::array<std::uint32_t, slot_count> find_numbers() {
  std::array<std::uint32_t, slot_count> numbers{};
  std::array<bool, slot_count> is_found{};
  digits each;
  int found = 0;
  for (std::uint32_t number = 0; found < slot_count; ++number) {
    const auto slot = static_cast<std::size_t>(slot_of_all(each.write(number)));
    if (is_found.at(slot)) continue;
    is_found.at(slot) = true;
    numbers.at(slot) = number;
    ++found;
  }
  return numbers;
}

}  // namespace

int slot_of(std::string_view key) noexcept {
  const auto open = key.find('{');
  if (open != std::string_view::npos) {
    const auto close = key.find('}', open + 1);
    const bool has_tag = close != std::string_view::npos && close > open + 1;
    if (has_tag) key = key.substr(open + 1, close - open - 1);
  }
  return slot_of_all(key);
}

std::string tag_of(int slot) {
  static const auto numbers = find_numbers();
  digits number;
  return std::string("{")
      .append(number.write(numbers.at(static_cast<std::size_t>(slot))))
      .append("}");
}

}  // namespace mortise::cluster
