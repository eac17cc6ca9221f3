// The holders of one claim: one owner, or several readers. The owners are the nodes of the list, so
// that an insertion needs no memory.
#pragma once

#include <utility>

#include "lock/gate/owner.hpp"

namespace mortise::lock {

class holders {
 public:
  void add(owner& holder) noexcept {
    holder.joint.before = nullptr;
    holder.joint.behind = std::exchange(first_, &holder);
    if (holder.joint.behind != nullptr) holder.joint.behind->joint.before = &holder;
  }
  void remove(owner& holder) noexcept {
    (holder.joint.before != nullptr ? holder.joint.before->joint.behind : first_) =
        holder.joint.behind;
    if (holder.joint.behind != nullptr) holder.joint.behind->joint.before = holder.joint.before;
    holder.joint.before = holder.joint.behind = nullptr;
  }
  [[nodiscard]] bool is_empty() const noexcept { return first_ == nullptr; }
  [[nodiscard]] bool is_one() const noexcept {
    return first_ != nullptr && first_->joint.behind == nullptr;
  }
  // The latest holder, or nullptr. The others follow it in the list.
  [[nodiscard]] owner* first() const noexcept { return first_; }
  // Calls `step(owner)` for each holder. The call may remove that holder.
  template <class Step>
  void each(Step&& step) const {
    for (auto* at = first_; at != nullptr;) step(*std::exchange(at, at->joint.behind));
  }

 private:
  owner* first_ = nullptr;
};

}  // namespace mortise::lock
