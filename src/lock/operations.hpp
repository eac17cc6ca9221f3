// The accepted operations of a gate that have not ended, as far as the gate watches their
// deadlines.
#pragma once

#include <set>
#include <utility>

#include "lock/lock_io.hpp"

namespace mortise::lock {

class operations {
 public:
  void accept(operation& accepted) {
    if (accepted.deadline != time_never) deadlines_.emplace(accepted.deadline, &accepted);
  }
  // Undoes accept().
  void retract(operation& rejected) noexcept { deadlines_.erase({rejected.deadline, &rejected}); }
  void end(operation& ended, const outcome& result, std::int64_t token = 0) {
    if (ended.deadline != time_never) retract(ended);
    ended.finish(result, token);
  }

  [[nodiscard]] time_ns next_deadline() const noexcept {
    return deadlines_.empty() ? time_never : deadlines_.begin()->first;
  }
  // The operation with the first deadline. Only if there is a deadline.
  [[nodiscard]] operation& first() const noexcept { return *deadlines_.begin()->second; }

 private:
  std::set<std::pair<time_ns, operation*>> deadlines_;
};

}  // namespace mortise::lock
