// The calls on a hold that wait for a reply: extensions and downgrades, which need a renewal, and
// one upgrade at most.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "lock/gate/owner.hpp"
#include "lock/operations.hpp"

namespace mortise::lock {

class hold_calls {
 public:
  explicit hold_calls(operations& accepted) : operations_(accepted) {}

  // Accepts one after so many broken requests of the hold; add() then needs no more memory.
  void accept(operation& done, std::uint32_t broken) {
    waiting_.reserve(waiting_.size() + 1);
    operations_.accept(done);
    done.broken_before = broken;
  }
  // Adds an operation of this owner. It ends when the hold is valid until `target`.
  void add(operation& done, const owner& requester, time_ns target) {
    waiting_.push_back({&done, &requester, target});
  }
  // Ends the operations with a target up to `until`, or all.
  void finish(const outcome& result, time_ns until = time_never) {
    finish_where(result, [&](const auto& item) { return item.target <= until; });
  }
  // Ends the calls of this owner. An upgrade is a call of the only holder.
  void finish_of(const owner& requester, const outcome& result) {
    finish_where(result, [&](const auto& item) { return item.requester == &requester; });
    finish_upgrade(result);
  }
  // Ends this call.
  void abandon(operation& given_up, const outcome& result) {
    if (upgrade_ == &given_up) return finish_upgrade(result);
    finish_where(result, [&](const auto& item) { return item.done == &given_up; });
  }
  [[nodiscard]] bool has(const operation& call) const noexcept {
    return upgrade_ == &call || std::any_of(waiting_.begin(), waiting_.end(),
                                            [&](const auto& item) { return item.done == &call; });
  }

  void add_upgrade(operation& done) noexcept { upgrade_ = &done; }
  [[nodiscard]] bool has_upgrade() const noexcept { return upgrade_ != nullptr; }
  void finish_upgrade(const outcome& result, std::int64_t token = 0) {
    if (upgrade_ != nullptr) operations_.end(*std::exchange(upgrade_, nullptr), result, token);
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
  operation* upgrade_ = nullptr;
};

}  // namespace mortise::lock
