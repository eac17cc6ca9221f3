// The wait times in a listing, counted by the upper bounds of buckets.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace mortise::cli {

class wait_histogram {
 public:
  // Adds the counts of a text such as "0.0005:12 0.01:3 +Inf:1". Bounds are in seconds.
  void add(const std::string& text);
  // Adds the difference to an earlier reading of the same client.
  void add_since(const wait_histogram& earlier, const wait_histogram& now);

  [[nodiscard]] bool is_empty() const { return counts_.empty(); }
  // The bound that this part of all waits, such as 0.5, did not exceed. Infinity above the last
  // bound, nullopt without waits.
  [[nodiscard]] std::optional<double> percentile_ms(double part) const;

 private:
  std::map<double, int64_t> counts_;  // by bound in seconds
};

}  // namespace mortise::cli
