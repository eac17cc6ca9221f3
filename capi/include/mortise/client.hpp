/** The connection that all handles made from it share. */
#ifndef MORTISE_CLIENT_HPP
#define MORTISE_CLIENT_HPP

#include <chrono>
#include <memory>

#include "health.hpp"
#include "history.hpp"
#include "listing.hpp"
#include "options.hpp"
#include "result.hpp"
#include "stats.hpp"

namespace mortise {
inline namespace MORTISE_CXX_NAMESPACE {

class queue;

/**
 * One connection to one deployment, and one thread. Move-only. Any thread may use it. Its
 * destructor closes it: waiting calls end with status::closed, and holds are released. Handles may
 * outlive it and then return status::closed.
 *
 * A function with std::nothrow returns its error. The form without it throws the error as an
 * exception.
 */
class client {
 public:
#if MORTISE_HAS_EXCEPTIONS
  /** Opens a client. It throws every error of `open`. */
  explicit client(std::string_view url, const options &with = {})
      : client(detail::checked(open(url, with))) {}
  /**
   * Opens a client with the URL in the environment variable MORTISE_URL. It throws every error of
   * `open_from_environment`.
   */
  static client from_environment(const options &with = {}) {
    return detail::checked(open_from_environment(with));
  }
#endif
  /**
   * Opens a client, as `mortise_client_new`.
   * @param url such as "redis://localhost". docs/urls.md lists all forms.
   * @param with defaults of its handles, which the URL's query overrides.
   * @return the client, connected unless `lazy_connect`, or an error:
   * - status::invalid_argument: the URL or an option is wrong.
   * - status::unreachable: no server answered within command_timeout.
   * - status::refused: a wrong password, missing rights, or a server that cannot serve.
   * - status::unsupported: TLS without OpenSSL 3.
   * - status::limit: no file descriptor or thread is available.
   * - status::no_memory: memory ran out.
   */
  static result<client> open(std::string_view url, const options &with = {}) {
    // An empty URL is an error. NULL would read the URL of the environment.
    return open_raw(url.data() != nullptr ? url.data() : "", url.size(), with);
  }
  /**
   * Opens a client with the URL in the environment variable MORTISE_URL.
   * @return the client, or an error of `open`. If MORTISE_URL is unset or empty, the error is
   *   status::invalid_argument.
   */
  static result<client> open_from_environment(const options &with = {}) {
    return open_raw(nullptr, 0, with);
  }

  /**
   * Checks that the server answers, within command_timeout.
   * @return done, or an error:
   * - status::unreachable: no connection in time.
   * - status::unknown: sent, but not answered in time.
   * - status::refused: the server refused the request.
   * - status::limit: too many requests are open.
   * - status::closed: the handle or its client was freed.
   * - status::forked: called in a forked child.
   */
  result<void> ping(std::nothrow_t) {
    mortise_error *filled = detail::error_of_thread();
    return detail::done(mortise_client_ping(raw(), filled), filled);
  }
  /**
   * Changes the user and password of the client, as `mortise_client_set_credentials`. Unless it
   * succeeds, the old credentials stay in force at each server that did not accept the new ones.
   * @param user empty for the server's default user.
   * @param password 1 to MORTISE_MAX_PASSWORD_LEN bytes.
   * @return done, or an error:
   * - status::unreachable: no connection in time.
   * - status::unknown: sent, but not answered in time.
   * - status::refused: the server refused the request.
   * - status::limit: too many requests are open.
   * - status::closed: the handle or its client was freed.
   * - status::forked: called in a forked child.
   * - status::no_memory: memory ran out.
   * - status::invalid_argument: an argument is wrong, or the client has the option `password_file`.
   */
  result<void> set_credentials(std::string_view user, std::string_view password, std::nothrow_t) {
    mortise_error *filled = detail::error_of_thread();
    return detail::done(mortise_client_set_credentials(raw(), user.data(), user.size(),
                                                       password.data(), password.size(), filled),
                        filled);
  }
  /**
   * Checks the health of the servers: settings, rights and clocks. It takes two round trips and
   * changes nothing.
   * @return the health check, or an error:
   * - status::unreachable: no connection in time.
   * - status::unknown: sent, but not answered in time.
   * - status::limit: too many requests are open.
   * - status::closed: the handle or its client was freed.
   * - status::forked: called in a forked child.
   * - status::no_memory: memory ran out.
   */
  result<mortise::health> check_health(std::nothrow_t) {
    mortise_error *filled = detail::error_of_thread();
    return found(mortise_client_check_health(raw(), filled), filled);
  }
  /**
   * The last health check, without a new one. See `mortise_client_last_health`.
   * @return the health check, or status::closed, status::forked or status::no_memory.
   */
  result<mortise::health> last_health(std::nothrow_t) const {
    mortise_error *filled = detail::error_of_thread();
    return found(mortise_client_last_health(raw(), filled), filled);
  }
  /**
   * Reads what the client has counted so far. See `mortise_client_stats`. It sends nothing.
   * @return the statistics, or status::closed, status::forked or status::no_memory.
   */
  result<mortise::stats> stats(std::nothrow_t) const {
    mortise_error *filled = detail::error_of_thread();
    mortise_stats *counted = mortise_client_stats(raw(), filled);
    if (counted == nullptr) return unexpected(detail::error_from_null(filled));
    return mortise::stats(counted);
  }
  /**
   * Lists what all live clients hold and wait for. See `mortise_client_list_locks`.
   * @param patience 1 ms to 1 minute.
   * @return the listing, or an error:
   * - status::unreachable: no connection in time.
   * - status::unknown: sent, but not answered in time.
   * - status::refused: the server refused the request.
   * - status::limit: too many requests are open.
   * - status::busy: another listing of this client ran during all of the time.
   * - status::closed: the handle or its client was freed.
   * - status::forked: called in a forked child.
   * - status::no_memory: memory ran out.
   * - status::invalid_argument: an argument is out of range.
   */
  result<mortise::listing> list_locks(std::chrono::milliseconds patience, std::nothrow_t) {
    mortise_error *filled = detail::error_of_thread();
    mortise_listing *taken = mortise_client_list_locks(raw(), patience.count(), filled);
    if (taken == nullptr) return unexpected(detail::error_from_null(filled));
    return mortise::listing(taken);
  }
  /**
   * Searches the keys of the servers for locks. See `mortise_client_scan_locks`.
   * @param pattern empty for locks in Mortise's own format.
   * @param most_keys the largest number of keys to look at per server: 1 to 1000000000.
   * @param patience 1 ms to 1 minute.
   * @return the listing, or an error:
   * - status::unreachable: no connection in time.
   * - status::unknown: sent, but not answered in time.
   * - status::refused: the server refused the request.
   * - status::limit: too many requests are open.
   * - status::closed: the handle or its client was freed.
   * - status::forked: called in a forked child.
   * - status::no_memory: memory ran out.
   * - status::invalid_argument: an argument is out of range.
   */
  result<mortise::listing> scan_locks(std::string_view pattern, std::int64_t most_keys,
                                      std::chrono::milliseconds patience, std::nothrow_t) {
    mortise_error *filled = detail::error_of_thread();
    mortise_listing *found = mortise_client_scan_locks(raw(), pattern.data(), pattern.size(),
                                                       most_keys, patience.count(), filled);
    if (found == nullptr) return unexpected(detail::error_from_null(filled));
    return mortise::listing(found);
  }
  /**
   * Lists the latest events of one lock in all live clients. See `mortise_client_list_history`.
   * @param window how far it goes back: 1 ms to 1 day.
   * @param patience 1 ms to 1 minute.
   * @return the history, or an error:
   * - status::unreachable: no connection in time.
   * - status::unknown: sent, but not answered in time.
   * - status::refused: the server refused the request.
   * - status::limit: too many requests are open.
   * - status::busy: another listing of this client ran during all of the time.
   * - status::closed: the handle or its client was freed.
   * - status::forked: called in a forked child.
   * - status::no_memory: memory ran out.
   * - status::invalid_argument: an argument is out of range.
   */
  result<mortise::history> list_history(std::string_view name, std::chrono::milliseconds window,
                                        std::chrono::milliseconds patience, std::nothrow_t) {
    mortise_error *filled = detail::error_of_thread();
    mortise_listing *taken = mortise_client_list_history(raw(), name.data(), name.size(),
                                                         window.count(), patience.count(), filled);
    if (taken == nullptr) return unexpected(detail::error_from_null(filled));
    return mortise::history(taken);
  }
  /**
   * Reports the log of this client on the queue, as one event_kind::log per record, each with this
   * tag. It reports this severity and worse. See `mortise_client_watch_log`.
   * @return done, or an error:
   * - status::shut_down: the queue was shut down.
   * - status::closed: the handle or its client was freed.
   * - status::forked: called in a forked child.
   * - status::invalid_argument: an argument is out of range.
   */
  result<void> watch_log(queue &on, std::int64_t tag, log_level level);
  /** Ends the watch of the log. */
  result<void> unwatch_log() {
    mortise_error *filled = detail::error_of_thread();
    return detail::done(mortise_client_watch_log(raw(), nullptr, 0, MORTISE_LOG_LEVEL_NONE, filled),
                        filled);
  }
  /**
   * Sends an event_kind::stats to the queue at regular intervals, as a signal to read `stats`. See
   * `mortise_client_watch_stats`.
   * @param interval 10 ms or more.
   * @return done, or an error:
   * - status::shut_down: the queue was shut down.
   * - status::closed: the handle or its client was freed.
   * - status::forked: called in a forked child.
   * - status::invalid_argument: an argument is out of range.
   */
  result<void> watch_stats(queue &on, std::int64_t tag, std::chrono::milliseconds interval);
  /** Ends these events. */
  result<void> unwatch_stats() {
    mortise_error *filled = detail::error_of_thread();
    return detail::done(mortise_client_watch_stats(raw(), nullptr, 0, 0, filled), filled);
  }
  /**
   * Reports the begin and the end of each wait and each hold of this client on the queue, for
   * example to trace them. See `mortise_client_watch_locks`.
   * @return done, or an error:
   * - status::shut_down: the queue was shut down.
   * - status::closed: the handle or its client was freed.
   * - status::forked: called in a forked child.
   */
  result<void> watch_locks(queue &on, std::int64_t tag);
  /** Ends these reports. */
  result<void> unwatch_locks() {
    mortise_error *filled = detail::error_of_thread();
    return detail::done(mortise_client_watch_locks(raw(), nullptr, 0, filled), filled);
  }
#if MORTISE_HAS_EXCEPTIONS
  /** The throwing form: it throws every error as an exception. */
  void ping() { detail::checked(ping(std::nothrow)); }
  /** The throwing form: it throws every error as an exception. */
  void set_credentials(std::string_view user, std::string_view password) {
    detail::checked(set_credentials(user, password, std::nothrow));
  }
  /** The throwing form: it throws every error as an exception. */
  mortise::health check_health() { return detail::checked(check_health(std::nothrow)); }
  /** The throwing form: it throws every error as an exception. */
  mortise::health last_health() const { return detail::checked(last_health(std::nothrow)); }
  /** The throwing form: it throws every error as an exception. */
  mortise::stats stats() const { return detail::checked(stats(std::nothrow)); }
  /** The throwing form: it throws every error as an exception. */
  mortise::listing list_locks(std::chrono::milliseconds patience) {
    return detail::checked(list_locks(patience, std::nothrow));
  }
  /** The throwing form: it throws every error as an exception. */
  mortise::listing scan_locks(std::string_view pattern, std::int64_t most_keys,
                              std::chrono::milliseconds patience) {
    return detail::checked(scan_locks(pattern, most_keys, patience, std::nothrow));
  }
  /** The throwing form: it throws every error as an exception. */
  mortise::history list_history(std::string_view name, std::chrono::milliseconds window,
                                std::chrono::milliseconds patience) {
    return detail::checked(list_history(name, window, patience, std::nothrow));
  }
#endif

  /** The client for C functions. NULL after a move. */
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
  static result<mortise::health> found(mortise_health *raw, const mortise_error *filled) {
    if (raw == nullptr) return unexpected(detail::error_from_null(filled));
    return mortise::health(raw);
  }

  std::unique_ptr<mortise_client, deleter> raw_;
};

}  // namespace MORTISE_CXX_NAMESPACE
}  // namespace mortise

#endif  // MORTISE_CLIENT_HPP
