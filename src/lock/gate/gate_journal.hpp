// Reports what happens to the waits and holds of a gate to the tracepoints and to its listener. An
// acquire that finds the lock free, and its unlock, are two events.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/probe.hpp"
#include "base/status.hpp"
#include "lock/claim/acquire_operation.hpp"
#include "lock/gate/gate_listener.hpp"
#include "lock/gate/owner.hpp"
#include "lock/lock_event.hpp"

namespace mortise::lock {

class gate_journal {
 public:
  explicit gate_journal(gate_listener& observer) : listener_(observer) {}

  void wait_began(const acquire_operation& waiter) const noexcept {
    probe::wait_start(waiter.owner, waiter.owner->trace.lock_name);
    listener_.on_wait_began(waiter);
  }
  void found_taken(const acquire_operation& waiter) const noexcept {
    listener_.on_event(of_wait(event_kind::began, waiter, waiter.began));
  }
  // `place` in the queue; -1 if unknown.
  void queued(const acquire_operation& waiter, std::int64_t place, time_ns now) const noexcept {
    auto event = of_wait(event_kind::queued, waiter, now);
    event.code = static_cast<std::int32_t>(std::min<std::int64_t>(place + 1, INT32_MAX));
    listener_.on_event(event);
  }
  void granted(const acquire_operation& waiter, bool is_passed, time_ns now) const noexcept {
    const auto& holder = *waiter.owner;
    probe::grant(&holder, holder.trace.lock_name, holder.token);
    auto event = of_wait(is_passed ? event_kind::passed : event_kind::granted, waiter, now);
    event.token = holder.token;
    event.hold_number = holder.hold_number;
    listener_.on_event(event);
  }
  void wait_ended(const acquire_operation& waiter, status code, time_ns now) const noexcept {
    const auto number = static_cast<std::int32_t>(code);
    probe::wait_end(waiter.owner, waiter.owner->trace.lock_name, number, now - waiter.began);
    if (code == status::ok) return;
    auto event = of_wait(event_kind::ended, waiter, now);
    event.code = number;
    listener_.on_event(event);
  }

  // Before its hold counts change.
  void released(const owner& holder, time_ns now) const noexcept {
    probe::release(&holder, holder.trace.lock_name, holder.token, now - holder.held_since);
    auto event = of_hold(event_kind::released, holder, now);
    if (holder.is_freed) event.code = static_cast<std::int32_t>(status::closed);
    listener_.on_event(event);
  }
  void exported(const owner& holder, time_ns now) const noexcept {
    probe::release(&holder, holder.trace.lock_name, holder.token, now - holder.held_since);
    changed(event_kind::exported, holder, now);
  }
  void lost(const owner& loser, reason why, time_ns now) const noexcept {
    const auto number = static_cast<std::int32_t>(why);
    probe::loss(&loser, loser.trace.lock_name, loser.token, number, now - loser.held_since);
    auto event = of_hold(event_kind::lost, loser, now);
    event.code = number;
    listener_.on_event(event);
  }
  void changed(event_kind what, const owner& holder, time_ns now) const noexcept {
    listener_.on_event(of_hold(what, holder, now));
  }
  // A retained claim is not taken up.
  void returned(time_ns now) const noexcept {
    lock_event event;
    event.kind = event_kind::returned;
    event.at = now;
    listener_.on_event(event);
  }

  static lock_event of_wait(event_kind what, const acquire_operation& waiter,
                            time_ns now) noexcept {
    lock_event event;
    event.kind = what;
    event.mode = waiter.amount.mode;
    // A writer counts as 1, because its lock counts no permits.
    event.permits = waiter.amount.permits == exclusive_permits ? 1 : waiter.amount.permits;
    event.handle = waiter.owner->trace.number;
    event.at = now;
    event.since = waiter.began;
    return event;
  }
  static lock_event of_hold(event_kind what, const owner& holder, time_ns now) noexcept {
    lock_event event;
    event.kind = what;
    event.mode = holder.has_hold(hold_mode::exclusive) ? hold_mode::exclusive : hold_mode::shared;
    event.handle = holder.trace.number;
    event.token = holder.token;
    event.hold_number = holder.hold_number;
    event.at = now;
    event.since = holder.held_since;
    return event;
  }

 private:
  gate_listener& listener_;
};

}  // namespace mortise::lock
