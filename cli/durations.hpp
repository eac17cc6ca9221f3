// A set of measured durations.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace mortise::cli {

class durations {
 public:
  void add(int64_t ns) { all_.push_back(ns); }
  size_t count() const { return all_.size(); }

  // The duration that this many of a thousand do not exceed; 0 for an empty set.
  int64_t quantile_ns(int permille) const;

  // One line per doubling, from the shortest to the longest, with bars of at most this width.
  std::string histogram(size_t widest_bar) const;
  nlohmann::json json() const;

 private:
  struct bucket {
    int64_t below_us;
    size_t count;
  };
  std::vector<bucket> buckets() const;

  std::vector<int64_t> all_;
};

// Such as "380 us" and "1.25 ms".
std::string short_text_of_ns(int64_t ns);

}  // namespace mortise::cli
