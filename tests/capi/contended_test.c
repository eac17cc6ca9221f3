/* A holder is notified that others wait. The event is a hint, and a full queue only omits it. */
#include "fixture.h"

static test_server *server;
static mortise_client *client;
static mortise_client *other;
static mortise_queue *queue;
static mortise_event *event;

static mortise_lock *open_reporting(mortise_client *of, const char *name) {
  mortise_options *options = options_with(MORTISE_OPTION_CONTENDED, "on");
  mortise_lock *lock = open_lock_with(of, name, options);
  mortise_options_free(options);
  return lock;
}

static void the_event_names_the_hold_and_its_lock(void) {
  mortise_lock *lock = open_reporting(client, "named");
  mortise_lock *waiting = open_lock(other, "named");
  CHECK_STATUS(MORTISE_OK, mortise_lock_watch(lock, queue, 4, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  mortise_queue *ended = open_queue(other, 0);
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire_async(waiting, ended, 1, patience_ms, NULL));
  check_next_event(queue, event, MORTISE_EVENT_CONTENDED, 4, MORTISE_OK);
  CHECK_NUMBER(mortise_lock_token(lock), mortise_event_token(event));
  CHECK_NUMBER(1, mortise_event_hold_number(event));
  CHECK_NUMBER(MORTISE_REASON_NONE, mortise_event_reason(event));
  CHECK_CONTAINS(mortise_event_lock_name(event, NULL), "named");
  CHECK_CONTAINS(mortise_event_message(event), "\"named\": others wait for the lock");
  /* A new watch gets it again. */
  CHECK_STATUS(MORTISE_OK, mortise_lock_watch(lock, queue, 5, NULL));
  check_next_event(queue, event, MORTISE_EVENT_CONTENDED, 5, MORTISE_OK);
  check_quiet(queue);
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(lock, NULL));
  check_event(ended, MORTISE_EVENT_ACQUIRED, 1, MORTISE_OK);
  mortise_lock_free(waiting);
  mortise_queue_free(ended);
  mortise_lock_free(lock);
  check_quiet(queue);
}

/* The watch takes one place for a loss, and one for waiters if there is room. */
static void a_full_queue_omits_the_event_and_fails_no_acquire(void) {
  mortise_queue *narrow = open_queue(client, 1);
  mortise_lock *lock = open_reporting(client, "narrow");
  mortise_lock *waiting = open_lock(client, "narrow");
  CHECK_STATUS(MORTISE_OK, mortise_lock_watch(lock, narrow, 1, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(lock, patience_ms, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire_async(waiting, queue, 2, patience_ms, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(lock, NULL));
  check_event(queue, MORTISE_EVENT_ACQUIRED, 2, MORTISE_OK);
  check_quiet(narrow);
  mortise_lock_free(waiting);
  mortise_lock_free(lock);
  mortise_queue_free(narrow);
}

/* The places of unread events are bounded, and so is the memory. */
static void unread_events_end_at_the_capacity(void) {
  enum { capacity = 3, rounds = 8 };
  mortise_queue *small = open_queue(client, capacity);
  mortise_lock *lock = open_reporting(client, "unread");
  mortise_lock *waiting = open_lock(client, "unread");
  CHECK_STATUS(MORTISE_OK, mortise_lock_watch(lock, small, 1, NULL));
  for (int i = 0; i < rounds; ++i) {
    CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(lock, patience_ms, NULL));
    CHECK_STATUS(MORTISE_OK, mortise_lock_acquire_async(waiting, queue, 2, patience_ms, NULL));
    CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(lock, NULL));
    check_event(queue, MORTISE_EVENT_ACQUIRED, 2, MORTISE_OK);
    CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(waiting, NULL));
  }
  for (int64_t number = 1; number < capacity; ++number) {
    check_next_event(small, event, MORTISE_EVENT_CONTENDED, 1, MORTISE_OK);
    CHECK_NUMBER(number, mortise_event_hold_number(event));
  }
  check_quiet(small);
  mortise_lock_free(waiting);
  mortise_lock_free(lock);
  mortise_queue_free(small);
}

static void a_format_of_other_programs_refuses_the_option(void) {
  mortise_options *options = options_with(MORTISE_OPTION_CONTENDED, "on");
  mortise_error *error = mortise_error_new();
  CHECK_STATUS(MORTISE_OK, mortise_options_set_protocol(options, "hash", 4, NULL));
  CHECK(mortise_lock_new(client, "foreign", 7, options, error) == NULL);
  CHECK_STATUS(MORTISE_UNSUPPORTED, mortise_error_status(error));
  CHECK_CONTAINS(mortise_error_message(error),
                 "contended: the protocol hash does not report waiters; omit the option, or give "
                 "protocol=queued");
  mortise_error_free(error);
  mortise_options_free(options);
}

int main(void) {
  server = server_start(NULL);
  client = open_client(server);
  other = open_client(server);
  queue = open_queue(client, 0);
  event = mortise_event_new();
  RUN(the_event_names_the_hold_and_its_lock);
  RUN(a_full_queue_omits_the_event_and_fails_no_acquire);
  RUN(unread_events_end_at_the_capacity);
  RUN(a_format_of_other_programs_refuses_the_option);
  mortise_event_free(event);
  mortise_queue_free(queue);
  mortise_client_free(other);
  mortise_client_free(client);
  server_free(server);
  return 0;
}
