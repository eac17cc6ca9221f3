#include "cli/durations.hpp"

#include <algorithm>
#include <cstdio>

namespace mortise::cli {
namespace {

constexpr int64_t ns_per_us = 1000;
constexpr int whole = 1000;  // permille

}  // namespace

int64_t durations::quantile_ns(int permille) const {
  if (all_.empty()) return 0;
  auto sorted = all_;
  const auto rank = (sorted.size() * static_cast<size_t>(permille) + whole - 1) / whole;
  const auto place = std::max<size_t>(rank, 1) - 1;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(place);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

std::vector<durations::bucket> durations::buckets() const {
  std::vector<bucket> found;
  if (all_.empty()) return found;
  const auto longest = *std::max_element(all_.begin(), all_.end());
  int64_t below_us = 1;
  for (int64_t from_ns = 0; from_ns <= longest; below_us *= 2) {
    const auto below_ns = below_us * ns_per_us;
    const auto count = std::count_if(all_.begin(), all_.end(),
                                     [&](auto ns) { return ns >= from_ns && ns < below_ns; });
    if (count > 0 || !found.empty()) found.push_back({below_us, static_cast<size_t>(count)});
    from_ns = below_ns;
  }
  return found;
}

std::string durations::histogram(size_t widest_bar) const {
  const auto lines = buckets();
  size_t most = 1;
  for (const auto& line : lines) most = std::max(most, line.count);
  std::string text;
  for (const auto& line : lines) {
    auto label = "< " + std::to_string(line.below_us) + " us";
    label.resize(std::max<size_t>(label.size(), 12), ' ');
    // A value that occurred gets at least one mark.
    const auto bar = (line.count * widest_bar + most - 1) / most;
    text += "  " + label + std::string(bar, '#') + " " + std::to_string(line.count) + "\n";
  }
  return text;
}

nlohmann::json durations::json() const {
  nlohmann::json made = {{"count", count()},
                         {"p50_us", static_cast<double>(quantile_ns(500)) / ns_per_us},
                         {"p99_us", static_cast<double>(quantile_ns(990)) / ns_per_us},
                         {"max_us", static_cast<double>(quantile_ns(whole)) / ns_per_us},
                         {"histogram", nlohmann::json::array()}};
  for (const auto& line : buckets()) {
    made["histogram"].push_back({{"below_us", line.below_us}, {"count", line.count}});
  }
  return made;
}

std::string short_text_of_ns(int64_t ns) {
  constexpr double us_per_ms = 1000;
  const auto us = static_cast<double>(ns) / ns_per_us;
  char text[32];
  if (us < 100) {
    std::snprintf(text, sizeof text, "%.3g us", us);
  } else if (us < us_per_ms) {
    std::snprintf(text, sizeof text, "%.0f us", us);
  } else if (us < us_per_ms * us_per_ms) {
    std::snprintf(text, sizeof text, us < 100 * us_per_ms ? "%.3g ms" : "%.0f ms", us / us_per_ms);
  } else {
    std::snprintf(text, sizeof text, "%.1f s", us / us_per_ms / us_per_ms);
  }
  return text;
}

}  // namespace mortise::cli
