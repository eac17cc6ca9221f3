#include "lock/gate/owner.hpp"

#include <cassert>

namespace mortise::lock {

void owner::enter(owner_state next) noexcept {
  assert(is_transition(state_, next));
  state_ = next;
  if (next != owner_state::acquiring && next != owner_state::held) queue = nullptr;
}

outcome owner::busy() const {
  return outcome::because(
      status::busy, state_ == owner_state::acquiring
                        ? "another call on this handle is acquiring; wait for it, or give each "
                          "concurrent user a handle of its own"
                        : "another call on this handle is unlocking; wait for it, or give each "
                          "concurrent user a handle of its own");
}

outcome owner::check_held() const {
  switch (state_) {
    case owner_state::idle:
      return outcome::because(status::not_owner,
                              token == 0 ? "nothing was acquired with this handle yet"
                                         : "the last hold of this handle has ended already");
    case owner_state::acquiring:
    case owner_state::unlocking:
      return busy();
    case owner_state::lost:
      return outcome::lost(loss);
    case owner_state::held:
      break;
  }
  return {};
}

outcome owner::check_number(std::int64_t number) const {
  if (number == 0) return {};
  // While it acquires, the last hold has ended.
  if (number == hold_number && state_ != owner_state::acquiring) return {};
  return outcome::because(status::lost, "this hold has ended; its handle was acquired again");
}

outcome owner::unlock_lost(hold_mode mode) noexcept {
  --hold_count(mode);
  if (holds() == 0) enter(owner_state::idle);
  return outcome::lost(loss);
}

outcome owner::check_again(hold_mode mode) const {
  if (mode == hold_mode::exclusive && !has_hold(hold_mode::exclusive)) {
    return outcome::of(status::already_held,
                       "this handle holds the lock in shared mode; unlock it first, or upgrade it");
  }
  if (may_reenter(mode)) return {};
  return outcome::of(status::already_held,
                     "this handle holds the lock; unlock it first, or set reentrant=on");
}

outcome owner::check_single(hold_mode mode) const {
  const bool has_whole = has_hold(hold_mode::exclusive);
  if (mode == hold_mode::shared && has_whole) {
    return outcome::of(status::already_held,
                       "this handle already holds the lock in exclusive mode");
  }
  if (mode == hold_mode::exclusive && !has_whole) {
    return outcome::of(status::not_owner, "this handle does not hold the lock in exclusive mode");
  }
  if (holds() <= 1) return {};
  return outcome::of(status::already_held,
                     "this handle was acquired more than once; unlock all but one first");
}

}  // namespace mortise::lock
