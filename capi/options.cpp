// mortise_options: a key of the table in base/options.hpp, and its value as a text or a number.
#include "handle_calls.hpp"

namespace {

using mortise::outcome;

template <class Set>
mortise_status set_value(mortise_options* options, mortise_error* error, Set&& set) noexcept {
  return mortise::capi::guard(error, [&]() -> outcome {
    if (options == nullptr) return mortise::capi::is_null("options");
    return set(options->values);
  });
}

mortise_status set_number(mortise_options* options, const char* key, int64_t number,
                          mortise_error* error) noexcept {
  return set_value(options, error, [&](mortise::settings& values) {
    return mortise::set_number(values, key, number);
  });
}

// Rejects an impossible length, such as -1 in an unsigned type, before any byte is read.
outcome check_text(const char* name, const char* text, size_t length, size_t longest = 4096) {
  if (text == nullptr && length > 0) return mortise::capi::is_null(name);
  if (length <= longest) return {};
  return mortise::capi::bad_argument(
      name, std::to_string(length) + " bytes; give at most " + std::to_string(longest));
}

mortise_status set_text(mortise_options* options, const char* key, const char* text, size_t length,
                        mortise_error* error) noexcept {
  return set_value(options, error, [&](mortise::settings& values) -> outcome {
    if (auto checked = check_text(key, text, length); !checked.ok()) return checked;
    return mortise::set_option(values, key, {text == nullptr ? "" : text, length});
  });
}

}  // namespace

mortise_options* mortise_options_new(void) {
  return mortise::capi::guard_value<mortise_options*>(nullptr, [] { return new mortise_options; });
}

mortise_options* mortise_options_new_from(const mortise_client* client, mortise_error* error) {
  return mortise::capi::make<mortise_options>(
      client, error, [](const auto& self, mortise_options& options) -> outcome {
        options.values = self.defaults();
        // The client's own options apply to a client made with these settings, but to no handle.
        options.values.client_option = nullptr;
        return {};
      });
}

void mortise_options_free(mortise_options* options) { delete options; }

mortise_status mortise_options_set(mortise_options* options, const char* key, size_t key_len,
                                   const char* value, size_t value_len, mortise_error* error) {
  return set_value(options, error, [&](mortise::settings& values) -> outcome {
    if (key == nullptr) return mortise::capi::is_null("key");
    if (auto checked = check_text("key", key, key_len); !checked.ok()) return checked;
    if (auto checked = check_text("value", value, value_len, mortise::longest_address_map);
        !checked.ok()) {
      return checked;
    }
    return mortise::set_option(values, {key, key_len}, {value == nullptr ? "" : value, value_len});
  });
}

mortise_status mortise_options_set_lease_ms(mortise_options* options, int64_t lease_ms,
                                            mortise_error* error) {
  return set_number(options, MORTISE_OPTION_LEASE, lease_ms, error);
}

mortise_status mortise_options_set_renewal(mortise_options* options, int32_t is_on,
                                           mortise_error* error) {
  return set_number(options, MORTISE_OPTION_RENEWAL, is_on, error);
}

mortise_status mortise_options_set_max_hold_ms(mortise_options* options, int64_t max_hold_ms,
                                               mortise_error* error) {
  return set_number(options, MORTISE_OPTION_MAX_HOLD, max_hold_ms, error);
}

mortise_status mortise_options_set_progress_ms(mortise_options* options, int64_t progress_ms,
                                               mortise_error* error) {
  return set_number(options, MORTISE_OPTION_PROGRESS, progress_ms, error);
}

mortise_status mortise_options_set_reentrant(mortise_options* options, int32_t is_on,
                                             mortise_error* error) {
  return set_number(options, MORTISE_OPTION_REENTRANT, is_on, error);
}

mortise_status mortise_options_set_reentrant_read(mortise_options* options, int32_t is_on,
                                                  mortise_error* error) {
  return set_number(options, MORTISE_OPTION_REENTRANT_READ, is_on, error);
}

mortise_status mortise_options_set_reentrant_write(mortise_options* options, int32_t is_on,
                                                   mortise_error* error) {
  return set_number(options, MORTISE_OPTION_REENTRANT_WRITE, is_on, error);
}

mortise_status mortise_options_set_protocol(mortise_options* options, const char* protocol,
                                            size_t protocol_len, mortise_error* error) {
  return set_text(options, MORTISE_OPTION_PROTOCOL, protocol, protocol_len, error);
}

mortise_status mortise_options_set_poll_interval_ms(mortise_options* options,
                                                    int64_t poll_interval_ms,
                                                    mortise_error* error) {
  return set_number(options, MORTISE_OPTION_POLL_INTERVAL, poll_interval_ms, error);
}

mortise_status mortise_options_set_poll_attempts(mortise_options* options, int64_t poll_attempts,
                                                 mortise_error* error) {
  return set_number(options, MORTISE_OPTION_POLL_ATTEMPTS, poll_attempts, error);
}

mortise_status mortise_options_set_fair_strict(mortise_options* options, int32_t is_on,
                                               mortise_error* error) {
  return set_number(options, MORTISE_OPTION_FAIR, is_on, error);
}

mortise_status mortise_options_set_retain_ms(mortise_options* options, int64_t retain_ms,
                                             mortise_error* error) {
  return set_number(options, MORTISE_OPTION_RETAIN, retain_ms, error);
}

mortise_status mortise_options_set_label(mortise_options* options, const char* label,
                                         size_t label_len, mortise_error* error) {
  return set_text(options, MORTISE_OPTION_LABEL, label, label_len, error);
}

mortise_status mortise_options_set_command_timeout_ms(mortise_options* options,
                                                      int64_t command_timeout_ms,
                                                      mortise_error* error) {
  return set_number(options, MORTISE_OPTION_COMMAND_TIMEOUT, command_timeout_ms, error);
}

mortise_status mortise_options_set_drift_ppm(mortise_options* options, int64_t drift_ppm,
                                             mortise_error* error) {
  return set_number(options, MORTISE_OPTION_DRIFT, drift_ppm, error);
}
