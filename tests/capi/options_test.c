/* Every option: its range, as a value, as text and in a URL, and that it has its effect. */
#include "fixture.h"

static test_server *server;

typedef struct text_case {
  const char *key;
  const char *value;
  mortise_status status;
} text_case;

static const text_case text_cases[] = {
    {"lease", "30s", MORTISE_OK},
    {"lease", "1500ms", MORTISE_OK},
    {"lease", "2m", MORTISE_OK},
    {"lease", "1h", MORTISE_OK},
    {"lease", "50", MORTISE_OK},
    {"lease", "31622400000", MORTISE_OK},
    {"lease", "49", MORTISE_INVALID_ARGUMENT},
    {"lease", "0", MORTISE_INVALID_ARGUMENT},
    {"lease", "31622400001", MORTISE_INVALID_ARGUMENT},
    {"lease", "99999999999999999999999", MORTISE_INVALID_ARGUMENT},
    {"lease", "9223372036854775807s", MORTISE_INVALID_ARGUMENT},
    {"lease", "-5s", MORTISE_INVALID_ARGUMENT},
    {"lease", "", MORTISE_INVALID_ARGUMENT},
    {"lease", "s", MORTISE_INVALID_ARGUMENT},
    {"lease", "5x", MORTISE_INVALID_ARGUMENT},
    {"lease", "5 s", MORTISE_INVALID_ARGUMENT},
    {"lease", "unlimited", MORTISE_INVALID_ARGUMENT},
    {"max_hold", "unlimited", MORTISE_OK},
    {"max_hold", "1ms", MORTISE_OK},
    {"max_hold", "0", MORTISE_INVALID_ARGUMENT},
    {"progress", "5m", MORTISE_OK},
    {"progress", "0", MORTISE_OK},
    {"progress", "soon", MORTISE_INVALID_ARGUMENT},
    {"command_timeout", "10ms", MORTISE_OK},
    {"command_timeout", "60s", MORTISE_OK},
    {"command_timeout", "9", MORTISE_INVALID_ARGUMENT},
    {"command_timeout", "60001", MORTISE_INVALID_ARGUMENT},
    {"renewal", "on", MORTISE_OK},
    {"renewal", "off", MORTISE_OK},
    {"renewal", "maybe", MORTISE_INVALID_ARGUMENT},
    {"renewal", "", MORTISE_INVALID_ARGUMENT},
    {"reentrant", "on", MORTISE_OK},
    {"reentrant", "off", MORTISE_OK},
    {"reentrant", "2", MORTISE_INVALID_ARGUMENT},
    {"fair", "batch", MORTISE_OK},
    {"fair", "strict", MORTISE_OK},
    {"fair", "unfair", MORTISE_INVALID_ARGUMENT},
    {"label", "worker 7", MORTISE_OK},
    {"label", "", MORTISE_OK},
    {"label", "caf\xc3\xa9", MORTISE_OK},
    {"label", "\xff\xfe", MORTISE_INVALID_ARGUMENT},
    {"label", "two\nlines", MORTISE_INVALID_ARGUMENT},
    {"client_name", "billing", MORTISE_OK},
    {"protocol", "queued", MORTISE_OK},
    {"protocol", "telepathy", MORTISE_INVALID_ARGUMENT},
    {"busy_poll", "0", MORTISE_OK},
    {"busy_poll", "50", MORTISE_OK},
    {"busy_poll", "auto", MORTISE_OK},
    {"busy_poll", "-1", MORTISE_INVALID_ARGUMENT},
    {"lesae", "30s", MORTISE_INVALID_ARGUMENT},
    {"", "30s", MORTISE_INVALID_ARGUMENT},
};

static void text_is_taken_or_refused(void) {
  mortise_error *error = mortise_error_new();
  for (size_t i = 0; i < sizeof text_cases / sizeof text_cases[0]; ++i) {
    const text_case *row = &text_cases[i];
    mortise_options *options = mortise_options_new();
    const mortise_status status = mortise_options_set(options, row->key, strlen(row->key),
                                                      row->value, strlen(row->value), error);
    if (status != row->status) fprintf(stderr, "%s=%s\n", row->key, row->value);
    CHECK_STATUS(row->status, status);
    if (status != MORTISE_OK) {
      CHECK_ERROR(error, MORTISE_INVALID_ARGUMENT, row->key);
      CHECK_NUMBER(0, mortise_error_is_retryable(error));
      CHECK_NUMBER(0, mortise_error_is_ambiguous(error));
    }
    mortise_options_free(options);
  }
  mortise_error_free(error);
}

static void values_have_their_ranges(void) {
  mortise_options *o = mortise_options_new();
  const mortise_status bad = MORTISE_INVALID_ARGUMENT;
  CHECK_STATUS(MORTISE_OK, mortise_options_set_lease_ms(o, MORTISE_MIN_LEASE_MS, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_options_set_lease_ms(o, MORTISE_MAX_MS, NULL));
  CHECK_STATUS(bad, mortise_options_set_lease_ms(o, MORTISE_MIN_LEASE_MS - 1, NULL));
  CHECK_STATUS(bad, mortise_options_set_lease_ms(o, MORTISE_MAX_MS + 1, NULL));
  CHECK_STATUS(bad, mortise_options_set_lease_ms(o, 0, NULL));
  CHECK_STATUS(bad, mortise_options_set_lease_ms(o, -1, NULL));
  CHECK_STATUS(bad, mortise_options_set_lease_ms(o, INT64_MAX, NULL));
  CHECK_STATUS(bad, mortise_options_set_lease_ms(o, INT64_MIN, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_options_set_max_hold_ms(o, 1, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_options_set_max_hold_ms(o, MORTISE_MAX_MS, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_options_set_max_hold_ms(o, MORTISE_FOREVER, NULL));
  CHECK_STATUS(bad, mortise_options_set_max_hold_ms(o, 0, NULL));
  CHECK_STATUS(bad, mortise_options_set_max_hold_ms(o, -2, NULL));
  CHECK_STATUS(bad, mortise_options_set_max_hold_ms(o, MORTISE_MAX_MS + 1, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_options_set_progress_ms(o, 0, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_options_set_progress_ms(o, MORTISE_MAX_MS, NULL));
  CHECK_STATUS(bad, mortise_options_set_progress_ms(o, -1, NULL));
  CHECK_STATUS(bad, mortise_options_set_progress_ms(o, MORTISE_MAX_MS + 1, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_options_set_command_timeout_ms(o, 10, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_options_set_command_timeout_ms(o, 60000, NULL));
  CHECK_STATUS(bad, mortise_options_set_command_timeout_ms(o, 9, NULL));
  CHECK_STATUS(bad, mortise_options_set_command_timeout_ms(o, 60001, NULL));
  CHECK_STATUS(bad, mortise_options_set_command_timeout_ms(o, -1, NULL));
  for (int32_t is_on = 0; is_on <= 1; ++is_on) {
    CHECK_STATUS(MORTISE_OK, mortise_options_set_renewal(o, is_on, NULL));
    CHECK_STATUS(MORTISE_OK, mortise_options_set_reentrant(o, is_on, NULL));
    CHECK_STATUS(MORTISE_OK, mortise_options_set_fair_strict(o, is_on, NULL));
  }
  const int32_t odd[] = {-1, 2, INT32_MAX, INT32_MIN};
  for (int i = 0; i < 4; ++i) {
    CHECK_STATUS(bad, mortise_options_set_renewal(o, odd[i], NULL));
    CHECK_STATUS(bad, mortise_options_set_reentrant(o, odd[i], NULL));
    CHECK_STATUS(bad, mortise_options_set_fair_strict(o, odd[i], NULL));
  }
  mortise_options_free(o);
}

static void labels_have_their_bounds(void) {
  mortise_options *o = mortise_options_new();
  char label[MORTISE_MAX_LABEL_LEN + 1];
  memset(label, 'x', sizeof label);
  CHECK_STATUS(MORTISE_OK, mortise_options_set_label(o, label, MORTISE_MAX_LABEL_LEN, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_options_set_label(o, label, 0, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_options_set_label(o, NULL, 0, NULL));
  const mortise_status bad = MORTISE_INVALID_ARGUMENT;
  CHECK_STATUS(bad, mortise_options_set_label(o, label, sizeof label, NULL));
  CHECK_STATUS(bad, mortise_options_set_label(o, label, (size_t)-1, NULL));
  CHECK_STATUS(bad, mortise_options_set_label(o, NULL, 3, NULL));
  CHECK_STATUS(bad, mortise_options_set_label(o, "a\0b", 3, NULL));
  CHECK_STATUS(bad, mortise_options_set_label(o, "\x7f", 1, NULL));
  CHECK_STATUS(bad, mortise_options_set_label(o, "\xed\xa0\x80", 3, NULL)); /* a surrogate */
  CHECK_STATUS(bad, mortise_options_set_label(o, "\xc0\x80", 2, NULL));     /* an overlong NUL */
  CHECK_STATUS(bad, mortise_options_set_label(o, "\xe2\x82", 2, NULL));     /* cut short */
  mortise_options_free(o);
}

/* What a URL or options make of a handle's lease. */
static int64_t lease_seen(mortise_client *client, const mortise_options *options) {
  mortise_lock *lock = open_lock_with(client, "lease", options);
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  const int64_t valid = mortise_lock_valid_ms(lock);
  const int64_t at_server = server_number(server, "PTTL {mortise:lease}");
  CHECK(at_server >= valid);
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(lock, NULL));
  mortise_lock_free(lock);
  return valid;
}

static void check_near(int64_t lease_ms, int64_t valid_ms) {
  CHECK(valid_ms <= lease_ms);
  CHECK(valid_ms > lease_ms - 5000);
}

static void the_url_overrides_the_options(void) {
  char url[256];
  mortise_options *options = options_with("lease", "20s");
  mortise_client *client = open_client_with(server_url(server), options);
  check_near(20000, lease_seen(client, NULL));
  mortise_client_free(client);

  snprintf(url, sizeof url, "%s?lease=40s&renewal=off", server_url(server));
  client = open_client_with(url, options);
  check_near(40000, lease_seen(client, NULL));
  check_near(20000, lease_seen(client, options));
  mortise_client_free(client);

  snprintf(url, sizeof url, "%s?%%6cease=%%35%%30s&db=3", server_url(server));
  client = open_client_with(url, NULL);
  mortise_lock *lock = open_lock(client, "third");
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  check_near(50000, mortise_lock_valid_ms(lock));
  CHECK_NUMBER(0, server_number(server, "EXISTS {mortise:third}"));
  CHECK_CONTAINS(server_command(server, "SELECT 3"), "OK");
  CHECK_NUMBER(1, server_number(server, "EXISTS {mortise:third}"));
  CHECK_CONTAINS(server_command(server, "SELECT 0"), "OK");
  mortise_lock_free(lock);
  mortise_client_free(client);
  mortise_options_free(options);
}

static void defaults_are_as_documented(void) {
  mortise_client *client = open_client(server);
  check_near(15000, lease_seen(client, NULL));
  mortise_options *options = mortise_options_new();
  check_near(15000, lease_seen(client, options));
  mortise_lock *lock = open_lock_with(client, "plain", options);
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  CHECK_STATUS(MORTISE_ALREADY_HELD, mortise_lock_try(lock, NULL));
  mortise_lock_free(lock);
  mortise_options_free(options);
  mortise_client_free(client);
}

/* Until a hold lasts longer than the lease that it was taken with. */
static void wait_until_renewed(mortise_lock *lock, int64_t taken_ms, int64_t lease_ms) {
  while (now_ms() + mortise_lock_valid_ms(lock) <= taken_ms + lease_ms) {
    CHECK(now_ms() - taken_ms < patience_ms);
    poll(NULL, 0, 1);
  }
}

/* A handle that outlives its lease is renewed; without renewal, or beyond max_hold, it is not. */
static void renewal_and_max_hold_take_effect(void) {
  mortise_client *client = open_client(server);
  mortise_options *options = options_with("lease", "6s");
  mortise_lock *renewed = open_lock_with(client, "renewed", options);
  set_option(options, "lease", "1s");
  set_option(options, "max_hold", "1200ms");
  mortise_lock *bounded = open_lock_with(client, "bounded", options);
  set_option(options, "renewal", "off");
  mortise_lock *single = open_lock_with(client, "single", options);
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(renewed, NULL));
  const int64_t taken_ms = now_ms();
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(bounded, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(single, NULL));
  wait_until_not_held(single);
  CHECK_STATUS(MORTISE_LOST, mortise_lock_unlock(single, NULL));
  wait_until_not_held(bounded);
  CHECK_STATUS(MORTISE_LOST, mortise_lock_unlock(bounded, NULL));
  wait_until_renewed(renewed, taken_ms, 6000);
  CHECK_NUMBER(1, mortise_lock_is_held(renewed));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(renewed, NULL));
  mortise_lock_free(renewed);
  mortise_lock_free(bounded);
  mortise_lock_free(single);
  mortise_options_free(options);
  mortise_client_free(client);
}

static void the_client_name_is_sent_to_the_server(void) {
  char url[256];
  snprintf(url, sizeof url, "%s?client_name=ledger", server_url(server));
  mortise_client *client = open_client_with(url, NULL);
  CHECK_CONTAINS(server_command(server, "CLIENT LIST"), "name=ledger");
  mortise_client_free(client);
}

static void a_null_object_is_refused(void) {
  const mortise_status bad = MORTISE_INVALID_ARGUMENT;
  mortise_options *o = mortise_options_new();
  mortise_error *error = mortise_error_new();
  CHECK_STATUS(bad, mortise_options_set(NULL, "lease", 5, "1s", 2, error));
  CHECK_ERROR(error, bad, "options");
  CHECK_STATUS(bad, mortise_options_set(o, NULL, 5, "1s", 2, NULL));
  CHECK_STATUS(bad, mortise_options_set(o, "lease", 5, NULL, 2, NULL));
  CHECK_STATUS(bad, mortise_options_set(o, "lease", (size_t)-1, "1s", 2, NULL));
  CHECK_STATUS(bad, mortise_options_set(o, "lease", 5, "1s", (size_t)-1, NULL));
  CHECK_STATUS(bad, mortise_options_set_lease_ms(NULL, 1000, NULL));
  CHECK_STATUS(bad, mortise_options_set_renewal(NULL, 1, NULL));
  CHECK_STATUS(bad, mortise_options_set_max_hold_ms(NULL, 1000, NULL));
  CHECK_STATUS(bad, mortise_options_set_progress_ms(NULL, 1000, NULL));
  CHECK_STATUS(bad, mortise_options_set_reentrant(NULL, 1, NULL));
  CHECK_STATUS(bad, mortise_options_set_fair_strict(NULL, 1, NULL));
  CHECK_STATUS(bad, mortise_options_set_label(NULL, "x", 1, NULL));
  CHECK_STATUS(bad, mortise_options_set_command_timeout_ms(NULL, 1000, NULL));
  mortise_error_free(error);
  mortise_options_free(o);
}

int main(void) {
  server = server_start(NULL);
  RUN(text_is_taken_or_refused);
  RUN(values_have_their_ranges);
  RUN(labels_have_their_bounds);
  RUN(the_url_overrides_the_options);
  RUN(defaults_are_as_documented);
  RUN(renewal_and_max_hold_take_effect);
  RUN(the_client_name_is_sent_to_the_server);
  RUN(a_null_object_is_refused);
  server_free(server);
  return 0;
}
