/* The fields of an error object for each kind of failure. */
#include "fixture.h"

static test_server *server;

static void a_new_error_is_empty(void) {
  mortise_error *error = mortise_error_new();
  CHECK_STATUS(MORTISE_OK, mortise_error_status(error));
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
  (void)mortise_error_status(NULL);
}

static void misuse_is_reported_with_the_remedy(void) {
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
  mortise_options *options = options_with("command_timeout", "200ms");
  CHECK(mortise_client_new(url, strlen(url), options, error) == NULL);
  mortise_options_free(options);
  CHECK_ERROR(error, MORTISE_UNREACHABLE, "nobody.sock");
  CHECK_NUMBER(1, mortise_error_is_retryable(error));
  CHECK_NUMBER(0, mortise_error_is_ambiguous(error));
  mortise_error_free(error);
}

static void a_hanging_server_is_ambiguous(void) {
  mortise_error *error = mortise_error_new();
  mortise_client *client = open_quick_client(server, 1000);
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

/* In place of a timeout: the call is an unlock. */
enum { unlocks = 0, briefly_ms = 300 };

/* One call, whose end comes as an event or is returned. */
static mortise_status call_lock(mortise_lock *lock, mortise_queue *queue, int64_t timeout_ms,
                                mortise_error *error) {
  const int is_unlock = timeout_ms == unlocks;
  if (queue == NULL) {
    return is_unlock ? mortise_lock_unlock(lock, error)
                     : mortise_lock_acquire(lock, timeout_ms, error);
  }
  return is_unlock ? mortise_lock_unlock_async(lock, queue, 1, error)
                   : mortise_lock_acquire_async(lock, queue, 1, timeout_ms, error);
}

/* The fields of the error and, for an asynchronous call, of the event. One may be right without
   the other. */
static void expect_status(mortise_lock *lock, mortise_queue *queue, int64_t timeout_ms,
                          mortise_status status, int is_retryable, int is_ambiguous) {
  mortise_error *error = mortise_error_new();
  mortise_event *event = mortise_event_new();
  const mortise_status code = call_lock(lock, queue, timeout_ms, error);
  if (queue == NULL) {
    CHECK_STATUS(status, code);
    CHECK_NUMBER(is_retryable, mortise_error_is_retryable(error));
    CHECK_NUMBER(is_ambiguous, mortise_error_is_ambiguous(error));
    CHECK(mortise_error_message(error)[0] != '\0');
  } else {
    CHECK_STATUS(MORTISE_OK, code);
    CHECK_STATUS(MORTISE_OK, mortise_queue_next(queue, patience_ms, event, NULL));
    CHECK_STATUS(status, mortise_event_status(event));
    CHECK_NUMBER(is_retryable, mortise_event_is_retryable(event));
    CHECK_NUMBER(is_ambiguous, mortise_event_is_ambiguous(event));
    CHECK(mortise_event_message(event)[0] != '\0');
  }
  mortise_event_free(event);
  mortise_error_free(error);
}

static void retryable_and_ambiguous_are_two_things(void) {
  test_server *other = server_start(NULL);
  mortise_client *client = open_quick_client(other, 1000);
  mortise_queue *queue = mortise_queue_new(client, 0, NULL);
  for (int is_async = 0; is_async < 2; ++is_async) {
    mortise_queue *reporter = is_async ? queue : NULL;
    mortise_lock *held = open_lock(client, "held");
    mortise_lock *idle = open_lock(client, "idle");
    mortise_lock *strange = open_lock(client, "strange");
    mortise_lock *refused = open_lock(client, "refused");
    CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(held, patience_ms, NULL));
    /* Neither: it would be refused again, and did nothing. */
    CHECK_NUMBER(1, server_number(other, "RPUSH {mortise:refused} element"));
    expect_status(refused, reporter, patience_ms, MORTISE_REFUSED, 0, 0);
    server_number(other, "DEL {mortise:refused}");
    server_pause(other);
    /* Both: what may have taken the lock gives it back, and can be tried again. */
    expect_status(idle, reporter, briefly_ms, MORTISE_UNKNOWN, 1, 1);
    server_resume(other);
    wait_for_ping(client, MORTISE_OK);
    server_pause(other);
    /* Only ambiguous: the hold of this client is over, and there is nothing to unlock again. */
    expect_status(held, reporter, unlocks, MORTISE_UNKNOWN, 0, 1);
    server_resume(other);
    server_kill(other);
    wait_for_ping(client, MORTISE_UNREACHABLE);
    /* Only retryable: nothing was sent. */
    expect_status(strange, reporter, briefly_ms, MORTISE_UNREACHABLE, 1, 0);
    server_restart(other);
    wait_for_ping(client, MORTISE_OK);
    mortise_lock_free(held);
    mortise_lock_free(idle);
    mortise_lock_free(strange);
    mortise_lock_free(refused);
  }
  mortise_queue_free(queue);
  mortise_client_free(client);
  server_free(other);
}

/* A query changes nothing, so a missing reply is not ambiguous. */
static void a_look_is_never_ambiguous(void) {
  mortise_error *error = mortise_error_new();
  mortise_info *info = mortise_info_new();
  mortise_client *client = open_quick_client(server, 1000);
  mortise_lock *lock = open_lock(client, "look");
  mortise_semaphore *semaphore = mortise_semaphore_new(client, "size", 4, 2, NULL, NULL);
  for (int call = 0; call < 3; ++call) {
    server_pause(server);
    if (call == 0) CHECK_STATUS(MORTISE_UNKNOWN, mortise_client_ping(client, error));
    if (call == 1) CHECK_STATUS(MORTISE_UNKNOWN, mortise_lock_query(lock, info, error));
    if (call == 2) CHECK_STATUS(MORTISE_UNKNOWN, mortise_semaphore_resize(semaphore, 3, error));
    CHECK_NUMBER(1, mortise_error_is_retryable(error));
    CHECK_NUMBER(call == 2 ? 1 : 0, mortise_error_is_ambiguous(error));
    server_resume(server);
    wait_for_ping(client, MORTISE_OK);
  }
  mortise_semaphore_free(semaphore);
  mortise_lock_free(lock);
  mortise_client_free(client);
  mortise_info_free(info);
  mortise_error_free(error);
}

/* One object serves many calls, and has the last failure that filled it. */
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
  CHECK_STATUS(MORTISE_OK, mortise_error_status(error));
  CHECK(mortise_error_message(error)[0] == '\0');
  mortise_lock_free(lock);
  mortise_client_free(client);
  mortise_error_free(error);
}

int main(void) {
  server = server_start(NULL);
  RUN(a_new_error_is_empty);
  RUN(no_error_is_an_empty_error);
  RUN(misuse_is_reported_with_the_remedy);
  RUN(a_refusal_has_the_servers_words);
  RUN(an_absent_server_is_retryable_and_not_ambiguous);
  RUN(a_hanging_server_is_ambiguous);
  RUN(retryable_and_ambiguous_are_two_things);
  RUN(a_look_is_never_ambiguous);
  RUN(a_failure_replaces_the_one_before);
  server_free(server);
  return 0;
}
