// Time in the library: nanoseconds of CLOCK_BOOTTIME in an integer. This clock continues while the
// machine is suspended and never steps, so deadlines computed from it are reliable (hazards 2 and
// 3). No decision about a lock uses wall-clock time.
#pragma once

#include <cstdint>

namespace mortise {

using time_ns = std::int64_t;

constexpr time_ns ns_per_us = 1'000;
constexpr time_ns ns_per_ms = 1'000'000;
constexpr time_ns ns_per_s = 1'000'000'000;

constexpr time_ns to_ns(std::int64_t ms) noexcept { return ms * ns_per_ms; }

// Later than any time: about 146 years, so that adding a duration cannot overflow.
constexpr time_ns time_never = INT64_MAX / 2;

// Rounded down to a value that a double holds exactly, even after more than 2^53 ns (104 days) of
// uptime.
constexpr time_ns exact_as_double(time_ns when) noexcept { return when / 1024 * 1024; }

// The clock; defined in time.cpp. Pure code takes its value as an argument.
time_ns boot_now() noexcept;
// Wall-clock time since 1970. Only for reports, and to choose which wait of a deadlock ends: a
// health check compares it with the server's.
std::int64_t wall_now_us() noexcept;
// The wall-clock time of another time of boot_now(), for a wall clock that did not step since then.
std::int64_t wall_us_at(time_ns when) noexcept;

}  // namespace mortise
