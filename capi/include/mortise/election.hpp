/** A candidate of a named election. */
#ifndef MORTISE_ELECTION_HPP
#define MORTISE_ELECTION_HPP

#include "handle.hpp"

namespace mortise {
inline namespace MORTISE_CXX_NAMESPACE {

namespace detail {

inline constexpr kind election_kind = {erased<mortise_election_free>::call,
                                       erased<mortise_election_extend>::call,
                                       erased<mortise_election_extend_async>::call,
                                       erased<mortise_election_progress>::call,
                                       erased<mortise_election_cancel>::call,
                                       erased<mortise_election_interrupt>::call,
                                       erased<mortise_election_set_task>::call,
                                       erased<mortise_election_watch>::call,
                                       erased<mortise_election_valid_ms>::call,
                                       erased<mortise_election_deadline_ns>::call,
                                       erased<mortise_election_hold_number>::call,
                                       erased<mortise_election_name>::call,
                                       erased<mortise_election_token>::call,
                                       erased<mortise_election_query>::call,
                                       erased<mortise_election_force_release>::call,
                                       erased<mortise_election_set_value>::call,
                                       erased<mortise_election_set_value_async>::call,
                                       nullptr,
                                       nullptr};

inline constexpr mode election_mode = {nullptr,
                                       erased<mortise_election_campaign>::call,
                                       erased<mortise_election_resign>::call,
                                       erased<mortise_election_resign_hold>::call,
                                       erased<mortise_election_resign_hold_async>::call,
                                       erased<mortise_election_is_leader>::call,
                                       nullptr,
                                       nullptr,
                                       nullptr};

}  // namespace detail

/**
 * One candidate of one named election, or an observer of it. `handle` describes what all handles
 * have. A leadership is a `hold`, whose destructor resigns. See `mortise_election_new`.
 */
class election : public named_handle {
 public:
#if MORTISE_HAS_EXCEPTIONS
  /** Makes a candidate. It throws every error of `make`. */
  election(client &of, std::string_view name, const options &with = {})
      : election(detail::checked(make(of, name, with))) {}
#endif
  /**
   * Makes a candidate of the election of this name. It sends nothing.
   * @param name any bytes, 1 to MORTISE_MAX_NAME_LEN of them.
   * @param with settings that override the client's.
   * @return the handle, or an error of `mutex::make`.
   */
  static result<election> make(client &of, std::string_view name, const options &with = {}) {
    const auto raw = detail::make_raw<mortise_election>(
        of, with, [&](const mortise_options *whole, mortise_error *filled) {
          return mortise_election_new(of.raw(), name.data(), name.size(), whole, filled);
        });
    if (!raw) return unexpected(raw.error());
    return election(*raw);
  }

  /**
   * Waits until this candidate leads. Candidates lead in the order of their arrival.
   * @param wait how long to wait, and the stop that ends the wait.
   * @return the leadership, or an error of `mutex::acquire`.
   */
  result<hold> campaign(const timeout &wait, std::nothrow_t) {
    return acquire_as(detail::election_mode, wait);
  }
#if MORTISE_HAS_EXCEPTIONS
  /**
   * The throwing form: no leadership on status::not_acquired, status::timed_out and
   * status::cancelled. It throws other errors. Without a timeout it waits without end.
   */
  [[nodiscard]] hold campaign(const timeout &wait = {}) {
    return held_or_none(campaign(wait, std::nothrow));
  }
#endif
  /** Ends the leadership. The errors are those of `hold::unlock`. */
  result<void> resign(std::nothrow_t) { return unlock_as(detail::election_mode); }
#if MORTISE_HAS_EXCEPTIONS
  /** The throwing form: it throws every error as an exception. */
  void resign() { detail::checked(resign(std::nothrow)); }
#endif
  /** Whether this handle leads by the local clock. It sends nothing. */
  bool is_leader() const noexcept { return mortise_election_is_leader(election_raw()) != 0; }
  /** The present leadership of this handle as an object, for use after event_kind::acquired. */
  [[nodiscard]] hold adopt() { return {owner(), detail::election_mode}; }

  /** Starts `campaign`, which ends in one event_kind::acquired. */
  result<void> campaign_async(queue &on, std::int64_t tag, const timeout &wait = {}) {
    return begin(mortise_election_campaign_async, election_raw(), on, tag, wait.ms());
  }
  /** Starts `resign`, which ends in one event_kind::unlocked. The leadership ends now. */
  result<void> resign_async(queue &on, std::int64_t tag) {
    return begin(mortise_election_resign_async, election_raw(), on, tag);
  }
  /**
   * Reports the leader, now and after each change, as an event_kind::leader or
   * event_kind::no_leader. `event::leader` has the leader. See `mortise_election_observe`.
   * @param interval between two queries of the server: 10 ms or more, or 0 for 1 s.
   * @return done, or an error:
   * - status::limit: no thread is available.
   * - status::shut_down: the queue was shut down.
   * - status::closed: the handle or its client was freed.
   * - status::forked: called in a forked child.
   * - status::invalid_argument: an argument is out of range.
   */
  result<void> observe(queue &on, std::int64_t tag, std::chrono::milliseconds interval = {}) {
    return begin(mortise_election_observe, election_raw(), on, tag,
                 static_cast<std::int64_t>(interval.count()));
  }
  /** Ends these reports. */
  result<void> unobserve() {
    mortise_error *filled = detail::error_of_thread();
    return detail::done(mortise_election_observe(election_raw(), nullptr, 0, 0, filled), filled);
  }

  /** The handle for C functions. */
  mortise_election *election_raw() const noexcept { return static_cast<mortise_election *>(raw()); }

 private:
  explicit election(mortise_election *raw) : named_handle(detail::election_kind, raw) {}
};

}  // namespace MORTISE_CXX_NAMESPACE
}  // namespace mortise

#endif  // MORTISE_ELECTION_HPP
