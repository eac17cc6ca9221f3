// The arithmetic of leases: a lease counts from before the first byte of its request, and the
// margins are on the server's side. Pure.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/options.hpp"
#include "base/time.hpp"

namespace mortise::lock {

// A grant that its receiver has not confirmed by a renewal ends this soon, so that a grantee who is
// dead or stopped costs its successors less than two seconds, not a whole lease.
constexpr std::int64_t grant_lease_ms = 1600;

// How many waiters of one client may pass the lock on among themselves, and for how long, while
// other clients wait: so many round trips to the server, within these bounds. A handoff costs about
// one, so passes are worth their wait to the others where the sections are shorter than that; long
// ones are soon the others' turn.
constexpr int batch_passes = 16;
constexpr time_ns batch_trips = 8;
constexpr time_ns batch_least_ns = 2 * ns_per_ms;
constexpr time_ns batch_most_ns = 10 * ns_per_ms;

// How much longer than its lease a lock stays at the server while others wait for it, so that its
// end is theirs. The scripts alone keep to it; their name for it is QUEUE_TURN.
[[maybe_unused]] constexpr std::int64_t queue_turn_ms = 1000;
// How long beyond the last sign of a waiter a queue is kept: QUEUE_LIFE.
constexpr std::int64_t queue_life_ms = 300'000;
// How often a waiter near the head looks at the least. Less than a grant lasts, so that it finds
// its own without a message; and than LATE, so that it is never taken for silent.
constexpr std::int64_t look_interval_ms = 1400;
static_assert(look_interval_ms < grant_lease_ms);

// A grant draws one token. Those for local passes are drawn with a renewal, so many at most.
constexpr std::int64_t reserve_tokens = 256;
// So much time there is for each of them at the least, however fast they are used.
constexpr time_ns token_ns = 3 * ns_per_us / 2;
// A fence counter below this was lost: real ones are server time in microseconds. LEAST_TOKEN.
constexpr std::int64_t least_token = 1'000'000'000'000'000;
// Tokens stay below 2^53, where every language can count (hazard 30); nobody draws a larger one.
constexpr std::int64_t token_limit = std::int64_t{1} << 53;

constexpr std::int64_t millionths = 1'000'000;

// What the server is told for a lease of `lease_ms`: the drift of the clocks and 2 ms for rounding
// on top, so that the user gets the lease that was asked for.
constexpr std::int64_t server_ttl_ms(std::int64_t lease_ms,
                                     std::int64_t drift_ppm = default_drift_ppm) noexcept {
  return lease_ms + (lease_ms * drift_ppm + millionths - 1) / millionths + 2;
}

// How much time has passed here at least while the server's clock has gone on by so much. In two
// parts, because the product of all of it could overflow.
constexpr std::int64_t least_passed_us(std::int64_t server_us, std::int64_t drift_ppm) noexcept {
  const auto fastest = millionths + drift_ppm;
  return server_us / fastest * millionths + server_us % fastest * millionths / fastest;
}

// The lease of a grant by message.
constexpr std::int64_t grant_ms(std::int64_t lease_ms) noexcept {
  return std::min(lease_ms, grant_lease_ms);
}

}  // namespace mortise::lock
