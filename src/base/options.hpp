// The settings of a client or a handle, with their defaults and ranges. The C ABI's typed setters,
// its text form, URLs and config files all end here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace mortise {

// How far the speeds of the client's clock and the server's may differ, in millionths.
constexpr std::int64_t default_drift_ppm = 100'000;

struct settings {
  std::int64_t lease_ms = 30'000;
  bool renewal = true;
  std::int64_t max_hold_ms = 3'600'000;  // -1: no limit
  bool reentrant_read = false;
  bool reentrant_write = false;  // also of a mutex
  bool fair_strict = false;
  std::string label;
  std::string protocol = "queued";
  std::int64_t poll_interval_ms = 100;  // of protocols without a queue
  std::int64_t poll_attempts = -1;      // -1: no limit
  // For how long a hold in the format of the read-write lock's `hash` counts; 0: as the lease.
  std::int64_t read_lifetime_ms = 0;
  std::int64_t write_lifetime_ms = 0;
  // Of a client only.
  std::int64_t command_timeout_ms = 3'000;
  bool connects_lazily = false;
  std::string client_name;
  std::int64_t busy_poll_us = 0;
  bool release_at_exit = false;
  std::int64_t drift_ppm = default_drift_ppm;
  // The last option of a client that was set here; nullptr for none.
  const char* client_option = nullptr;
};

constexpr std::int64_t longest_ms = 31'622'400'000;  // MORTISE_MAX_MS
constexpr std::int64_t shortest_lease_ms = 50;       // MORTISE_MIN_LEASE_MS
constexpr std::size_t longest_label = 64;            // MORTISE_MAX_LABEL_LEN

// Each leaves the settings as they were when the value is wrong, and says which values are right.
outcome set_lease_ms(settings& values, std::int64_t lease_ms);
outcome set_max_hold_ms(settings& values, std::int64_t max_hold_ms);
outcome set_command_timeout_ms(settings& values, std::int64_t command_timeout_ms);
outcome set_drift_ppm(settings& values, std::int64_t drift_ppm);
outcome set_poll_interval_ms(settings& values, std::int64_t interval_ms);
outcome set_poll_attempts(settings& values, std::int64_t attempts);
outcome set_busy_poll_us(settings& values, std::int64_t busy_poll_us);
// The switches are 0 or 1, as they come through the C ABI.
outcome set_renewal(settings& values, std::int64_t is_on);
outcome set_reentrant(settings& values, std::int64_t is_on);  // both of the next two
outcome set_reentrant_read(settings& values, std::int64_t is_on);
outcome set_reentrant_write(settings& values, std::int64_t is_on);
outcome set_fair_strict(settings& values, std::int64_t is_on);
outcome set_label(settings& values, std::string_view label);
outcome set_client_name(settings& values, std::string_view name);
outcome set_protocol(settings& values, std::string_view protocol);

// One option as text: see mortise_options_set for the keys and forms.
outcome set_option(settings& values, std::string_view key, std::string_view text);

// Whether a handle can be made with these: they have nothing in them that only a client can have.
outcome check_fit_for_handle(const settings& values);

}  // namespace mortise
