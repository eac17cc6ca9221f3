#include "table.hpp"

#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <stdexcept>

namespace mortise::bench {

namespace {

constexpr const char* line_format = "%-62s %11s %12s  %s\n";

std::string with_unit(double value, const std::string& unit) {
  char text[64];
  // Such a measurement has three significant digits.
  const double size = std::fabs(value);
  const int decimals = size < 10 ? 2 : size < 100 ? 1 : 0;
  std::snprintf(text, sizeof text, "%.*f %s", decimals, value, unit.c_str());
  return text;
}

bool is_met(const row& figure, double value) {
  return figure.direction == aim::at_most ? value <= figure.goal : value >= figure.goal;
}

std::string goal_of(const row& figure) {
  if (figure.direction == aim::reported) return "-";
  const char* const sign = figure.direction == aim::at_most ? "<= " : ">= ";
  return sign + with_unit(figure.goal, figure.unit);
}

}  // namespace

std::string rating(const row& figure, double value) {
  if (figure.direction == aim::reported) return "-";
  if (is_met(figure, value)) return "met";
  const double distance = std::fabs(value - figure.goal) / figure.goal * 100;
  char text[64];
  std::snprintf(text, sizeof text, "missed by %.*f %%", distance < 1 ? 1 : 0, distance);
  return text;
}

void table::expect(const std::vector<row>& rows) { rows_ = rows; }

void table::measured(std::string_view id, double value) {
  for (const auto& figure : rows_) {
    if (figure.id != id) continue;
    std::printf(line_format, figure.figure.c_str(), with_unit(value, figure.unit).c_str(),
                goal_of(figure).c_str(), rating(figure, value).c_str());
    std::fflush(stdout);
    if (figure.direction != aim::reported) ++(is_met(figure, value) ? met_ : missed_);
    return;
  }
  throw std::logic_error("no row " + std::string(id));
}

void table::raw(const char* format, ...) {
  if (!with_raw_) return;
  std::printf("    ");
  va_list arguments;
  va_start(arguments, format);
  std::vprintf(format, arguments);
  va_end(arguments);
  std::printf("\n");
}

void table::failed(std::string_view experiment, std::string_view why) {
  ++failed_;
  std::printf("%.*s did not run: %.*s\n", static_cast<int>(experiment.size()), experiment.data(),
              static_cast<int>(why.size()), why.data());
}

void table::print_head() const {
  std::printf(line_format, "figure", "measured", "goal", "severity");
}

void table::print_summary() const {
  std::printf("%d met, %d missed, %d did not run\n", met_, missed_, failed_);
}

}  // namespace mortise::bench
