#include "cli/text/wait_histogram.hpp"

#include <charconv>
#include <cmath>
#include <sstream>
#include <string_view>

namespace mortise::cli {

namespace {

// Independent of the program's locale.
template <class Number>
Number number_of(std::string_view text) {
  Number number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

void wait_histogram::add(const std::string& text) {
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const auto colon = word.find(':');
    if (colon == std::string::npos) continue;  // the form of a later version
    const auto bound = word.substr(0, colon);
    const auto seconds = bound == "+Inf" ? HUGE_VAL : number_of<double>(bound);
    counts_[seconds] += number_of<int64_t>(std::string_view(word).substr(colon + 1));
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
  const auto rank = static_cast<int64_t>(std::ceil(part * static_cast<double>(all)));
  int64_t seen = 0;
  for (const auto& [bound, count] : counts_) {
    seen += count;
    if (seen >= rank) return bound * 1000;
  }
  return HUGE_VAL;
}

}  // namespace mortise::cli
