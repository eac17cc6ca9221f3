// Statistics by name of the lock, according to `metrics_name`. The number of names is limited.
// Later names are counted as "other".
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "statistics/lock_statistics.hpp"
#include "statistics/snapshot.hpp"

namespace mortise::statistics {

// How a handle uses its lock.
enum class lock_use : std::size_t { mutex, writer, reader, semaphore };
constexpr std::size_t lock_use_count = 4;

class series_set {
 public:
  static constexpr std::size_t longest = 200;

  // `rule` is a value of metrics_name: "off", "label", "name", or names of locks with `*` for any
  // characters, separated by commas.
  explicit series_set(std::string_view rule);

  // The statistics of a lock of this name, by a handle with this label. Valid as long as the set.
  lock_statistics& of(std::string_view name, std::string_view label, lock_use use);
  void add_to(snapshot& target) const;

 private:
  using series = std::array<lock_statistics, lock_use_count>;

  [[nodiscard]] std::string_view series_name(std::string_view name, std::string_view label) const;

  const std::string rule_;
  std::vector<std::string_view> patterns_;  // of the rule
  mutable std::mutex mutex_;                // protects the next member
  std::map<std::string, series, std::less<>> all_;
};

// Whether the text matches this pattern, in which each `*` stands for any characters or none.
bool matches(std::string_view pattern, std::string_view text) noexcept;

}  // namespace mortise::statistics
