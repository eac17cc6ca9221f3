// How many waited how long, as clients tell it in a listing: by the upper bounds of buckets.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace mortise::cli {

class wait_histogram {
 public:
  // Adds what a text such as "0.0005:12 0.01:3 +Inf:1" says: bounds in seconds, with counts.
  void add(const std::string& text);
  // Adds what has come since an earlier reading of the same client.
  void add_since(const wait_histogram& earlier, const wait_histogram& now);

  [[nodiscard]] bool is_empty() const { return counts_.empty(); }
  // The bound that this part of all, such as 0.5, have waited no longer than: infinity where that
  // is longer than the last bound there is, nothing where nobody has waited.
  [[nodiscard]] std::optional<double> percentile_ms(double part) const;

 private:
  std::map<double, int64_t> counts_;  // by the bound in seconds
};

}  // namespace mortise::cli
