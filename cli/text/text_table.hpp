// Rows and columns, within the width of the terminal.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace mortise::cli {

// A printable form of a name or label. Control characters and bytes that are not UTF-8 become
// "\xNN", because a terminal may obey them.
std::string printable_of(std::string_view text);
// "1 thread", "2 threads".
std::string count_text(size_t count, const char* noun);

class text_table {
 public:
  // The first column is shortened when the row is too wide.
  explicit text_table(std::vector<std::string> heads) : heads_(std::move(heads)) {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  // Sorts by the first column, then the next ones.
  void sort() { std::sort(rows_.begin(), rows_.end()); }

  // Prints to stdout. Without a terminal there are no heads, and cells are not shortened.
  void print() const;
  // Rows of at most `width` columns, with heads; 0: any width, without heads.
  std::string text(size_t width) const;

 private:
  std::vector<std::string> heads_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace mortise::cli
