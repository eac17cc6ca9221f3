/** The counters of a client: acquires, holds, losses, round trips, connections. */
#ifndef MORTISE_STATS_HPP
#define MORTISE_STATS_HPP

#include <memory>
#include <utility>
#include <vector>

#include "error.hpp"

namespace mortise {
inline namespace MORTISE_CXX_NAMESPACE {

/**
 * One number of the statistics. docs/statistics.md lists them. The strings are valid as long as the
 * statistics.
 */
struct sample {
  /** The name, such as "mortise_holds". Later versions keep it. */
  std::string_view name;
  /** The type: "counter", "gauge" or "histogram". */
  std::string_view type;
  /** The labels, such as "kind" with "mutex". */
  std::vector<std::pair<std::string_view, std::string_view>> labels;
  /** The value, in seconds or as a count. */
  double value;
};

/** The counters of a client at one moment. Move-only. They never change. Any thread. */
class stats {
 public:
  /** Takes ownership of statistics of C. */
  explicit stats(mortise_stats *raw) noexcept : raw_(raw) {}

  /** All numbers. A histogram has one for each bucket, its sum and its count. */
  std::vector<sample> samples() const {
    const mortise_stats *raw = raw_.get();
    std::vector<sample> all;
    for (std::int64_t i = 0; i < mortise_stats_count(raw); ++i) {
      sample one{
          mortise_stats_name(raw, i), mortise_stats_type(raw, i), {}, mortise_stats_value(raw, i)};
      for (std::int64_t j = 0; j < mortise_stats_label_count(raw, i); ++j) {
        one.labels.emplace_back(mortise_stats_label_name(raw, i, j),
                                mortise_stats_label_value(raw, i, j));
      }
      all.push_back(std::move(one));
    }
    return all;
  }
  /** All statistics as one JSON text, as `mortise_stats_json`. */
  std::string_view json() const noexcept { return mortise_stats_json(raw_.get()); }
  /** All statistics in the text format of Prometheus, as `mortise_stats_prometheus`. */
  std::string_view prometheus() const noexcept { return mortise_stats_prometheus(raw_.get()); }

 private:
  struct deleter {
    void operator()(mortise_stats *raw) const noexcept { mortise_stats_free(raw); }
  };
  std::unique_ptr<mortise_stats, deleter> raw_;
};

}  // namespace MORTISE_CXX_NAMESPACE
}  // namespace mortise

#endif  // MORTISE_STATS_HPP
