/* The id of an exported hold: its text, and what it is refused for. */
#include "fixture.h"

static test_server *server;
static mortise_client *client;

static const mortise_status bad = MORTISE_INVALID_ARGUMENT;

/* The text is the caller's. */
static char *export_text(mortise_lock *lock) {
  mortise_error *error = mortise_error_new();
  mortise_hold_id *id = mortise_lock_export(lock, 60000, error);
  if (id == NULL) check_failed(__FILE__, __LINE__, mortise_error_message(error));
  char *text = strdup(mortise_hold_id_text(id));
  mortise_hold_id_free(id);
  mortise_error_free(error);
  return text;
}

static mortise_status adopt(mortise_lock *lock, const char *text, mortise_error *error) {
  return mortise_lock_adopt(lock, text, strlen(text), error);
}

static void the_text_names_the_lock(void) {
  const char name[] = "a\0b";
  mortise_lock *lock = mortise_lock_new(client, name, 3, NULL, NULL);
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  char *text = export_text(lock);
  mortise_hold_id *id = mortise_hold_id_new(text, strlen(text), NULL);
  CHECK(id != NULL);
  size_t length = 0;
  CHECK(memcmp(mortise_hold_id_name(id, &length), name, 4) == 0);
  CHECK_NUMBER(3, (int64_t)length);
  CHECK(strcmp(mortise_hold_id_kind(id), "mutex") == 0);
  CHECK_NUMBER(1, mortise_hold_id_is_exclusive(id));
  CHECK_NUMBER(0, mortise_hold_id_capacity(id));
  CHECK(strcmp(mortise_hold_id_text(id), text) == 0);
  const int64_t rest_ms = mortise_hold_id_valid_until_ms(id) - (int64_t)time(NULL) * 1000;
  CHECK(rest_ms > 50000 && rest_ms < 70000);
  mortise_hold_id_free(id);
  CHECK_STATUS(MORTISE_OK, adopt(lock, text, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(lock, NULL));
  free(text);
  mortise_lock_free(lock);
}

static void an_edited_text_is_refused(void) {
  mortise_error *error = mortise_error_new();
  mortise_lock *lock = open_lock(client, "edited");
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  char *text = export_text(lock);
  const size_t length = strlen(text);
  for (size_t i = 0; i < length; ++i) {
    const char original = text[i];
    text[i] = original == '1' ? '2' : '1';
    CHECK_STATUS(bad, adopt(lock, text, error));
    CHECK_CONTAINS(mortise_error_message(error), "give the whole text of an export, unchanged");
    text[i] = original;
    CHECK(mortise_hold_id_new(text, i, NULL) == NULL);
  }
  CHECK_STATUS(MORTISE_OK, adopt(lock, text, NULL));
  free(text);
  mortise_lock_free(lock);
  mortise_error_free(error);
}

static void wrong_arguments_are_refused(void) {
  mortise_error *error = mortise_error_new();
  mortise_lock *lock = open_lock(client, "wrong");
  CHECK(mortise_hold_id_new(NULL, 3, error) == NULL);
  CHECK_ERROR(error, bad, "id");
  CHECK(mortise_hold_id_new("", 0, error) == NULL);
  CHECK_ERROR(error, bad, "id: 0 bytes; give the result of mortise_hold_id_text");
  CHECK_STATUS(bad, mortise_lock_adopt(lock, "x", 4097, error));
  CHECK_CONTAINS(mortise_error_message(error), "1 to 4096");
  CHECK_STATUS(bad, mortise_lock_adopt(NULL, "x", 1, error));
  CHECK_ERROR(error, bad, "lock");
  CHECK_STATUS(bad, mortise_lock_adopt(lock, NULL, 0, error));
  CHECK(mortise_lock_export(NULL, 0, error) == NULL);
  CHECK_ERROR(error, bad, "lock");
  CHECK(mortise_lock_export(lock, MORTISE_MIN_LEASE_MS - 1, error) == NULL);
  CHECK_ERROR(error, bad, "lease");
  CHECK(mortise_lock_export(lock, 0, error) == NULL);
  CHECK_NUMBER(MORTISE_NOT_OWNER, mortise_error_status(error));
  mortise_hold_id_free(NULL);
  CHECK(strcmp(mortise_hold_id_text(NULL), "") == 0);
  CHECK(strcmp(mortise_hold_id_kind(NULL), "") == 0);
  CHECK(strcmp(mortise_hold_id_name(NULL, NULL), "") == 0);
  CHECK_NUMBER(0, mortise_hold_id_is_exclusive(NULL));
  CHECK_NUMBER(0, mortise_hold_id_capacity(NULL));
  CHECK_NUMBER(0, mortise_hold_id_valid_until_ms(NULL));
  mortise_lock_free(lock);
  mortise_error_free(error);
}

/* The handle has to be of the same namespace, name and kind. */
static void another_lock_does_not_adopt(void) {
  mortise_error *error = mortise_error_new();
  mortise_lock *lock = open_lock(client, "one");
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  char *text = export_text(lock);
  mortise_lock *other = open_lock(client, "another");
  CHECK_STATUS(bad, adopt(other, text, error));
  CHECK_CONTAINS(mortise_error_message(error), "id: is of the lock \"one\"");
  mortise_rw *rw = open_rw(client, "one");
  CHECK_STATUS(bad, mortise_rw_adopt(rw, text, strlen(text), error));
  CHECK_CONTAINS(mortise_error_message(error), "another kind of lock");
  mortise_options *options = options_with("namespace", "apart");
  mortise_client *apart = open_client_with(server_url(server), options);
  mortise_lock *outer = open_lock(apart, "one");
  CHECK_STATUS(bad, adopt(outer, text, error));
  CHECK_CONTAINS(mortise_error_message(error), "namespace");
  CHECK_STATUS(MORTISE_OK, adopt(lock, text, NULL));
  mortise_lock_free(outer);
  mortise_client_free(apart);
  mortise_options_free(options);
  mortise_rw_free(rw);
  mortise_lock_free(other);
  mortise_lock_free(lock);
  free(text);
  mortise_error_free(error);
}

/* No holder may go on under a claim that another handle has exported. */
static void only_a_hold_of_its_own_is_exported(void) {
  mortise_error *error = mortise_error_new();
  mortise_options *options = options_with("reentrant", "on");
  mortise_lock *lock = open_lock_with(client, "depth", options);
  mortise_options_free(options);
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  CHECK(mortise_lock_export(lock, 0, error) == NULL);
  CHECK_NUMBER(MORTISE_ALREADY_HELD, mortise_error_status(error));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(lock, NULL));
  mortise_hold_id *id = mortise_lock_export(lock, 0, error);
  CHECK(id != NULL);
  mortise_hold_id_free(id);
  mortise_lock_free(lock);

  mortise_rw *first = open_rw(client, "shared");
  mortise_rw *second = open_rw(client, "shared");
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_try(first, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_try(second, NULL));
  CHECK(mortise_rw_export(first, 0, error) == NULL);
  CHECK_NUMBER(MORTISE_BUSY, mortise_error_status(error));
  CHECK_CONTAINS(mortise_error_message(error), "fair=strict");
  CHECK_NUMBER(1, mortise_rw_is_reading(first));
  mortise_rw_free(second);
  mortise_rw_free(first);
  mortise_error_free(error);
}

/* A value belongs to its holder. */
static void the_value_ends_with_the_export(void) {
  mortise_lock *lock = open_lock(client, "value");
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_set_value(lock, "here", 4, NULL));
  char *text = export_text(lock);
  server_wait_for_exactly(server, "EVAL return(#redis.call('KEYS','{mortise:value}:value:*')) 0",
                          0);
  CHECK_STATUS(MORTISE_OK, adopt(lock, text, NULL));
  free(text);
  mortise_lock_free(lock);
}

/* Without a connection the hold continues at the exporter. */
static void a_stopped_server_exports_nothing(void) {
  mortise_error *error = mortise_error_new();
  mortise_lock *lock = open_lock(client, "stopped");
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  server_kill(server);
  while (mortise_client_ping(client, NULL) == MORTISE_OK) {
  }
  CHECK(mortise_lock_export(lock, 0, error) == NULL);
  CHECK_NUMBER(MORTISE_UNREACHABLE, mortise_error_status(error));
  CHECK_NUMBER(1, mortise_lock_is_held(lock));
  mortise_lock_free(lock);
  mortise_error_free(error);
}

int main(void) {
  server = server_start(NULL);
  client = open_client(server);
  RUN(the_text_names_the_lock);
  RUN(an_edited_text_is_refused);
  RUN(wrong_arguments_are_refused);
  RUN(another_lock_does_not_adopt);
  RUN(only_a_hold_of_its_own_is_exported);
  RUN(the_value_ends_with_the_export);
  RUN(a_stopped_server_exports_nothing);
  mortise_client_free(client);
  server_free(server);
  return 0;
}
