#include "lock/gate_report.hpp"

#include <algorithm>

#include "lock/claim_queue.hpp"
#include "lock/gate.hpp"

namespace mortise::lock {

namespace {

// Counts the waiters, and describes the first of all.
void add_waiters(gate_report& told, const claim_queue& in, time_ns now) {
  told.waiters += in.waiter_count();
  const auto* const first = in.first_waiter();
  if (first == nullptr || now - first->began < told.waited_ns) return;
  told.waited_ns = now - first->began;
  if (told.holds > 0 || told.retained > 0) return;
  told.mode = first->wanted.mode;
  told.label = first->owner->label;
}

void add_retained(gate_report& told, const claim_queue& in, time_ns now) {
  if (!in.is_retained() || now >= in.retained_until()) return;
  ++told.retained;
  told.retained_claims.push_back(in.claim()->token());
  if (told.holds > 0) return;
  told.mode = in.claim()->mode();
  told.left_ns = std::max(told.left_ns, in.retained_until() - now);
}

}  // namespace

// Describes the holder that has held for the longest time.
void gate::add_holders(gate_report& told, const claim_queue& in, time_ns now) const {
  const auto before = told.holds;
  in.held_by().each([&](const lock::owner& holder) {
    if (!lasts(holder, now)) return;
    if (++told.holds > 1 && now - holder.held_since <= told.held_ns) return;
    told.mode = holder.has_hold(hold_mode::exclusive) ? hold_mode::exclusive : hold_mode::shared;
    told.label = holder.label;
    told.token = holder.token;
    told.held_ns = now - holder.held_since;
    told.left_ns = std::max<time_ns>(0, valid_until(holder) - now);
  });
  // A writer's weight counts as 1, because its lock counts no permits.
  const auto weight = told.holds == before ? 0 : in.claim()->weight();
  told.weight += weight == exclusive_permits ? 1 : weight;
}

gate_report gate::report(time_ns now) const {
  gate_report told;
  told.traffic = common_.traffic;
  for (const auto& each : queues_) add_holders(told, *each, now);
  for (const auto& each : queues_) add_retained(told, *each, now);
  for (const auto& each : queues_) add_waiters(told, *each, now);
  return told;
}

}  // namespace mortise::lock
