/** The connection that all handles made from it share. */
#ifndef MORTISE_CLIENT_HPP
#define MORTISE_CLIENT_HPP

#include <chrono>
#include <memory>

#include "census.hpp"
#include "examination.hpp"
#include "options.hpp"
#include "result.hpp"
#include "stats.hpp"

namespace mortise {
inline namespace MORTISE_CXX_NAMESPACE {

class queue;

/**
 * One connection to one deployment, and one thread. Move-only. Any thread may use it. Its end
 * closes it, as `mortise_client_free` does: calls that wait end with status::closed, and holds are
 * given back. Handles may outlive it, and then say status::closed.
 * @since 1.2
 */
class client {
 public:
#if MORTISE_HAS_EXCEPTIONS
  /** As `open`; what that gives as an error is thrown as an exception. @since 1.2 */
  explicit client(std::string_view url, const options &with = {})
      : client(detail::checked(open(url, with))) {}
#endif
  /**
   * Opens a client, as `mortise_client_new`.
   *
   * @param url such as "redis://localhost"; all kinds are in docs/server.md.
   * @param with defaults of its handles, which the URL's query overrides.
   * @return the client, connected unless `lazy_connect`; or status::invalid_argument,
   *   status::unreachable, status::refused, status::unsupported, status::limit, status::no_memory.
   * @since 1.2
   */
  static result<client> open(std::string_view url, const options &with = {}) {
    // An empty URL is a wrong one; NULL would be that of the environment.
    return open_raw(url.data() != nullptr ? url.data() : "", url.size(), with);
  }
  /** The same with the URL in the environment variable MORTISE_URL. @since 1.2 */
  static result<client> open_from_environment(const options &with = {}) {
    return open_raw(nullptr, 0, with);
  }

  /**
   * Asks the server for a sign of life.
   * @return done; or status::unreachable, status::unknown, status::refused, status::limit,
   *   status::closed, status::forked.
   * @since 1.2
   */
  result<void> ping(std::nothrow_t) {
    mortise_error *filled = detail::error_of_thread();
    return detail::done(mortise_client_ping(raw(), filled), filled);
  }
  /**
   * Gives the client another user and password, as `mortise_client_set_credentials`.
   * @param user empty for the server's default user.
   * @return done; on anything else those before stay in force: status::refused,
   *   status::unreachable, status::unknown, status::limit, status::closed, status::forked,
   *   status::no_memory, status::invalid_argument.
   * @since 1.2
   */
  result<void> set_credentials(std::string_view user, std::string_view password, std::nothrow_t) {
    mortise_error *filled = detail::error_of_thread();
    return detail::done(mortise_client_set_credentials(raw(), user.data(), user.size(),
                                                       password.data(), password.size(), filled),
                        filled);
  }
  /**
   * Examines the servers: their settings, rights and clocks. It takes two round trips, and changes
   * nothing.
   * @return what was found; or status::unreachable, status::unknown, status::limit, status::closed,
   *   status::forked, status::no_memory.
   * @since 1.2
   */
  result<mortise::examination> examine(std::nothrow_t) {
    mortise_error *filled = detail::error_of_thread();
    return found(mortise_client_examine(raw(), filled), filled);
  }
  /** The same as it was found last, without asking; see `mortise_client_examination`. @since 1.2 */
  result<mortise::examination> examination(std::nothrow_t) const {
    mortise_error *filled = detail::error_of_thread();
    return found(mortise_client_examination(raw(), filled), filled);
  }
  /**
   * What the client has counted so far; see `mortise_client_stats`. It asks no server.
   * @return the statistics; or status::closed, status::forked, status::no_memory.
   * @since 1.2
   */
  result<mortise::stats> stats(std::nothrow_t) const {
    mortise_error *filled = detail::error_of_thread();
    mortise_stats *counted = mortise_client_stats(raw(), filled);
    if (counted == nullptr) return unexpected(detail::error_from_null(filled));
    return mortise::stats(counted);
  }
  /**
   * Asks all clients that live what they hold and wait for; see `mortise_client_census`.
   * @param patience 1 ms to 1 minute.
   * @return the census; or status::refused, status::unreachable, status::unknown, status::busy,
   *   status::limit, status::closed, status::forked, status::no_memory, status::invalid_argument.
   * @since 1.2
   */
  result<mortise::census> census(std::chrono::milliseconds patience, std::nothrow_t) {
    mortise_error *filled = detail::error_of_thread();
    mortise_census *taken = mortise_client_census(raw(), patience.count(), filled);
    if (taken == nullptr) return unexpected(detail::error_from_null(filled));
    return mortise::census(taken);
  }
  /**
   * Looks through the keys of the servers for locks; see `mortise_client_scan`.
   * @param pattern empty for locks in Mortise's own format.
   * @param most_keys how many are looked at of each server.
   * @param patience 1 ms to 1 minute.
   * @return what was found; or status::refused, status::unreachable, status::unknown,
   *   status::limit, status::closed, status::forked, status::no_memory, status::invalid_argument.
   * @since 1.2
   */
  result<mortise::census> scan(std::string_view pattern, std::int64_t most_keys,
                               std::chrono::milliseconds patience, std::nothrow_t) {
    mortise_error *filled = detail::error_of_thread();
    mortise_census *found = mortise_client_scan(raw(), pattern.data(), pattern.size(), most_keys,
                                                patience.count(), filled);
    if (found == nullptr) return unexpected(detail::error_from_null(filled));
    return mortise::census(found);
  }
  /**
   * From now on what happens to this client, as bad as this level or worse, is told on the queue as
   * event_kind::log, each with this tag; see `mortise_client_watch_log`.
   * @return done; or status::shut_down, status::closed, status::forked, status::invalid_argument.
   * @since 1.2
   */
  result<void> watch_log(queue &on, std::int64_t tag, log_level level);
  /** Ends that. @since 1.2 */
  result<void> unwatch_log() {
    mortise_error *filled = detail::error_of_thread();
    return detail::done(mortise_client_watch_log(raw(), nullptr, 0, MORTISE_LOG_LEVEL_NONE, filled),
                        filled);
  }
  /**
   * From now on an event_kind::stats comes to the queue every so often, for whoever reads `stats`
   * then; see `mortise_client_watch_stats`.
   * @param interval 10 ms or more.
   * @return done; or status::shut_down, status::closed, status::forked, status::invalid_argument.
   * @since 1.2
   */
  result<void> watch_stats(queue &on, std::int64_t tag, std::chrono::milliseconds interval);
  /** Ends that. @since 1.2 */
  result<void> unwatch_stats() {
    mortise_error *filled = detail::error_of_thread();
    return detail::done(mortise_client_watch_stats(raw(), nullptr, 0, 0, filled), filled);
  }
#if MORTISE_HAS_EXCEPTIONS
  /** As above, throwing exception. @since 1.2 */
  void ping() { detail::checked(ping(std::nothrow)); }
  /** As above, throwing exception. @since 1.2 */
  void set_credentials(std::string_view user, std::string_view password) {
    detail::checked(set_credentials(user, password, std::nothrow));
  }
  /** As above, throwing exception. @since 1.2 */
  mortise::examination examine() { return detail::checked(examine(std::nothrow)); }
  /** As above, throwing exception. @since 1.2 */
  mortise::examination examination() const { return detail::checked(examination(std::nothrow)); }
  /** As above, throwing exception. @since 1.2 */
  mortise::stats stats() const { return detail::checked(stats(std::nothrow)); }
  /** As above, throwing exception. @since 1.2 */
  mortise::census census(std::chrono::milliseconds patience) {
    return detail::checked(census(patience, std::nothrow));
  }
  /** As above, throwing exception. @since 1.2 */
  mortise::census scan(std::string_view pattern, std::int64_t most_keys,
                       std::chrono::milliseconds patience) {
    return detail::checked(scan(pattern, most_keys, patience, std::nothrow));
  }
#endif

  /** For the C functions; NULL after it was moved from. @since 1.2 */
  mortise_client *raw() const noexcept { return raw_.get(); }

 private:
  struct deleter {
    void operator()(mortise_client *raw) const noexcept { mortise_client_free(raw); }
  };
  struct take_over {};

  client(take_over, mortise_client *raw) noexcept : raw_(raw) {}

  static result<client> open_raw(const char *url, std::size_t size, const options &with) {
    mortise_error *filled = detail::error_of_thread();
    auto whole = with.over(mortise_options_new(), filled);
    if (!whole) return unexpected(whole.error());
    mortise_client *raw = mortise_client_new(url, size, whole->get(), filled);
    if (raw == nullptr) return unexpected(detail::error_from_null(filled));
    return client(take_over{}, raw);
  }
  static result<mortise::examination> found(mortise_examination *raw, const mortise_error *filled) {
    if (raw == nullptr) return unexpected(detail::error_from_null(filled));
    return mortise::examination(raw);
  }

  std::unique_ptr<mortise_client, deleter> raw_;
};

}  // namespace MORTISE_CXX_NAMESPACE
}  // namespace mortise

#endif  // MORTISE_CLIENT_HPP
