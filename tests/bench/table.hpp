// The table of figures: the title of each row, its goal, its measured value, and the rating.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mortise::bench {

// A figure that is only reported has no goal.
enum class aim { at_most, at_least, reported };

// One row: a figure that is measured against its reference, and the goal for it.
struct row {
  std::string id;
  std::string figure;
  aim direction = aim::at_most;
  double goal = 0;
  std::string unit;  // "x" for a ratio
};

// Prints rows as they come in, and counts the verdicts.
class table {
 public:
  explicit table(bool with_raw) : with_raw_(with_raw) {}

  // The rows that the next measurements are for.
  void expect(const std::vector<row>& rows);
  void measured(std::string_view id, double value);
  // The absolute numbers behind the last row; shown with --raw.
  [[gnu::format(printf, 2, 3)]] void raw(const char* format, ...);
  // An experiment could not run.
  void failed(std::string_view experiment, std::string_view why);
  void print_head() const;
  void print_summary() const;

  [[nodiscard]] bool has_failed() const { return failed_ > 0; }

 private:
  bool with_raw_;
  std::vector<row> rows_;
  int met_ = 0;
  int missed_ = 0;
  int failed_ = 0;
};

// "met", or "missed by 12 %".
std::string rating(const row& figure, double value);

}  // namespace mortise::bench
