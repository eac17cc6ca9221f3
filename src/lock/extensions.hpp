// The operations that wait for a hold to be prolonged: extensions, and downgrades, which a renewal
// brings.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "lock/operations.hpp"

namespace mortise::lock {

class extensions {
 public:
  explicit extensions(operations& accepted) : operations_(accepted) {}

  // Accepts one; add() then needs no more memory.
  void accept(operation& done) {
    waiting_.reserve(waiting_.size() + 1);
    operations_.accept(done);
  }
  // Asked for: it ends when the hold is valid until then.
  void add(operation& done, time_ns target) { waiting_.push_back({&done, target}); }
  // Ends those that wait for no more than this, or all.
  void finish(const outcome& how, time_ns until = time_never) {
    for (std::size_t i = 0; i < waiting_.size();) {
      if (waiting_[i].target > until) {
        ++i;
        continue;
      }
      auto* const done = waiting_[i].done;
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
      operations_.end(*done, how);
    }
  }
  // Ends this one, if it is one of them.
  void abandon(operation& given_up, const outcome& how) {
    const auto open = std::find_if(waiting_.begin(), waiting_.end(),
                                   [&](const auto& item) { return item.done == &given_up; });
    if (open == waiting_.end()) return;
    waiting_.erase(open);
    operations_.end(given_up, how);
  }
  [[nodiscard]] bool is_empty() const noexcept { return waiting_.empty(); }

 private:
  struct extension {
    operation* done;
    time_ns target;
  };

  operations& operations_;
  std::vector<extension> waiting_;
};

}  // namespace mortise::lock
