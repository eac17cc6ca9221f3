/* Options of a client and options of its handles: one given to the other, the client's defaults
   as the base of a handle's options, and the URL of the environment. */
#include "fixture.h"

#include <inttypes.h>
#include <stdlib.h>

static test_server *server;

static const char *const client_options[][2] = {{"command_timeout", "2s"},
                                                {"client_name", "ledger"},
                                                {"busy_poll", "0"},
                                                {"drift", "1%"},
                                                {"release_at_exit", "on"}};
enum { client_option_count = sizeof client_options / sizeof client_options[0] };

static void check_refused(const void *handle, const mortise_error *error, const char *option) {
  CHECK(handle == NULL);
  CHECK_ERROR(error, MORTISE_INVALID_ARGUMENT, option);
  CHECK_CONTAINS(mortise_error_message(error), "client");
}

static void a_clients_option_is_refused_by_every_kind_of_handle(void) {
  mortise_client *client = open_client(server);
  mortise_error *error = mortise_error_new();
  for (int i = 0; i < client_option_count; ++i) {
    mortise_options *options = options_with(client_options[i][0], client_options[i][1]);
    set_option(options, "lease", "20s");
    check_refused(mortise_lock_new(client, "n", 1, options, error), error, client_options[i][0]);
    check_refused(mortise_rw_new(client, "n", 1, options, error), error, client_options[i][0]);
    check_refused(mortise_semaphore_new(client, "n", 1, 2, options, error), error,
                  client_options[i][0]);
    mortise_client_free(open_client_with(server_url(server), options));
    mortise_options_free(options);
  }
  mortise_options *options = mortise_options_new();
  CHECK_STATUS(MORTISE_OK, mortise_options_set_command_timeout_ms(options, 2000, NULL));
  check_refused(mortise_lock_new(client, "n", 1, options, error), error, "command_timeout");
  mortise_options_free(options);
  mortise_error_free(error);
  mortise_client_free(client);
}

static mortise_client *client_of(const char *query) {
  char url[256];
  snprintf(url, sizeof url, "%s?%s", server_url(server), query);
  return open_client_with(url, NULL);
}

static mortise_options *options_from(mortise_client *client) {
  mortise_error *error = mortise_error_new();
  mortise_options *options = mortise_options_new_from(client, error);
  if (options == NULL) check_failed(__FILE__, __LINE__, mortise_error_message(error));
  mortise_error_free(error);
  return options;
}

/* How long the server keeps the lock "n" for a handle with these options. */
static int64_t kept_ms(mortise_client *client, const mortise_options *options) {
  mortise_lock *lock = open_lock_with(client, "n", options);
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  const int64_t kept = server_number(server, "PTTL {mortise:n}");
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(lock, NULL));
  mortise_lock_free(lock);
  return kept;
}

static void check_near(int64_t least, int64_t most, int64_t value) {
  if (value <= least || value > most) fprintf(stderr, "%" PRId64 "\n", value);
  CHECK(value > least && value <= most);
}

static void a_label_leaves_the_lease_of_the_operators_url(void) {
  mortise_client *client =
      client_of("lease=100s&command_timeout=2s&client_name=ledger&drift=1%25&busy_poll=0");
  mortise_options *options = options_from(client);
  set_option(options, "label", "worker 7");
  check_near(91000, 101002, kept_ms(client, options));
  mortise_lock *lock = open_lock_with(client, "n", options);
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  mortise_info *info = mortise_info_new();
  CHECK_STATUS(MORTISE_OK, mortise_lock_query(lock, info, NULL));
  CHECK(strcmp(mortise_info_entry_label(info, 0), "worker 7") == 0);
  mortise_info_free(info);
  mortise_lock_free(lock);

  /* They are a copy: neither the client's nor what was made with them before is changed. */
  set_option(options, "lease", "20s");
  check_near(91000, 101002, kept_ms(client, NULL));
  check_near(11000, 20202, kept_ms(client, options));
  /* A client that is made with them is as the first. */
  mortise_client *second = open_client_with(server_url(server), options);
  check_near(11000, 20202, kept_ms(second, NULL));
  set_option(options, "busy_poll", "0");
  mortise_error *error = mortise_error_new();
  check_refused(mortise_lock_new(client, "n", 1, options, error), error, "busy_poll");
  CHECK(mortise_options_new_from(NULL, error) == NULL);
  CHECK_ERROR(error, MORTISE_INVALID_ARGUMENT, "client");
  mortise_error_free(error);
  mortise_options_free(options);
  mortise_client_free(second);
  mortise_client_free(client);
}

/* What a crash costs the others: the lease, the drift, and what the server rounds. */
static void the_server_keeps_a_lock_longer_by_the_drift(void) {
  static const struct {
    const char *drift;
    int64_t most_ms;
  } rows[] = {{"0.1%", 100102}, {"1%", 101002}, {"12.5%", 112502}, {"20%", 120002}};
  for (int i = 0; i < 4; ++i) {
    mortise_options *options = options_with("drift", rows[i].drift);
    set_option(options, "lease", "100s");
    mortise_client *client = open_client_with(server_url(server), options);
    check_near(rows[i].most_ms - 500, rows[i].most_ms, kept_ms(client, NULL));
    mortise_client_free(client);
    mortise_options_free(options);
  }
  mortise_options *options = options_with("lease", "100s");
  CHECK_STATUS(MORTISE_OK, mortise_options_set_drift_ppm(options, 5000, NULL));
  mortise_client *client = open_client_with(server_url(server), options);
  check_near(100002, 100502, kept_ms(client, NULL));
  mortise_client_free(client);
  mortise_options_free(options);
}

static void the_drift_has_its_range(void) {
  mortise_options *options = mortise_options_new();
  const mortise_status bad = MORTISE_INVALID_ARGUMENT;
  CHECK_STATUS(MORTISE_OK, mortise_options_set_drift_ppm(options, 1000, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_options_set_drift_ppm(options, 200000, NULL));
  CHECK_STATUS(bad, mortise_options_set_drift_ppm(options, 999, NULL));
  CHECK_STATUS(bad, mortise_options_set_drift_ppm(options, 200001, NULL));
  CHECK_STATUS(bad, mortise_options_set_drift_ppm(options, INT64_MIN, NULL));
  CHECK_STATUS(bad, mortise_options_set_drift_ppm(NULL, 1000, NULL));
  mortise_options_free(options);
}

static void check_url_of_environment(const char *url, mortise_status status, const char *part) {
  if (url != NULL) CHECK(setenv("MORTISE_URL", url, 1) == 0);
  mortise_error *error = mortise_error_new();
  mortise_client *client = mortise_client_new(NULL, 0, NULL, error);
  if (status == MORTISE_OK) CHECK(client != NULL);
  if (status != MORTISE_OK) {
    CHECK(client == NULL);
    CHECK_ERROR(error, status, part);
    CHECK_CONTAINS(mortise_error_message(error), "MORTISE_URL");
  }
  mortise_client_free(client);
  mortise_error_free(error);
  CHECK(unsetenv("MORTISE_URL") == 0);
}

static void no_url_is_that_of_the_environment(void) {
  const mortise_status bad = MORTISE_INVALID_ARGUMENT;
  check_url_of_environment(server_url(server), MORTISE_OK, "");
  check_url_of_environment(NULL, bad, "unset");
  check_url_of_environment("", bad, "empty");
  check_url_of_environment("http://localhost", bad, "http");
  check_url_of_environment(server_nowhere(server), MORTISE_UNREACHABLE, "nobody.sock");
  /* It is not looked at when a URL is given. */
  CHECK(setenv("MORTISE_URL", "http://localhost", 1) == 0);
  mortise_client_free(open_client(server));
  mortise_error *error = mortise_error_new();
  CHECK(mortise_client_new("", 0, NULL, error) == NULL);
  CHECK_ERROR(error, bad, "url");
  CHECK(strstr(mortise_error_message(error), "MORTISE_URL") == NULL);
  mortise_error_free(error);
  CHECK(unsetenv("MORTISE_URL") == 0);
}

static void an_address_map_is_as_long_as_its_option_allows(void) {
  enum { longest = 65535, pair = 48 };
  static char text[longest + pair + 1];
  size_t length = 0;
  for (int i = 0; length + pair <= longest; ++i) {
    length += (size_t)snprintf(text + length, pair + 1, "%sserver-%05d:6379>localhost:7001",
                               i == 0 ? "" : ",", i);
  }
  mortise_options *options = mortise_options_new();
  mortise_error *error = mortise_error_new();
  if (mortise_options_set(options, "address_map", 11, text, length, error) != MORTISE_OK)
    check_failed(__FILE__, __LINE__, mortise_error_message(error));
  memset(text, 'x', longest + 1);
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT,
               mortise_options_set(options, "address_map", 11, text, longest + 1, error));
  CHECK_CONTAINS(mortise_error_message(error), "65535");
  mortise_error_free(error);
  mortise_options_free(options);
}

int main(void) {
  server = server_start(NULL);
  RUN(a_clients_option_is_refused_by_every_kind_of_handle);
  RUN(a_label_leaves_the_lease_of_the_operators_url);
  RUN(the_server_keeps_a_lock_longer_by_the_drift);
  RUN(the_drift_has_its_range);
  RUN(no_url_is_that_of_the_environment);
  RUN(an_address_map_is_as_long_as_its_option_allows);
  server_free(server);
  return 0;
}
