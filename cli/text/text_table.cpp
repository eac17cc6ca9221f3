#include "cli/text/text_table.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>

namespace mortise::cli {
namespace {

constexpr size_t usual_width = 80;
constexpr size_t narrowest_first = 6;
constexpr std::string_view gap = "  ";

bool is_start(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }

// Counts code points, which equals the width of most names.
size_t width_of(std::string_view cell) {
  return static_cast<size_t>(std::count_if(cell.begin(), cell.end(), is_start));
}

std::string cut(const std::string& cell, size_t width) {
  if (width_of(cell) <= width) return cell;
  size_t end = 0;
  for (size_t seen = 0; end < cell.size(); ++end) {
    if (is_start(cell[end]) && ++seen == width) break;
  }
  return cell.substr(0, end) + "…";
}

size_t terminal_width() {
  if (::isatty(STDOUT_FILENO) == 0) return 0;
  winsize size{};
  const bool is_known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_known ? size.ws_col : usual_width;
}

std::string line_of(const std::vector<std::string>& row, const std::vector<size_t>& widths,
                    size_t width) {
  std::string line;
  for (size_t column = 0; column < row.size(); ++column) {
    const auto cell = width == 0 ? row[column] : cut(row[column], widths[column]);
    line += cell;
    if (column + 1 < row.size()) line += std::string(widths[column] - width_of(cell), ' ') += gap;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return width == 0 ? line : cut(line, width);
}

unsigned char byte_of(std::string_view text, size_t at) {
  return static_cast<unsigned char>(text[at]);
}

// The number of bytes of a character in UTF-8 by its first byte. 0 if none begins with it.
size_t size_by_first(unsigned first) {
  if (first < 0x80U) return 1;
  if (first < 0xC2U || first > 0xF4U) return 0;
  return first < 0xE0U ? 2 : first < 0xF0U ? 3 : 4;
}

// The number of bytes of the first character. 0 if the character is not valid UTF-8, or if a
// terminal may obey it. Terminals also obey U+0080 to U+009F.
size_t size_of_printable(std::string_view text) {
  const unsigned first = byte_of(text, 0);
  const size_t size = size_by_first(first);
  if (size == 0 || text.size() < size) return 0;
  unsigned code = size == 1 ? first : first & (0x7FU >> size);
  for (size_t at = 1; at < size; ++at) {
    if (is_start(text[at])) return 0;
    code = code << 6U | (byte_of(text, at) & 0x3FU);
  }
  constexpr std::array<unsigned, 5> smallest = {0, ' ', 0xA0, 0x800, 0x10000};
  const bool is_excluded = code == 0x7FU || (code >= 0xD800U && code <= 0xDFFFU);
  return code < smallest.at(size) || code > 0x10FFFFU || is_excluded ? 0 : size;
}

}  // namespace

std::string printable_of(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const size_t size = size_of_printable(text);
    if (size > 0) {
      shown += text.substr(0, size);
    } else {
      std::array<char, 8> escaped{};
      std::snprintf(escaped.data(), escaped.size(), "\\x%02X", byte_of(text, 0));
      shown += escaped.data();
    }
    text.remove_prefix(std::max<size_t>(size, 1));
  }
  return shown;
}

std::string count_text(size_t count, const char* noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

void text_table::print() const { std::fputs(text(terminal_width()).c_str(), stdout); }

std::string text_table::text(size_t width) const {
  std::vector<size_t> widths(heads_.size(), 0);
  const auto widen = [&widths](const std::vector<std::string>& row) {
    for (size_t column = 0; column < row.size(); ++column) {
      widths[column] = std::max(widths[column], width_of(row[column]));
    }
  };
  if (width > 0) widen(heads_);
  for (const auto& row : rows_) widen(row);
  const size_t total =
      std::accumulate(widths.begin(), widths.end(), gap.size() * (widths.size() - 1));
  if (width > 0 && total > width) {
    const size_t surplus = total - width;
    widths[0] = widths[0] > surplus + narrowest_first ? widths[0] - surplus
                                                      : std::min(widths[0], narrowest_first);
  }
  std::string text;
  if (width > 0) text += line_of(heads_, widths, width) + "\n";
  for (const auto& row : rows_) text += line_of(row, widths, width) + "\n";
  return text;
}

}  // namespace mortise::cli
