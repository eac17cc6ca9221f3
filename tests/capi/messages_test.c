/* The message of a failure: the lock, and the reason. */
#include "fixture.h"

static test_server *server;
static mortise_client *client, *other;
static mortise_error *error;

static void check_says(mortise_status status, const char *name, const char *cause) {
  CHECK_ERROR(error, status, name);
  CHECK_CONTAINS(mortise_error_message(error), cause);
}

/* That the call has waited at least this long, and the obstacle. */
static void check_waited(const char *message, const char *name, int64_t least_ms,
                         const char *cause) {
  char begin[64];
  snprintf(begin, sizeof begin, "\"%s\": waited ", name);
  CHECK(strncmp(message, begin, strlen(begin)) == 0);
  CHECK(atoll(message + strlen(begin)) >= least_ms);
  CHECK_CONTAINS(message, cause);
}

static void a_lock_that_is_taken_is_named_with_who_has_it(void) {
  mortise_lock *first = open_lock(client, "report");
  mortise_lock *second = open_lock(client, "report");
  mortise_lock *third = open_lock(other, "report");
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(first, NULL));
  CHECK_STATUS(MORTISE_NOT_ACQUIRED, mortise_lock_try(second, error));
  check_says(MORTISE_NOT_ACQUIRED, "\"report\": ", "another handle of this client holds it");
  CHECK_STATUS(MORTISE_NOT_ACQUIRED, mortise_lock_try(third, error));
  check_says(MORTISE_NOT_ACQUIRED, "\"report\": ", "another client");
  CHECK_STATUS(MORTISE_ALREADY_HELD, mortise_lock_try(first, error));
  check_says(MORTISE_ALREADY_HELD, "\"report\": ", "reentrant");
  mortise_lock_free(first);
  mortise_lock_free(second);
  mortise_lock_free(third);
}

/* The time that was waited, and how many were ahead. */
static void a_timeout_tells_the_time_and_the_place(void) {
  mortise_lock *holder = open_lock(other, "queue");
  mortise_lock *ahead = open_lock(client, "queue");
  mortise_lock *behind = open_lock(client, "queue");
  mortise_client *last = open_client(server);
  mortise_lock *second = open_lock(last, "queue");
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(holder, NULL));
  background call;
  start_acquire(&call, ahead, MORTISE_FOREVER);
  server_wait_for_exactly(server, "LLEN {mortise:queue}:q", 1);
  CHECK_STATUS(MORTISE_TIMED_OUT, mortise_lock_acquire(second, 500, error));
  check_waited(mortise_error_message(error), "queue", 500, "place 2 in the queue");
  CHECK_STATUS(MORTISE_TIMED_OUT, mortise_lock_acquire(behind, 60, error));
  check_waited(mortise_error_message(error), "queue", 60, "waiters of this client ahead: 1");
  CHECK_STATUS(MORTISE_OK, mortise_lock_cancel(ahead, NULL));
  CHECK_STATUS(MORTISE_CANCELLED, finish_acquire(&call));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(holder, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(behind, NULL));
  CHECK_STATUS(MORTISE_TIMED_OUT, mortise_lock_acquire(ahead, 60, error));
  check_waited(mortise_error_message(error), "queue", 60, "another handle of this client holds it");
  mortise_lock_free(holder);
  mortise_lock_free(ahead);
  mortise_lock_free(behind);
  mortise_lock_free(second);
  mortise_client_free(last);
}

static void misuse_names_the_lock(void) {
  mortise_lock *lock = open_lock(client, "a\nb\xff");
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_lock_unlock(lock, error));
  check_says(MORTISE_NOT_OWNER, "\"a?b?\": ", "nothing was acquired");
  CHECK_STATUS(MORTISE_NOT_WAITING, mortise_lock_cancel(lock, error));
  check_says(MORTISE_NOT_WAITING, "\"a?b?\": ", "no call of this handle is waiting");
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(lock, NULL));
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_lock_unlock(lock, error));
  check_says(MORTISE_NOT_OWNER, "\"a?b?\": ", "has ended already");
  mortise_lock *holder = open_lock(other, "a\nb\xff");
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(holder, NULL));
  background call;
  start_acquire(&call, lock, MORTISE_FOREVER);
  wait_until_busy(lock);
  CHECK_STATUS(MORTISE_BUSY, mortise_lock_try(lock, error));
  check_says(MORTISE_BUSY, "\"a?b?\": another call on this handle is acquiring",
             "give each concurrent user a handle of its own");
  CHECK_STATUS(MORTISE_OK, mortise_lock_cancel(lock, NULL));
  CHECK_STATUS(MORTISE_CANCELLED, finish_acquire(&call));
  mortise_lock_free(holder);
  mortise_lock_free(lock);
}

static void a_refusal_says_so_once(void) {
  mortise_lock *lock = open_lock(client, "list");
  CHECK_NUMBER(1, server_number(server, "RPUSH {mortise:list} element"));
  CHECK_STATUS(MORTISE_REFUSED, mortise_lock_acquire(lock, 1000, error));
  check_says(MORTISE_REFUSED, "\"list\": ", "another protocol");
  CHECK(strstr(mortise_error_message(error), "refused") == NULL);
  mortise_lock_free(lock);
}

/* An event has the same message as the call that blocks. */
static void an_event_names_the_lock(void) {
  mortise_queue *queue = mortise_queue_new(client, 4, NULL);
  mortise_event *event = mortise_event_new();
  mortise_lock *holder = open_lock(other, "event");
  mortise_lock *lock = open_lock(client, "event");
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(holder, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire_async(lock, queue, 1, 500, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_queue_next(queue, patience_ms, event, NULL));
  CHECK_STATUS(MORTISE_TIMED_OUT, mortise_event_status(event));
  check_waited(mortise_event_message(event), "event", 500, "place 1 in the queue");
  CHECK_STATUS(MORTISE_OK, mortise_lock_try_async(lock, queue, 1, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_queue_next(queue, patience_ms, event, NULL));
  CHECK_STATUS(MORTISE_NOT_ACQUIRED, mortise_event_status(event));
  CHECK_CONTAINS(mortise_event_message(event), "\"event\": another client");
  mortise_lock_free(lock);
  mortise_lock_free(holder);
  mortise_event_free(event);
  mortise_queue_free(queue);
}

int main(void) {
  server = server_start(NULL);
  client = open_client(server);
  other = open_client(server);
  error = mortise_error_new();
  RUN(a_lock_that_is_taken_is_named_with_who_has_it);
  RUN(a_timeout_tells_the_time_and_the_place);
  RUN(misuse_names_the_lock);
  RUN(a_refusal_says_so_once);
  RUN(an_event_names_the_lock);
  mortise_error_free(error);
  mortise_client_free(client);
  mortise_client_free(other);
  server_free(server);
  return 0;
}
