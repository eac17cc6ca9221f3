// One measure between two of another, again and again, so that what changes meanwhile on the host
// changes both.
#pragma once

#include <vector>

namespace mortise::bench {

struct in_turn {
  std::vector<double> ratios;
  std::vector<double> with;
  std::vector<double> without;
};

template <typename With, typename Without>
in_turn compare(int rounds, With&& with, Without&& without) {
  in_turn seen;
  with();
  double before = without();
  for (int i = 0; i < rounds; ++i) {
    const double one = with();
    const double after = without();
    seen.ratios.push_back(one * 2 / (before + after));
    seen.with.push_back(one);
    seen.without.push_back((before + after) / 2);
    before = after;
  }
  return seen;
}

}  // namespace mortise::bench
