#include "cli/wait_histogram.hpp"

#include <cmath>
#include <cstdlib>
#include <sstream>

namespace mortise::cli {

void wait_histogram::add(const std::string& text) {
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const auto colon = word.find(':');
    if (colon == std::string::npos) continue;  // a later version's
    const auto bound = word.substr(0, colon);
    const double seconds = bound == "+Inf" ? HUGE_VAL : std::strtod(bound.c_str(), nullptr);
    counts_[seconds] += std::strtoll(word.c_str() + colon + 1, nullptr, 10);
  }
}

void wait_histogram::add_since(const wait_histogram& earlier, const wait_histogram& now) {
  for (const auto& [bound, count] : now.counts_) {
    const auto before = earlier.counts_.find(bound);
    const auto more = count - (before == earlier.counts_.end() ? 0 : before->second);
    if (more > 0) counts_[bound] += more;
  }
}

std::optional<double> wait_histogram::percentile_ms(double part) const {
  int64_t all = 0;
  for (const auto& [bound, count] : counts_) all += count;
  if (all == 0) return std::nullopt;
  const auto wanted = static_cast<int64_t>(std::ceil(part * static_cast<double>(all)));
  int64_t seen = 0;
  for (const auto& [bound, count] : counts_) {
    seen += count;
    if (seen >= wanted) return bound * 1000;
  }
  return HUGE_VAL;
}

}  // namespace mortise::cli
