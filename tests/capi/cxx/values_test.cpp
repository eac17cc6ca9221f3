/** Errors, results, options, times, and the facts of a client. */
#include <limits>
#include <string>

#include "fixture.hpp"

namespace {

#if MORTISE_HAS_EXPECTED
static_assert(std::is_same_v<mortise::result<int>, std::expected<int, mortise::error>>);
#endif
static_assert(std::is_nothrow_copy_constructible_v<mortise::error>);

void an_error_tells_everything() {
  const auto opened = mortise::client::open("redis://");
  CHECK_RESULT(status::invalid_argument, opened);
  const mortise::error why = opened.error();
  CHECK(!why.message().empty() && !why.is_retryable() && !why.is_ambiguous());
  CHECK(why.lock_name().empty() && why.server_text().empty());
  CHECK(why.reason() == mortise::reason::none);

  const auto nobody =
      mortise::client::open(server_nowhere(server), mortise::options().command_timeout(10ms));
  CHECK_RESULT(status::unreachable, nobody);
  CHECK(nobody.error().is_retryable());
  CHECK(mortise::text(mortise::status::timed_out) == "timed out");
  CHECK(mortise::error(mortise::status::timed_out).message() == "timed out");
}

void an_error_is_not_that_of_an_earlier_call() {
  mortise::client client = open_client();
  mortise::lock lock = open_lock(client, "first"), other = open_lock(client, "first");
  const mortise::hold hold = *lock.acquire(patience, std::nothrow);
  const auto denied = other.try_acquire(std::nothrow);
  const auto none = other.unlock(std::nothrow);
  CHECK_RESULT(status::not_acquired, denied);
  CHECK_RESULT(status::not_owner, none);
  CHECK(denied.error().message() != none.error().message());
}

void a_result_has_a_value_or_an_error() {
  mortise::result<std::string> text = std::string("text");
  CHECK(text && text.has_value() && *text == "text" && text->size() == 4 && text.value() == "text");
  mortise::result<std::string> none =
      mortise::unexpected(mortise::error(mortise::status::limit, "too many"));
  CHECK(!none && none.error().message() == "too many");
  CHECK(std::move(none).value_or("otherwise") == "otherwise");
  const mortise::result<void> done;
  CHECK(done && done.has_value());
  const mortise::result<void> failed{mortise::unexpected(mortise::error(mortise::status::closed))};
  CHECK_RESULT(status::closed, failed);
}

void a_timeout_is_rounded_up() {
  using mortise::timeout;
  CHECK_NUMBER(MORTISE_FOREVER, timeout().ms());
  CHECK_NUMBER(MORTISE_FOREVER, mortise::forever.ms());
  CHECK_NUMBER(1, timeout(1ns).ms());
  CHECK_NUMBER(2, timeout(1001us).ms());
  CHECK_NUMBER(1500, timeout(std::chrono::duration<double>(1.5)).ms());
  CHECK_NUMBER(0, timeout(-1s).ms());
  CHECK_NUMBER(0, timeout(std::chrono::hours::min()).ms());
  CHECK_NUMBER(MORTISE_FOREVER, timeout(std::chrono::hours::max()).ms());
  CHECK_NUMBER(MORTISE_MAX_MS, timeout(std::chrono::hours(24 * 366)).ms());
  const auto nothing = std::numeric_limits<double>::quiet_NaN();
  CHECK_NUMBER(0, timeout(std::chrono::duration<double>(nothing)).ms());
  const auto now = std::chrono::system_clock::now();
  CHECK_NUMBER(0, timeout(now - 1h).ms());
  CHECK_NUMBER(0, timeout(std::chrono::system_clock::time_point::min()).ms());
  CHECK_NUMBER(MORTISE_FOREVER, timeout(std::chrono::steady_clock::time_point::max()).ms());
  CHECK(timeout(now + 1h).ms() > 0 && timeout(now + 1h).ms() <= 3600000);
  CHECK(timeout(mortise::boot_clock::now() + 1h).ms() <= 3600000);
}

void options_are_laid_over_the_clients() {
  mortise::client client = open_client(mortise::options().lease(20s).renewal(false));
  mortise::lock lock = open_lock(client, "laid", mortise::options().label("x"));
  const mortise::hold hold = *lock.acquire(patience, std::nothrow);
  CHECK(hold.valid() <= 20s);
  mortise::lock other = open_lock(client, "other", mortise::options().lease(40s));
  CHECK(other.acquire(patience, std::nothrow)->valid() > 20s);
  // Each of them is one that C takes, with these values.
  const auto all = mortise::options()
                       .lease(1min)
                       .renewal(true)
                       .max_hold(mortise::forever)
                       .max_hold(5min)
                       .progress(5min)
                       .reentrant(true)
                       .reentrant_read(true)
                       .reentrant_write(false)
                       .fair_strict(true)
                       .release_sent(true)
                       .retain(100ms)
                       .label("label")
                       .protocol("token")
                       .poll_interval(200ms)
                       .poll_attempts(7);
  CHECK_RESULT(status::ok, mortise::lock::make(client, "all", all));
  CHECK_RESULT(status::ok,
               mortise::client::open(
                   server_url(server),
                   mortise::options().command_timeout(5s).drift_ppm(5000).lazy_connect(true).set(
                       MORTISE_OPTION_BUSY_POLL, "0")));
}

void a_wrong_option_is_said_by_what_is_made() {
  mortise::client client = open_client();
  const auto unknown = mortise::lock::make(client, "a", mortise::options().set("colour", "red"));
  CHECK_RESULT(status::invalid_argument, unknown);
  CHECK_CONTAINS(unknown.error().message().data(), "colour");
  CHECK_RESULT(status::invalid_argument,
               mortise::rw::make(client, "a", mortise::options().lease(1ms)));
  CHECK_RESULT(status::invalid_argument,
               mortise::semaphore::make(client, "a", 1, mortise::options().lease(24h * 400)));
  CHECK_RESULT(status::invalid_argument,
               mortise::client::open(server_url(server), mortise::options().drift_ppm(1)));
  CHECK_RESULT(status::invalid_argument,
               mortise::lock::make(client, "a", mortise::options().command_timeout(1s)));
  CHECK_RESULT(status::invalid_argument, mortise::lock::make(client, ""));
  CHECK_RESULT(status::invalid_argument, mortise::semaphore::make(client, "a", 0));
}

void a_client_is_of_its_server() {
  mortise::client client = open_client();
  CHECK_RESULT(status::ok, client.ping(std::nothrow));
  const auto found = client.check_health(std::nothrow);
  CHECK(found && !found->findings().empty() && !found->json().empty());
  CHECK(found->worst() >= mortise::severity::ok);
  for (const mortise::finding& finding : found->findings()) {
    CHECK(!finding.name.empty() && !finding.server.empty());
    CHECK(finding.severity <= found->worst() && !mortise::text(finding.severity).empty());
    CHECK((finding.severity == mortise::severity::ok) == finding.remedy.empty());
  }
  CHECK_RESULT(status::ok, client.last_health(std::nothrow));
  CHECK_RESULT(status::refused, client.set_credentials("nobody", "wrong", std::nothrow));
  setenv("MORTISE_URL", server_url(server), 1);
  CHECK_RESULT(status::ok, mortise::client::open_from_environment());
  unsetenv("MORTISE_URL");
  CHECK_RESULT(status::invalid_argument, mortise::client::open_from_environment());
  CHECK_RESULT(status::invalid_argument, mortise::client::open({}));
}

void a_name_is_any_bytes() {
  mortise::client client = open_client();
  using namespace std::string_view_literals;
  const mortise::lock lock = open_lock(client, "a\0b"sv);
  CHECK(lock.name() == "a\0b"sv);
}

}  // namespace

void test_values() {
  RUN(an_error_tells_everything);
  RUN(an_error_is_not_that_of_an_earlier_call);
  RUN(a_result_has_a_value_or_an_error);
  RUN(a_timeout_is_rounded_up);
  RUN(options_are_laid_over_the_clients);
  RUN(a_wrong_option_is_said_by_what_is_made);
  RUN(a_client_is_of_its_server);
  RUN(a_name_is_any_bytes);
}
