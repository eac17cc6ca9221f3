// An acquire or a try, from its acceptance by a gate until its end.
#pragma once

#include <list>
#include <string_view>
#include <utility>

#include "base/system/thread_identity.hpp"
#include "lock/amount.hpp"
#include "lock/gate/owner.hpp"
#include "lock/lock_io.hpp"

namespace mortise::lock {

class acquire_operation : public operation {
 public:
  acquire_operation* as_acquire() noexcept final { return this; }
  lock::owner* owner = nullptr;
  bool is_try = false;
  bool is_of_multi = false;  // the option progress counts from the grant of all members
  lock::amount amount;
  std::string_view adopted;  // the owner token of an exported hold to continue; empty for none
  time_ns began = 0;
  thread_identity thread;  // that the call blocks, or the task that it belongs to

  [[nodiscard]] bool adopts() const noexcept { return !adopted.empty(); }
  // Whether a thread or a task waits for its turn. A try and an adoption have no turn, and end
  // soon.
  [[nodiscard]] bool has_waiting_thread() const noexcept {
    return thread.id != 0 && !is_try && !adopts();
  }
  [[nodiscard]] bool fails_in_deadlock() const noexcept {
    return owner->fails_in_deadlock && has_waiting_thread();
  }
  [[nodiscard]] statistics::lock_statistics& counts() const noexcept {
    return owner->counts_of(amount.mode);
  }

 private:
  friend class claim_queue;
  bool has_found_taken_ = false;  // it has found the lock taken, and was counted
  bool is_repeated_ = false;      // a try, after a release of its own client
  std::list<acquire_operation*>::iterator place_;
};

}  // namespace mortise::lock
