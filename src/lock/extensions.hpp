// The operations that wait for a renewal of a hold: extensions and downgrades.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "lock/gate/owner.hpp"
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
  // Adds an operation of this owner. It ends when the hold is valid until `target`.
  void add(operation& done, const owner& requester, time_ns target) {
    waiting_.push_back({&done, &requester, target});
  }
  // Ends the operations with a target up to `until`, or all.
  void finish(const outcome& result, time_ns until = time_never) {
    finish_where(result, [&](const auto& item) { return item.target <= until; });
  }
  // Ends the operations of this owner.
  void finish_of(const owner& requester, const outcome& result) {
    finish_where(result, [&](const auto& item) { return item.requester == &requester; });
  }
  // Ends this operation.
  void abandon(operation& given_up, const outcome& result) {
    finish_where(result, [&](const auto& item) { return item.done == &given_up; });
  }
  [[nodiscard]] bool has(const operation& call) const noexcept {
    return std::any_of(waiting_.begin(), waiting_.end(),
                       [&](const auto& item) { return item.done == &call; });
  }

 private:
  struct extension {
    operation* done;
    const owner* requester;
    time_ns target;
  };

  template <class Which>
  void finish_where(const outcome& result, Which&& is_meant) {
    for (std::size_t i = 0; i < waiting_.size();) {
      if (!is_meant(waiting_[i])) {
        ++i;
        continue;
      }
      auto* const done = waiting_[i].done;
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
      operations_.end(*done, result);
    }
  }

  operations& operations_;
  std::vector<extension> waiting_;
};

}  // namespace mortise::lock
