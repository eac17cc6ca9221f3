/* What an error object tells of each kind of failure. */
#include "fixture.h"

static test_server *server;

static void a_new_error_is_empty(void) {
  mortise_error *error = mortise_error_new();
  CHECK_STATUS(MORTISE_OK, mortise_error_code(error));
  CHECK(mortise_error_message(error)[0] == '\0');
  CHECK(mortise_error_server_text(error)[0] == '\0');
  CHECK_NUMBER(0, mortise_error_is_retryable(error));
  CHECK_NUMBER(0, mortise_error_is_ambiguous(error));
  mortise_error_free(error);
}

static void no_error_is_an_empty_error(void) {
  CHECK(strlen(mortise_error_message(NULL)) == 0);
  CHECK(strlen(mortise_error_server_text(NULL)) == 0);
  CHECK_NUMBER(0, mortise_error_is_retryable(NULL));
  CHECK_NUMBER(0, mortise_error_is_ambiguous(NULL));
  (void)mortise_error_code(NULL);
}

static void misuse_is_told_with_the_mend(void) {
  mortise_error *error = mortise_error_new();
  mortise_client *client = open_client(server);
  mortise_lock *lock = open_lock(client, "misuse");
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_lock_acquire(lock, -7, error));
  CHECK_ERROR(error, MORTISE_INVALID_ARGUMENT, "-7");
  CHECK_CONTAINS(mortise_error_message(error), "timeout_ms");
  CHECK(mortise_error_server_text(error)[0] == '\0');
  CHECK_NUMBER(0, mortise_error_is_retryable(error));
  CHECK_NUMBER(0, mortise_error_is_ambiguous(error));
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_lock_unlock(lock, error));
  CHECK_ERROR(error, MORTISE_NOT_OWNER, "");
  mortise_lock_free(lock);
  mortise_client_free(client);
  mortise_error_free(error);
}

static void a_refusal_has_the_servers_words(void) {
  mortise_error *error = mortise_error_new();
  mortise_client *client = open_client(server);
  mortise_lock *lock = open_lock(client, "list");
  CHECK_NUMBER(1, server_number(server, "RPUSH {mortise:list} element"));
  CHECK_STATUS(MORTISE_REFUSED, mortise_lock_acquire(lock, 1000, error));
  CHECK_ERROR(error, MORTISE_REFUSED, "another protocol");
  CHECK_CONTAINS(mortise_error_server_text(error),
                 "holds a list that the protocol queued did not write");
  CHECK_NUMBER(0, mortise_error_is_ambiguous(error));
  CHECK_NUMBER(0, mortise_error_is_retryable(error));
  server_number(server, "DEL {mortise:list}");
  mortise_lock_free(lock);
  mortise_client_free(client);
  mortise_error_free(error);
}

static void an_absent_server_is_retryable_and_not_ambiguous(void) {
  mortise_error *error = mortise_error_new();
  const char *url = server_nowhere(server);
  CHECK(mortise_client_new(url, strlen(url), NULL, error) == NULL);
  CHECK_ERROR(error, MORTISE_UNREACHABLE, "nobody.sock");
  CHECK_NUMBER(1, mortise_error_is_retryable(error));
  CHECK_NUMBER(0, mortise_error_is_ambiguous(error));
  mortise_error_free(error);
}

static void a_hanging_server_is_ambiguous(void) {
  mortise_error *error = mortise_error_new();
  mortise_client *client = open_quick_client(server, 200);
  mortise_lock *lock = open_lock(client, "hanging");
  server_pause(server);
  CHECK_STATUS(MORTISE_UNKNOWN, mortise_lock_try(lock, error));
  CHECK_ERROR(error, MORTISE_UNKNOWN, "");
  CHECK_NUMBER(1, mortise_error_is_ambiguous(error));
  server_resume(server);
  mortise_lock_free(lock);
  mortise_client_free(client);
  mortise_error_free(error);
}

/* One object serves many calls, and tells of the last one that filled it. */
static void a_failure_replaces_the_one_before(void) {
  mortise_error *error = mortise_error_new();
  mortise_client *client = open_client(server);
  mortise_lock *lock = open_lock(client, "wrong");
  CHECK_NUMBER(1, server_number(server, "RPUSH {mortise:wrong} element"));
  CHECK_STATUS(MORTISE_REFUSED, mortise_lock_acquire(lock, 1000, error));
  CHECK(mortise_error_server_text(error)[0] != '\0');
  CHECK(mortise_lock_new(client, "", 0, NULL, error) == NULL);
  CHECK_ERROR(error, MORTISE_INVALID_ARGUMENT, "name");
  CHECK(mortise_error_server_text(error)[0] == '\0');
  server_number(server, "DEL {mortise:wrong}");
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, error));
  CHECK_STATUS(MORTISE_OK, mortise_error_code(error));
  CHECK(mortise_error_message(error)[0] == '\0');
  mortise_lock_free(lock);
  mortise_client_free(client);
  mortise_error_free(error);
}

int main(void) {
  server = server_start(NULL);
  RUN(a_new_error_is_empty);
  RUN(no_error_is_an_empty_error);
  RUN(misuse_is_told_with_the_mend);
  RUN(a_refusal_has_the_servers_words);
  RUN(an_absent_server_is_retryable_and_not_ambiguous);
  RUN(a_hanging_server_is_ambiguous);
  RUN(a_failure_replaces_the_one_before);
  server_free(server);
  return 0;
}
