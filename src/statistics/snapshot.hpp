// All counts at one moment: families of samples with their labels. JSON, Prometheus' text and the C
// ABI are written from them, so they have the same names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "statistics/counter.hpp"

namespace mortise::statistics {

using labels = std::vector<std::pair<const char*, std::string>>;

enum class family_type : std::uint8_t { counter, gauge, histogram };

// One number, as in Prometheus' text. A histogram has several.
struct sample {
  std::string name;
  const char* type;
  statistics::labels labels;
  double value = 0;
};

struct family {
  struct entry {
    statistics::labels labels;
    double value = 0;              // of a counter or gauge
    histogram::reading durations;  // of a histogram
  };

  const char* name;
  family_type type;
  const char* help;
  const char* labels;  // labels of its entries, for the page about statistics
  std::vector<entry> entries{};
};

const char* type_text(family_type type) noexcept;
// The upper bound of a histogram's bucket in seconds, or "+Inf" for the last.
std::string bound_text(std::size_t bucket);

class snapshot {
 public:
  // All families, without entries.
  snapshot();

  // `family_name` is in the table in snapshot.cpp.
  void add(std::string_view family_name, labels pairs, double value);
  // Adds nothing for an empty histogram.
  void add(std::string_view family_name, labels pairs, const histogram& durations);

  [[nodiscard]] const std::vector<family>& families() const noexcept { return families_; }
  [[nodiscard]] std::vector<sample> samples() const;
  [[nodiscard]] std::string json() const;
  // Prometheus' text format 0.0.4.
  [[nodiscard]] std::string prometheus() const;

 private:
  family& find(std::string_view name);

  std::vector<family> families_;
};

}  // namespace mortise::statistics
