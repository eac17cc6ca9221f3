// Time as the library sees it: nanoseconds of CLOCK_BOOTTIME in an integer. It runs on while the
// machine is suspended and never steps, so a deadline computed from it can be believed (hazards 2
// and 3). Nothing about a lock is decided by wall-clock time.
#pragma once

#include <cstdint>

namespace mortise {

using time_ns = std::int64_t;

constexpr time_ns ns_per_us = 1'000;
constexpr time_ns ns_per_ms = 1'000'000;
constexpr time_ns ns_per_s = 1'000'000'000;

constexpr time_ns to_ns(std::int64_t ms) noexcept { return ms * ns_per_ms; }

// Later than anything: about 146 years, so that adding a duration to it cannot overflow.
constexpr time_ns time_never = INT64_MAX / 2;

// Rounded down to what a double holds exactly, also where more than 2^53 ns (104 days) have passed
// since the machine was started.
constexpr time_ns exact_as_double(time_ns when) noexcept { return when / 1024 * 1024; }

// The clock; defined in time.cpp. Pure code is handed its value.
time_ns boot_now() noexcept;
// Wall-clock time, since 1970, only to be told of: a health check compares it with the server's.
std::int64_t wall_now_us() noexcept;

}  // namespace mortise
