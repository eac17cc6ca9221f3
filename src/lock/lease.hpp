// The arithmetic of leases. A lease counts from before the first byte of its request. The margins
// are on the server's side. Pure.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/options.hpp"
#include "base/time.hpp"

namespace mortise::lock {

// The lease of a grant until its holder confirms it by a renewal. A dead or stopped grantee then
// delays its successors by less than two seconds, not by a whole lease.
constexpr std::int64_t grant_lease_ms = 1600;

// The limits of passes within one client while other clients wait: their number, and their time in
// round trips to the server, with bounds. A handover costs about one round trip, so a pass pays off
// when the critical section is shorter. Long sections soon end the turn.
constexpr int batch_passes = 16;
constexpr time_ns batch_trips = 8;
constexpr time_ns batch_least_ns = 2 * ns_per_ms;
constexpr time_ns batch_most_ns = 10 * ns_per_ms;

// How much longer than its lease a lock stays at the server while others wait, so that a waiter
// gets it at its end. Only the scripts use this time, as QUEUE_TURN.
[[maybe_unused]] constexpr std::int64_t queue_turn_ms = 1000;
// How long a queue is kept after the last sign of a waiter. The scripts call it QUEUE_LIFE.
constexpr std::int64_t queue_life_ms = 300'000;
// The longest interval between two checks of a waiter near the head. It is shorter than the lease
// of a grant, so that the waiter finds its grant without a message. It is also shorter than LATE,
// so that the waiter never counts as silent.
constexpr std::int64_t check_interval_ms = 1400;
static_assert(check_interval_ms < grant_lease_ms);

// A grant draws one token. A renewal draws the tokens for local passes, at most this many.
constexpr std::int64_t reserve_tokens = 256;
// The minimum time for each of these tokens, even if they are used faster.
constexpr time_ns token_ns = 3 * ns_per_us / 2;
// A fence counter below this was lost, because real counters are server time in microseconds. The
// scripts call it LEAST_TOKEN.
constexpr std::int64_t least_token = 1'000'000'000'000'000;
// Tokens stay below 2^53, which every language can represent (hazard 30). No larger token is drawn.
constexpr std::int64_t token_limit = std::int64_t{1} << 53;

constexpr std::int64_t millionths = 1'000'000;

// The lifetime at the server for a lease of `lease_ms`. It adds the clock drift and 2 ms for
// rounding, so that the user gets the requested lease.
constexpr std::int64_t server_ttl_ms(std::int64_t lease_ms,
                                     std::int64_t drift_ppm = default_drift_ppm) noexcept {
  return lease_ms + (lease_ms * drift_ppm + millionths - 1) / millionths + 2;
}

// The minimum time by our clock while the server's clock advances by `server_us`. The sum has two
// parts, because one product could overflow.
constexpr std::int64_t least_passed_us(std::int64_t server_us, std::int64_t drift_ppm) noexcept {
  const auto fastest = millionths + drift_ppm;
  return server_us / fastest * millionths + server_us % fastest * millionths / fastest;
}

// The lease of a grant by message.
constexpr std::int64_t grant_ms(std::int64_t lease_ms) noexcept {
  return std::min(lease_ms, grant_lease_ms);
}

}  // namespace mortise::lock
