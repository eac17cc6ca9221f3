// Derives the terms of a claim from the terms of its owner.
#pragma once

#include "lock/claim/acquire_operation.hpp"
#include "lock/claim/attempt.hpp"
#include "lock/gate/step_requests.hpp"
#include "lock/lease.hpp"

namespace mortise::lock {

// When a hold ends if `reported` is its last report of progress, or its grant. The last renewal is
// for a whole lease, so the holder has the time of an AT_RISK to react.
inline time_ns end_by_progress(const owner& holder, time_ns reported) noexcept {
  return reported + to_ns(holder.progress_ms) + to_ns(holder.lease_ms);
}

inline lease_terms terms_of(const owner& holder, time_ns from) noexcept {
  lease_terms terms;
  terms.lease_ms = holder.lease_ms;
  terms.renews = holder.renews;
  terms.drift_ppm = holder.drift_ppm;
  terms.lifetimes_ms = holder.lifetimes_ms;
  if (!holder.renews) {
    terms.end.longest = from + to_ns(holder.lease_ms);
    return terms;
  }
  if (holder.max_hold_ms >= 0) terms.end.longest = from + to_ns(holder.max_hold_ms);
  if (holder.progress_ms > 0) terms.end.stalled = end_by_progress(holder, from);
  return terms;
}

// How often a try asks at most while the votes of a quorum are split. A try that gives up leaves
// the lock to the others. A client that sees too few servers cannot distinguish a holder from a
// split.
constexpr std::int64_t split_attempts = 8;

inline wait_terms wait_terms_of(const acquire_operation& acquire, bool follows_own = false,
                                const contention& expected = {}) noexcept {
  const auto attempts = acquire.is_try ? split_attempts : acquire.owner->poll.attempts;
  return {!acquire.is_try, acquire.owner->poll.interval_ms, attempts, follows_own, expected};
}

}  // namespace mortise::lock
