// The claims of a gate that are being given back, and the unlocks that wait for that.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "lock/claim.hpp"
#include "lock/gate_listener.hpp"
#include "lock/operations.hpp"
#include "lock/owner.hpp"

namespace mortise::lock {

struct pending_release {
  std::unique_ptr<lock::claim> claim;
  operation* done = nullptr;     // the unlock that waits for it, or nullptr
  lock::owner* owner = nullptr;  // whose unlock that is
  // Where it is counted what becomes of the lock; none where nothing was held.
  statistics::lock_statistics* counts = nullptr;
  bool was_told_sent = false;  // the unlock has ended, so that a failure is the listener's
};

class pending_releases {
 public:
  pending_releases(operations& accepted, gate_listener& listener)
      : operations_(accepted), listener_(listener) {}

  // Room for so many more, so that claims can be left without memory.
  void reserve(std::size_t more) { pending_.reserve(pending_.size() + more); }
  // These four say what became of the lock: released, handed over, or unknown when no word of it
  // came.
  answer add(pending_release leaving, time_ns now);
  answer on_answer(std::uint64_t claim_id, std::uint32_t serial, const step_result& said,
                   time_ns now);
  answer on_timer(time_ns now);
  void on_up(time_ns now);
  [[nodiscard]] time_ns next_timer() const noexcept;

  // That which this unlock waits for, or nullptr.
  [[nodiscard]] pending_release* of(const operation& unlock) noexcept;
  // Ends the unlock that waits for it, if any. From then on the handle may acquire again, which the
  // end of the pending_release must not undo.
  void tell(pending_release& gone, const outcome& how);
  // Those of this handle have nobody to be told any more; of all, and the last word is said at
  // once.
  void forget(const lock::owner& owner);
  void close(time_ns now);
  [[nodiscard]] bool is_empty() const noexcept { return pending_.empty(); }
  // Whether any is one whose answer its unlock would wait for.
  [[nodiscard]] bool are_awaited() const noexcept;

 private:
  void tell_sent(pending_release& gone);
  answer tell_result(pending_release& gone);
  answer drop_released();

  operations& operations_;
  gate_listener& listener_;
  std::vector<pending_release> pending_;
};

}  // namespace mortise::lock
