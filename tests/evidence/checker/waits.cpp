#include "evidence/checker/waits.hpp"

#include <algorithm>
#include <iterator>

namespace mortise::evidence {

namespace {

struct change {
  std::int64_t at_ns;
  int holders;
  int waiters;
};

std::int64_t longest_idle(const lock_usage& usage, const operation_history& history) {
  std::vector<change> changes;
  for (const auto& hold : usage.holds) {
    changes.push_back({hold.from_ns, 1, 0});
    changes.push_back({hold.to_ns, -1, 0});
  }
  for (const auto& wait : usage.waits) {
    changes.push_back({wait.call_ns, 0, 1});
    changes.push_back({wait.return_ns, 0, -1});
  }
  for (const auto& fault : history.faults) {
    changes.push_back({fault.call_ns, 1, 0});
    changes.push_back({fault.return_ns, -1, 0});
  }
  std::sort(changes.begin(), changes.end(),
            [](const auto& left, const auto& right) { return left.at_ns < right.at_ns; });
  std::int64_t longest = 0;
  std::int64_t begin = 0;
  int holders = 0;
  int waiters = 0;
  bool is_idle = false;
  for (auto one = changes.begin(); one != changes.end(); ++one) {
    holders += one->holders;
    waiters += one->waiters;
    if (std::next(one) != changes.end() && std::next(one)->at_ns == one->at_ns) continue;
    if (is_idle) longest = std::max(longest, one->at_ns - begin);
    is_idle = holders == 0 && waiters > 0;
    begin = one->at_ns;
  }
  return longest;
}

// The calls of granted acquires in order, of which each later one that returned first has passed.
class granted_calls {
 public:
  explicit granted_calls(std::size_t size) : sums_(size + 1) {}
  void add(std::size_t place) {
    ++total_;
    for (auto i = place + 1; i < sums_.size(); i += i & -i) ++sums_[i];
  }
  [[nodiscard]] std::int64_t later_than(std::size_t place) const {
    std::int64_t earlier = 0;
    for (auto i = place + 1; i > 0; i -= i & -i) earlier += sums_[i];
    return total_ - earlier;
  }

 private:
  std::vector<std::int64_t> sums_;  // a tree after Fenwick
  std::int64_t total_ = 0;
};

void measure_order(const lock_usage& usage, liveness& found) {
  auto waits = usage.waits;
  std::sort(waits.begin(), waits.end(),
            [](const auto& left, const auto& right) { return left.call_ns < right.call_ns; });
  std::vector<std::size_t> returns(waits.size());
  for (std::size_t i = 0; i < returns.size(); ++i) returns[i] = i;
  std::sort(returns.begin(), returns.end(),
            [&](auto left, auto right) { return waits[left].return_ns < waits[right].return_ns; });
  granted_calls granted(waits.size());
  for (const auto place : returns) {
    const auto& wait = waits[place];
    const auto passed = granted.later_than(place);
    found.most_passed = std::max(found.most_passed, passed);
    if (passed > 0) {
      found.longest_wait_ns = std::max(found.longest_wait_ns, wait.return_ns - wait.call_ns);
    }
    if (wait.is_granted) granted.add(place);
  }
}

}  // namespace

liveness measure_waits(const claims& found, const operation_history& history) {
  liveness sum;
  for (const auto& [name, usage] : found.usage) {
    sum.longest_idle_ns = std::max(sum.longest_idle_ns, longest_idle(usage, history));
    measure_order(usage, sum);
  }
  return sum;
}

}  // namespace mortise::evidence
