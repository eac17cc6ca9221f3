#include "cli/period.hpp"

#include <array>
#include <charconv>
#include <cmath>

#include "cli/exit_code.hpp"
#include "cli/failure.hpp"

namespace mortise::cli {
namespace {

struct unit {
  std::string_view name;
  int64_t ms;
};
constexpr std::array<unit, 5> units = {
    {{"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}}};

const unit* unit_of(std::string_view name) {
  for (const auto& one : units) {
    if (one.name == name || (name.empty() && one.name == "s")) return &one;
  }
  return nullptr;
}

failure wrong(const char* option, std::string_view text) {
  return {exit_usage,
          std::string(option) + " \"" + std::string(text) +
              "\" is no duration; give seconds such as 0.5, or 200ms, 5s, 2m, 1h, 1d, up to "
              "366 days"};
}

}  // namespace

int64_t milliseconds_of(const char* option, std::string_view text) {
  double number = 0;
  const auto [end, problem] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  const auto* unit = unit_of(text.substr(static_cast<size_t>(end - text.data())));
  const bool is_number = problem == std::errc() && !text.starts_with('-') && std::isfinite(number);
  if (!is_number || unit == nullptr) throw wrong(option, text);
  const double time_ms = number * static_cast<double>(unit->ms);
  if (time_ms > static_cast<double>(MORTISE_MAX_MS) || (time_ms > 0 && time_ms < 1)) {
    throw wrong(option, text);
  }
  return std::llround(time_ms);
}

int64_t listing_wait_ms_of(std::string_view text) {
  constexpr int64_t longest_ms = 60'000;
  const int64_t wait_ms = milliseconds_of("--wait", text);
  if (wait_ms >= 1 && wait_ms <= longest_ms) return wait_ms;
  throw failure(exit_usage, "--wait " + std::string(text) + " is out of range; give 1ms to 1m");
}

std::string rough_text_of(int64_t time_ms) {
  const unit* fits = &units.front();
  for (const auto& one : units) {
    if (time_ms >= 2 * one.ms) fits = &one;
  }
  return std::to_string(time_ms / fits->ms) + std::string(fits->name);
}

std::string text_of_milliseconds(int64_t time_ms) {
  const unit* fits = &units.front();
  for (const auto& one : units) {
    if (time_ms != 0 && time_ms % one.ms == 0) fits = &one;
  }
  return std::to_string(time_ms / fits->ms) + std::string(fits->name);
}

}  // namespace mortise::cli
