// Rows and columns, as wide as the terminal.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace mortise::cli {

// What a name or label shows of itself: bytes that would move the cursor are "\xNN".
std::string printable_of(std::string_view text);

class text_table {
 public:
  // The first column gives way where there is not room for all.
  explicit text_table(std::vector<std::string> heads) : heads_(std::move(heads)) {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  // By their first column, and then the next.
  void sort() { std::sort(rows_.begin(), rows_.end()); }

  // To stdout. Elsewhere than on a terminal without heads, and with each cell in whole.
  void print() const;
  // With rows that are `width` columns wide at most, with heads; 0 for any width, without.
  std::string text(size_t width) const;

 private:
  std::vector<std::string> heads_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace mortise::cli
