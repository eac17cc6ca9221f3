// The claims of a gate that are being released, and the unlocks that wait for them.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "lock/claim/claim.hpp"
#include "lock/gate/gate_listener.hpp"
#include "lock/gate/owner.hpp"
#include "lock/operations.hpp"

namespace mortise::lock {

struct pending_release {
  std::unique_ptr<lock::claim> claim;
  operation* done = nullptr;     // the unlock that waits for it, or nullptr
  lock::owner* owner = nullptr;  // the owner of that unlock
  // The statistics that count the release, or nullptr if nothing was held.
  statistics::lock_statistics* counts = nullptr;
  bool is_sent_reported = false;  // the unlock has ended; the listener gets a failure
};

class pending_releases {
 public:
  pending_releases(operations& accepted, gate_listener& listener)
      : operations_(accepted), listener_(listener) {}

  // Reserves room for `more` releases, so that they need no memory.
  void reserve(std::size_t more) { pending_.reserve(pending_.size() + more); }
  // The first three return what became of the lock: released, handed over, or unknown without a
  // reply.
  answer add(pending_release release, time_ns now);
  answer on_answer(std::uint64_t claim_id, std::uint32_t serial, const step_result& result,
                   time_ns now);
  answer on_timer(time_ns now);
  void on_up(time_ns now);
  [[nodiscard]] time_ns next_timer() const noexcept;

  // The pending release that this unlock waits for, or nullptr.
  [[nodiscard]] pending_release* of(const operation& unlock) noexcept;
  // Ends the waiting unlock, if any. The handle may then acquire again, and the end of the pending
  // release must not change its state.
  void end_unlock(pending_release& release, const outcome& error);
  // forget() ends the unlocks of this handle. close() ends all unlocks, and sends the last requests
  // at once.
  void forget(const lock::owner& owner);
  void close(time_ns now);
  [[nodiscard]] bool is_empty() const noexcept { return pending_.empty(); }
  // Whether the release of a claim before this one still has no reply.
  [[nodiscard]] bool are_before(std::uint64_t claim_id) const noexcept;
  // Whether an unlock may still wait for one of the replies.
  [[nodiscard]] bool are_awaited() const noexcept;

 private:
  void end_sent_unlock(pending_release& release);
  answer report_result(pending_release& release);
  answer drop_released();

  operations& operations_;
  gate_listener& listener_;
  std::vector<pending_release> pending_;
};

}  // namespace mortise::lock
