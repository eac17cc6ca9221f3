/** Settings of a client and of handles. */
#ifndef MORTISE_OPTIONS_HPP
#define MORTISE_OPTIONS_HPP

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "result.hpp"
#include "timeout.hpp"

namespace mortise {
inline namespace MORTISE_CXX_NAMESPACE {

namespace detail {

struct options_deleter {
  void operator()(mortise_options *options) const noexcept { mortise_options_free(options); }
};
using raw_options = std::unique_ptr<mortise_options, options_deleter>;

}  // namespace detail

/**
 * Settings that override a base: those of a client override the defaults, and those of a handle
 * override its client's. A wrong setting shows when it is used: the constructor returns
 * status::invalid_argument. docs/options.md lists all options. Copyable. One thread at a time while
 * it changes.
 */
class options {
 public:
  /**
   * Sets one option from text, as the URL's query does.
   * @param key one of MORTISE_OPTION_LEASE to MORTISE_OPTION_METRICS_NAME.
   */
  options &set(std::string_view key, std::string_view value) {
    settings_.emplace_back(key, value);
    return *this;
  }
  /** How long a hold lasts unless it is renewed. Default 15 s. */
  template <class Count, class Period>
  options &lease(std::chrono::duration<Count, Period> lease) {
    return set_ms(MORTISE_OPTION_LEASE, detail::to_lease_ms(lease));
  }
  /** Whether the client renews holds by itself. Default on. */
  options &renewal(bool is_on) { return set_switch(MORTISE_OPTION_RENEWAL, is_on); }
  /** How long a hold is renewed, or forever. Default 1 hour. */
  options &max_hold(const timeout &most) {
    if (most.ms() == MORTISE_FOREVER) return set(MORTISE_OPTION_MAX_HOLD, "unlimited");
    return set_ms(MORTISE_OPTION_MAX_HOLD, most.ms());
  }
  /** How long a hold is renewed after the last `progress`. Default 0: no report is needed. */
  template <class Count, class Period>
  options &progress(std::chrono::duration<Count, Period> progress) {
    return set_ms(MORTISE_OPTION_PROGRESS, detail::to_lease_ms(progress));
  }
  /** Whether a handle may acquire again what it holds. Each acquire needs an unlock. */
  options &reentrant(bool is_on) { return set_switch(MORTISE_OPTION_REENTRANT, is_on); }
  /** The same for reading only. */
  options &reentrant_read(bool is_on) { return set_switch(MORTISE_OPTION_REENTRANT_READ, is_on); }
  /** The same for writing, and for a mutex. */
  options &reentrant_write(bool is_on) { return set_switch(MORTISE_OPTION_REENTRANT_WRITE, is_on); }
  /** First come, first served among all clients, instead of in batches. */
  options &fair_strict(bool is_on) { return set(MORTISE_OPTION_FAIR, is_on ? "strict" : "batch"); }
  /** Whether an unlock ends when it is sent. A later failure is then a log record. */
  options &release_sent(bool is_on) {
    return set(MORTISE_OPTION_RELEASE, is_on ? "sent" : "answered");
  }
  /** How long an unlock keeps the lock for this client's next acquire. Default 0. */
  template <class Count, class Period>
  options &retain(std::chrono::duration<Count, Period> retain) {
    return set_ms(MORTISE_OPTION_RETAIN, detail::to_lease_ms(retain));
  }
  /** A text that queries show for the handle. */
  options &label(std::string_view label) { return set(MORTISE_OPTION_LABEL, label); }
  /** The format of locks at the server. See `mortise_options_set_protocol`. */
  options &protocol(std::string_view protocol) { return set(MORTISE_OPTION_PROTOCOL, protocol); }
  /** The average pause between two attempts of a protocol without a queue. */
  template <class Count, class Period>
  options &poll_interval(std::chrono::duration<Count, Period> interval) {
    return set_ms(MORTISE_OPTION_POLL_INTERVAL, detail::to_lease_ms(interval));
  }
  /** The largest number of such attempts of one acquire. */
  options &poll_attempts(std::int64_t most) {
    return set(MORTISE_OPTION_POLL_ATTEMPTS, std::to_string(most));
  }
  /** The deadline of calls without a timeout. Default 3 s. For clients only. */
  template <class Count, class Period>
  options &command_timeout(std::chrono::duration<Count, Period> timeout) {
    return set_ms(MORTISE_OPTION_COMMAND_TIMEOUT, detail::to_lease_ms(timeout));
  }
  /** How far the clocks may differ in speed, in millionths. For clients only. */
  options &drift_ppm(std::int64_t drift_ppm) {
    return set(MORTISE_OPTION_DRIFT, std::to_string(drift_ppm) + "ppm");
  }
  /** Whether a client connects in the background. For clients only. */
  options &lazy_connect(bool is_on) { return set(MORTISE_OPTION_CONNECT, is_on ? "lazy" : "wait"); }

  /** Whether nothing was set. */
  bool is_empty() const noexcept { return settings_.empty(); }

  /** These settings over a base of C, which may be NULL when it failed. For the other headers. */
  result<detail::raw_options> over(mortise_options *base, mortise_error *filled) const {
    detail::raw_options whole(base);
    if (!whole) return unexpected(detail::error_from_null(filled));
    for (const auto &[key, value] : settings_) {
      const mortise_status code = mortise_options_set(whole.get(), key.data(), key.size(),
                                                      value.data(), value.size(), filled);
      if (code != MORTISE_OK) return unexpected(detail::error_from(code, filled));
    }
    return whole;
  }

 private:
  options &set_switch(std::string_view key, bool is_on) { return set(key, is_on ? "on" : "off"); }
  options &set_ms(std::string_view key, std::int64_t ms) { return set(key, std::to_string(ms)); }

  std::vector<std::pair<std::string, std::string>> settings_;
};

}  // namespace MORTISE_CXX_NAMESPACE
}  // namespace mortise

#endif  // MORTISE_OPTIONS_HPP
