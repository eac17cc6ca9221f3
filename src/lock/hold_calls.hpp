// The calls on a hold that wait for a reply: extensions and downgrades, which need a renewal, and
// at most one upgrade and one change of the value.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "lock/gate/owner.hpp"
#include "lock/operations.hpp"

namespace mortise::lock {

// A call of the only holder, one of each kind at a time.
enum class sole_call : std::uint8_t { upgrade, value };

class hold_calls {
 public:
  explicit hold_calls(operations& accepted) : operations_(accepted) {}

  // Accepts one after so many broken requests of the hold; add() then needs no more memory.
  void accept(operation& done, std::uint32_t broken) {
    waiting_.reserve(waiting_.size() + 1);
    operations_.accept(done);
    done.broken_before = broken;
  }
  // Adds an operation of this owner. It ends when the hold is valid until `target`. An extension
  // has a lease, and 0 stands for none.
  void add(operation& done, owner& requester, time_ns target, std::int64_t lease_ms = 0) {
    waiting_.push_back({&done, &requester, target, lease_ms});
  }
  // The latest target of an operation that waits, or 0.
  [[nodiscard]] time_ns latest_target() const noexcept {
    time_ns latest = 0;
    for (const auto& item : waiting_) latest = std::max(latest, item.target);
    return latest;
  }
  // Ends the operations with a target above `above` and up to `until`, or all.
  void finish(const outcome& result, time_ns until = time_never, time_ns above = 0) {
    finish_where(result,
                 [&](const auto& item) { return item.target <= until && item.target > above; });
  }
  // After a renewal. First calls `extend(owner, lease_ms, target)` for each extension.
  template <class Extend>
  void finish_renewed(time_ns until, Extend&& extend) {
    for (const auto& item : waiting_) {
      if (item.lease_ms == 0 || item.target > until) continue;
      extend(*item.requester, item.lease_ms, item.target);
    }
    finish({}, until);
  }
  // Ends the calls of this owner.
  void finish_of(const owner& requester, const outcome& result) {
    finish_where(result, [&](const auto& item) { return item.requester == &requester; });
    for (auto& call : sole_) finish(call, result);
  }
  // Ends this call.
  void abandon(operation& given_up, const outcome& result) {
    for (auto& call : sole_) {
      if (call == &given_up) return finish(call, result);
    }
    finish_where(result, [&](const auto& item) { return item.done == &given_up; });
  }
  [[nodiscard]] bool has(const operation& call) const noexcept {
    const auto is_call = [&](const operation* item) { return item == &call; };
    return std::any_of(sole_.begin(), sole_.end(), is_call) ||
           std::any_of(waiting_.begin(), waiting_.end(),
                       [&](const auto& item) { return is_call(item.done); });
  }

  void add(operation& done, sole_call kind) noexcept { of(kind) = &done; }
  [[nodiscard]] bool has(sole_call kind) const noexcept {
    return sole_[static_cast<std::size_t>(kind)] != nullptr;
  }
  [[nodiscard]] bool is(sole_call kind, const operation& call) const noexcept {
    return sole_[static_cast<std::size_t>(kind)] == &call;
  }
  void finish(sole_call kind, const outcome& result, std::int64_t token = 0) {
    finish(of(kind), result, token);
  }

 private:
  struct extension {
    operation* done;
    owner* requester;
    time_ns target;
    std::int64_t lease_ms;
  };

  operation*& of(sole_call kind) noexcept { return sole_[static_cast<std::size_t>(kind)]; }
  void finish(operation*& call, const outcome& result, std::int64_t token = 0) {
    if (call != nullptr) operations_.end(*std::exchange(call, nullptr), result, token);
  }
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
  std::array<operation*, 2> sole_{};  // by kind
};

}  // namespace mortise::lock
