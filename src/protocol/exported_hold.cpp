#include "protocol/exported_hold.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>

#include "base/text/decimal.hpp"

namespace mortise::protocol {

namespace {

constexpr std::string_view id_version = "mh1";
constexpr std::string_view hex_digits = "0123456789abcdef";
// In the order of lock_kind.
constexpr std::string_view kind_letters = "msr";
constexpr std::array kinds_by_letter = {lock::lock_kind::mutex, lock::lock_kind::semaphore,
                                        lock::lock_kind::rw};

std::string hex_of(std::string_view bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text.push_back(hex_digits[byte >> 4]);
    text.push_back(hex_digits[byte & 15]);
  }
  return text;
}

std::optional<std::string> bytes_of(std::string_view hex) {
  if (hex.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(hex.size() / 2);
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const auto high = hex_digits.find(hex[i]);
    const auto low = hex_digits.find(hex[i + 1]);
    if (high == hex_digits.npos || low == hex_digits.npos) return std::nullopt;
    bytes.push_back(static_cast<char>(high << 4 | low));
  }
  return bytes;
}

// FNV-1a. It detects accidents. A client with access to the server needs no forged text.
std::string checksum_of(std::string_view text) {
  std::uint64_t sum = 0xcbf29ce484222325U;
  for (const char c : text) sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  std::array<char, 8> bytes{};
  for (auto& byte : bytes) {
    byte = static_cast<char>(sum & 255);
    sum >>= 8;
  }
  return hex_of({bytes.data(), bytes.size()});
}

std::string_view take_field(std::string_view& rest) {
  const auto field = rest.substr(0, rest.find('.'));
  rest.remove_prefix(std::min(rest.size(), field.size() + 1));
  return field;
}

bool read_number(std::string_view text, std::int64_t& number) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc{} && read.ptr == text.data() + text.size();
}

bool read_fields(std::string_view fields, exported_hold& exported) {
  const auto letter = kind_letters.find(take_field(fields));
  if (letter >= kinds_by_letter.size()) return false;
  exported.kind = kinds_by_letter.at(letter);
  auto& amount = exported.amount;
  bool is_read = read_number(take_field(fields), amount.permits);
  is_read = read_number(take_field(fields), amount.capacity) && is_read;
  is_read = read_number(take_field(fields), exported.token) && is_read;
  is_read = read_number(take_field(fields), exported.valid_until_ms) && is_read;
  const bool is_whole =
      exported.kind == lock::lock_kind::mutex || amount.permits == lock::exclusive_permits;
  amount.mode = is_whole ? lock::hold_mode::exclusive : lock::hold_mode::shared;
  for (auto* const text : {&exported.key_namespace, &exported.name, &exported.owner_token}) {
    auto bytes = bytes_of(take_field(fields));
    if (!bytes) return false;
    *text = std::move(*bytes);
  }
  return is_read && fields.empty() && !exported.owner_token.empty();
}

outcome bad_text(const char* problem) {
  return outcome::of(status::invalid_argument, "id: ", problem,
                     "; give the whole text of an export, unchanged");
}

}  // namespace

std::string text_of(const exported_hold& exported) {
  const auto kind = std::find(kinds_by_letter.begin(), kinds_by_letter.end(), exported.kind);
  auto text = std::string(id_version).append(".");
  text.push_back(kind_letters.at(static_cast<std::size_t>(kind - kinds_by_letter.begin())));
  for (const auto number : {exported.amount.permits, exported.amount.capacity, exported.token,
                            exported.valid_until_ms}) {
    text.append(".").append(decimal(number));
  }
  for (const auto* const bytes : {&exported.key_namespace, &exported.name, &exported.owner_token}) {
    text.append(".").append(hex_of(*bytes));
  }
  return text + "." + checksum_of(text);
}

outcome read_exported_hold(std::string_view text, exported_hold& exported) {
  if (!text.starts_with(id_version) || text.substr(id_version.size(), 1) != ".") {
    return bad_text("the text does not begin with \"mh1.\"");
  }
  const auto end = text.rfind('.');
  if (text.substr(end + 1) != checksum_of(text.substr(0, end))) {
    return bad_text("the text was cut or changed");
  }
  if (!read_fields(text.substr(id_version.size() + 1, end - id_version.size() - 1), exported)) {
    return bad_text("the text has a field that cannot be read");
  }
  return {};
}

}  // namespace mortise::protocol
