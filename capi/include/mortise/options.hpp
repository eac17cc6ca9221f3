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
 * Settings that differ from what they are laid over: of a client from the defaults, and of a handle
 * from those of its client. A wrong one is said by what is made with them:
 * status::invalid_argument. All of them are on the page docs/options.md. Copyable; one thread
 * at a time while it is changed.
 * @since 1.2
 */
class options {
 public:
  /**
   * Sets one from text, as the URL's query does.
   * @param key one of MORTISE_OPTION_LEASE to MORTISE_OPTION_METRICS_NAME.
   * @since 1.2
   */
  options &set(std::string_view key, std::string_view value) {
    settings_.emplace_back(key, value);
    return *this;
  }
  /** How long a hold lasts unless renewed, 30 s unless set. @since 1.2 */
  template <class Count, class Period>
  options &lease(std::chrono::duration<Count, Period> lease) {
    return set_ms(MORTISE_OPTION_LEASE, detail::to_lease_ms(lease));
  }
  /** Whether holds are renewed by themselves, on unless set. @since 1.2 */
  options &renewal(bool is_on) { return set_switch(MORTISE_OPTION_RENEWAL, is_on); }
  /** How long a hold is renewed at most, an hour unless set; or forever. @since 1.2 */
  options &max_hold(const timeout &most) {
    if (most.ms() == MORTISE_FOREVER) return set(MORTISE_OPTION_MAX_HOLD, "unlimited");
    return set_ms(MORTISE_OPTION_MAX_HOLD, most.ms());
  }
  /** Whether a handle may acquire again what it holds; each needs an unlock. @since 1.2 */
  options &reentrant(bool is_on) { return set_switch(MORTISE_OPTION_REENTRANT, is_on); }
  /** The same for reading only. @since 1.2 */
  options &reentrant_read(bool is_on) { return set_switch(MORTISE_OPTION_REENTRANT_READ, is_on); }
  /** The same for writing, and for a mutex. @since 1.2 */
  options &reentrant_write(bool is_on) { return set_switch(MORTISE_OPTION_REENTRANT_WRITE, is_on); }
  /** First come, first served among all clients, instead of in batches. @since 1.2 */
  options &fair_strict(bool is_on) { return set(MORTISE_OPTION_FAIR, is_on ? "strict" : "batch"); }
  /** Unlocks end when they are sent; what then fails is a line of the log. @since 1.2 */
  options &release_sent(bool is_on) {
    return set(MORTISE_OPTION_RELEASE, is_on ? "sent" : "answered");
  }
  /** How long an unlock keeps the lock for this client's next acquire, 0 unless set. @since 1.2 */
  template <class Count, class Period>
  options &retain(std::chrono::duration<Count, Period> retain) {
    return set_ms(MORTISE_OPTION_RETAIN, detail::to_lease_ms(retain));
  }
  /** A text that queries show for the handle. @since 1.2 */
  options &label(std::string_view label) { return set(MORTISE_OPTION_LABEL, label); }
  /** How locks are stored; as `mortise_options_set_protocol`. @since 1.2 */
  options &protocol(std::string_view protocol) { return set(MORTISE_OPTION_PROTOCOL, protocol); }
  /** The pause between two attempts of a protocol without a queue, on average. @since 1.2 */
  template <class Count, class Period>
  options &poll_interval(std::chrono::duration<Count, Period> interval) {
    return set_ms(MORTISE_OPTION_POLL_INTERVAL, detail::to_lease_ms(interval));
  }
  /** How many such attempts an acquire makes at most. @since 1.2 */
  options &poll_attempts(std::int64_t most) {
    return set(MORTISE_OPTION_POLL_ATTEMPTS, std::to_string(most));
  }
  /** The deadline of calls without a timeout, 3 s unless set. A client's only. @since 1.2 */
  template <class Count, class Period>
  options &command_timeout(std::chrono::duration<Count, Period> timeout) {
    return set_ms(MORTISE_OPTION_COMMAND_TIMEOUT, detail::to_lease_ms(timeout));
  }
  /** How far the clocks may differ in speed, in millionths. A client's only. @since 1.2 */
  options &drift_ppm(std::int64_t drift_ppm) {
    return set(MORTISE_OPTION_DRIFT, std::to_string(drift_ppm) + "ppm");
  }
  /** Whether a client connects in the background. A client's only. @since 1.2 */
  options &lazy_connect(bool is_on) { return set(MORTISE_OPTION_CONNECT, is_on ? "lazy" : "wait"); }

  /** Whether nothing was set. @since 1.2 */
  bool is_empty() const noexcept { return settings_.empty(); }

  /** For the other headers: these laid over a base of C's, which may be NULL when it failed. */
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
