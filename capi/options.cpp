// mortise_options.
#include "handle_calls.hpp"

namespace {

using mortise::outcome;
using mortise::settings;

template <class Set>
mortise_status set_value(mortise_options* options, mortise_error* error, Set&& set) noexcept {
  return mortise::capi::guard(error, [&]() -> outcome {
    if (options == nullptr) return mortise::capi::is_null("options");
    return set(options->values);
  });
}

// A length that no text has, such as -1 in an unsigned type, is refused before anything is read.
outcome check_length(const char* name, size_t length) {
  constexpr size_t longest = 4096;
  if (length <= longest) return {};
  return mortise::capi::bad_argument(
      name, std::to_string(length) + " bytes; give at most " + std::to_string(longest));
}

}  // namespace

mortise_options* mortise_options_new(void) {
  return mortise::capi::guard_value<mortise_options*>(nullptr, [] { return new mortise_options; });
}

mortise_options* mortise_options_new_from(const mortise_client* client, mortise_error* error) {
  return mortise::capi::make<mortise_options>(
      client, error, [](const auto& self, mortise_options& options) -> outcome {
        options.values = self.defaults();
        // Its own options stay in force for a client that is made with these, and are no handle's.
        options.values.client_option = nullptr;
        return {};
      });
}

void mortise_options_free(mortise_options* options) { delete options; }

mortise_status mortise_options_set(mortise_options* options, const char* key, size_t key_len,
                                   const char* value, size_t value_len, mortise_error* error) {
  return set_value(options, error, [&](settings& values) -> outcome {
    if (key == nullptr) return mortise::capi::is_null("key");
    if (value == nullptr && value_len > 0) return mortise::capi::is_null("value");
    if (auto checked = check_length("key", key_len); !checked.ok()) return checked;
    if (auto checked = check_length("value", value_len); !checked.ok()) return checked;
    return mortise::set_option(values, {key, key_len}, {value == nullptr ? "" : value, value_len});
  });
}

mortise_status mortise_options_set_lease_ms(mortise_options* options, int64_t lease_ms,
                                            mortise_error* error) {
  return set_value(options, error,
                   [&](settings& values) { return mortise::set_lease_ms(values, lease_ms); });
}

mortise_status mortise_options_set_renewal(mortise_options* options, int32_t is_on,
                                           mortise_error* error) {
  return set_value(options, error,
                   [&](settings& values) { return mortise::set_renewal(values, is_on); });
}

mortise_status mortise_options_set_max_hold_ms(mortise_options* options, int64_t max_hold_ms,
                                               mortise_error* error) {
  return set_value(options, error,
                   [&](settings& values) { return mortise::set_max_hold_ms(values, max_hold_ms); });
}

mortise_status mortise_options_set_reentrant(mortise_options* options, int32_t is_on,
                                             mortise_error* error) {
  return set_value(options, error,
                   [&](settings& values) { return mortise::set_reentrant(values, is_on); });
}

mortise_status mortise_options_set_reentrant_read(mortise_options* options, int32_t is_on,
                                                  mortise_error* error) {
  return set_value(options, error,
                   [&](settings& values) { return mortise::set_reentrant_read(values, is_on); });
}

mortise_status mortise_options_set_reentrant_write(mortise_options* options, int32_t is_on,
                                                   mortise_error* error) {
  return set_value(options, error,
                   [&](settings& values) { return mortise::set_reentrant_write(values, is_on); });
}

mortise_status mortise_options_set_protocol(mortise_options* options, const char* protocol,
                                            size_t protocol_len, mortise_error* error) {
  return set_value(options, error, [&](settings& values) -> outcome {
    if (protocol == nullptr) return mortise::capi::is_null("protocol");
    return mortise::set_protocol(values, {protocol, protocol_len});
  });
}

mortise_status mortise_options_set_poll_interval_ms(mortise_options* options,
                                                    int64_t poll_interval_ms,
                                                    mortise_error* error) {
  return set_value(options, error, [&](settings& values) {
    return mortise::set_poll_interval_ms(values, poll_interval_ms);
  });
}

mortise_status mortise_options_set_poll_attempts(mortise_options* options, int64_t poll_attempts,
                                                 mortise_error* error) {
  return set_value(options, error, [&](settings& values) {
    return mortise::set_poll_attempts(values, poll_attempts);
  });
}

mortise_status mortise_options_set_fair_strict(mortise_options* options, int32_t is_on,
                                               mortise_error* error) {
  return set_value(options, error,
                   [&](settings& values) { return mortise::set_fair_strict(values, is_on); });
}

mortise_status mortise_options_set_label(mortise_options* options, const char* label,
                                         size_t label_len, mortise_error* error) {
  return set_value(options, error, [&](settings& values) -> outcome {
    if (label == nullptr && label_len > 0) return mortise::capi::is_null("label");
    return mortise::set_label(values, {label == nullptr ? "" : label, label_len});
  });
}

mortise_status mortise_options_set_command_timeout_ms(mortise_options* options,
                                                      int64_t command_timeout_ms,
                                                      mortise_error* error) {
  return set_value(options, error, [&](settings& values) {
    return mortise::set_command_timeout_ms(values, command_timeout_ms);
  });
}

mortise_status mortise_options_set_drift_ppm(mortise_options* options, int64_t drift_ppm,
                                             mortise_error* error) {
  return set_value(options, error,
                   [&](settings& values) { return mortise::set_drift_ppm(values, drift_ppm); });
}
