#include "lock/gate/gate_report.hpp"

#include <algorithm>

#include "lock/gate/gate.hpp"
#include "lock/queue/claim_queue.hpp"

namespace mortise::lock {

namespace {

// Counts the waiters, and describes the first of all.
void add_waiters(gate_report& report, const claim_queue& queue, time_ns now) {
  report.waiters += queue.waiter_count();
  const auto* const first = queue.first_waiter();
  if (first == nullptr || now - first->began < report.waited_ns) return;
  report.waited_ns = now - first->began;
  if (report.holds > 0 || report.retained > 0) return;
  report.mode = first->amount.mode;
  report.label = first->owner->label;
}

void add_retained(gate_report& report, const claim_queue& queue, time_ns now) {
  if (!queue.is_retained() || now >= queue.retained_until()) return;
  ++report.retained;
  report.retained_claims.push_back(queue.claim()->token());
  if (report.holds > 0) return;
  report.mode = queue.claim()->mode();
  report.left_ns = std::max(report.left_ns, queue.retained_until() - now);
}

std::int64_t counted(std::int64_t permits) noexcept {
  return permits == exclusive_permits ? 1 : permits;
}

void add_waiting_threads(gate_report& report, const claim_queue& queue, time_ns now) {
  for (const auto* waiter : queue.waiters()) {
    if (!waiter->has_waiting_thread()) continue;
    report.threads.push_back({.thread = waiter->thread,
                              .mode = waiter->amount.mode,
                              .permits = counted(waiter->amount.permits),
                              .lasts_ns = now - waiter->began,
                              .fails_in_deadlock = waiter->fails_in_deadlock(),
                              .began = waiter->began});
  }
}

}  // namespace

// Describes the holder that has held for the longest time.
void gate::add_holders(gate_report& report, const claim_queue& queue, time_ns now) const {
  const auto before = report.holds;
  queue.held_by().each([&](const lock::owner& holder) {
    if (!lasts(holder, now)) return;
    if (++report.holds > 1 && now - holder.held_since <= report.held_ns) return;
    report.mode = holder.has_hold(hold_mode::exclusive) ? hold_mode::exclusive : hold_mode::shared;
    report.label = holder.label;
    report.value = queue.claim()->value().text();
    report.token = holder.token;
    report.held_ns = now - holder.held_since;
    report.left_ns = std::max<time_ns>(0, valid_until(holder) - now);
  });
  // A writer counts as 1, because its lock counts no permits.
  const auto permits = report.holds == before ? 0 : queue.claim()->requests().amount().permits;
  report.permits += counted(permits);
}

void gate::add_holding_threads(gate_report& report, const claim_queue& queue, time_ns now) const {
  queue.held_by().each([&](const lock::owner& holder) {
    if (holder.thread.id == 0 || !lasts(holder, now)) return;
    const auto mode =
        holder.has_hold(hold_mode::exclusive) ? hold_mode::exclusive : hold_mode::shared;
    report.threads.push_back({.thread = holder.thread,
                              .is_hold = true,
                              .mode = mode,
                              .permits = counted(queue.claim()->requests().amount().permits),
                              .lasts_ns = now - holder.held_since});
  });
}

void gate::add_present(std::vector<lock_event>& target, std::size_t most, time_ns now) const {
  const auto add = [&](const lock_event& event) {
    if (target.size() < most) target.push_back(event);
  };
  for (const auto& each : queues_) {
    const auto permits = each->claim() == nullptr ? 0 : each->claim()->requests().amount().permits;
    each->held_by().each([&](const lock::owner& holder) {
      if (!lasts(holder, now)) return;
      auto event = gate_journal::of_hold(event_kind::holds, holder, now);
      event.permits = counted(permits);
      add(event);
    });
    if (each->is_retained() && now < each->retained_until()) {
      lock_event event;
      event.kind = event_kind::retains;
      event.mode = each->claim()->mode();
      event.at = now;
      add(event);
    }
    for (const auto* waiter : each->waiters()) {
      add(gate_journal::of_wait(event_kind::waits, *waiter, now));
    }
  }
}

gate_report gate::report(time_ns now) const {
  gate_report report;
  report.traffic = common_.traffic;
  for (const auto& each : queues_) add_holders(report, *each, now);
  for (const auto& each : queues_) add_retained(report, *each, now);
  for (const auto& each : queues_) add_waiters(report, *each, now);
  for (const auto& each : queues_) {
    add_holding_threads(report, *each, now);
    add_waiting_threads(report, *each, now);
  }
  return report;
}

}  // namespace mortise::lock
