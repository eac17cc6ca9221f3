/* The begin and the end of each wait and each hold of a client are queued as events. */
#include "fixture.h"

enum { longest_unread = 4096 };

static test_server *server;
static mortise_client *client;

static mortise_event *next_of(mortise_queue *queue, mortise_event *event, mortise_kind kind,
                              mortise_status status) {
  CHECK_STATUS(MORTISE_OK, mortise_queue_next(queue, patience_ms, event, NULL));
  CHECK_NUMBER(kind, mortise_event_kind(event));
  CHECK_STATUS(status, mortise_event_status(event));
  CHECK_NUMBER(7, mortise_event_tag(event));
  CHECK(mortise_event_message(event)[0] != '\0');
  return event;
}

static mortise_queue *watch_of(mortise_client *watched, int64_t capacity) {
  mortise_queue *queue = open_queue(watched, capacity);
  CHECK_STATUS(MORTISE_OK, mortise_client_watch_locks(watched, queue, 7, NULL));
  return queue;
}

/* A free lock is a wait that ends at once. The lone place of the queue stays free. */
static void a_hold_has_a_begin_and_an_end(void) {
  mortise_queue *queue = watch_of(client, 1);
  mortise_event *event = mortise_event_new();
  const char name[] = "a\0b";
  mortise_lock *lock = mortise_lock_new(client, name, sizeof name - 1, NULL, NULL);
  const int64_t began_ms = now_ms();
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));

  next_of(queue, event, MORTISE_EVENT_WAIT_BEGAN, MORTISE_OK);
  size_t size = 0;
  CHECK(memcmp(mortise_event_lock_name(event, &size), name, sizeof name) == 0);
  CHECK_NUMBER(sizeof name - 1, size);
  CHECK(strcmp("mutex", mortise_event_lock_kind(event)) == 0);
  CHECK_NUMBER(0, mortise_event_token(event));
  CHECK_NUMBER(0, mortise_event_lasted_us(event));
  const int64_t handle = mortise_event_handle_number(event);
  const int64_t since_us = mortise_event_time_us(event);
  CHECK(handle > 0);
  struct timespec now; /* time() may be a tick behind */
  clock_gettime(CLOCK_REALTIME, &now);
  CHECK(since_us / 1000000 >= now.tv_sec - 3600 && since_us / 1000000 <= now.tv_sec);

  next_of(queue, event, MORTISE_EVENT_HOLD_BEGAN, MORTISE_OK);
  CHECK_NUMBER(mortise_lock_token(lock), mortise_event_token(event));
  CHECK_NUMBER(1, mortise_event_hold_number(event));
  CHECK_NUMBER(handle, mortise_event_handle_number(event));
  CHECK(mortise_event_lasted_us(event) > 0);
  /* The clock may be set meanwhile, but not in a test. Reading it takes some microseconds. */
  CHECK(mortise_event_time_us(event) - since_us >= mortise_event_lasted_us(event) - 100);
  const int64_t token = mortise_event_token(event);

  poll(NULL, 0, 20);
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(lock, NULL));
  next_of(queue, event, MORTISE_EVENT_HOLD_ENDED, MORTISE_OK);
  CHECK(strstr(mortise_event_message(event), "unlocked") != NULL);
  CHECK_NUMBER(token, mortise_event_token(event));
  CHECK_NUMBER(1, mortise_event_hold_number(event));
  CHECK_NUMBER(handle, mortise_event_handle_number(event));
  CHECK(mortise_event_lasted_us(event) >= 20 * 1000);
  CHECK(mortise_event_lasted_us(event) <= (now_ms() - began_ms + 1) * 1000);
  check_quiet(queue);
  mortise_event_free(event);
  mortise_lock_free(lock);
  mortise_queue_free(queue);
}

/* Both know the server, so that the waiter is queued there, and by no handle of its own client. */
static void a_wait_lasts_until_its_hold_begins(void) {
  mortise_client *other = open_client(server);
  mortise_lock *holder = open_lock(other, "waited for"), *waiter = open_lock(client, "waited for");
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(holder, patience_ms, NULL));
  mortise_queue *queue = watch_of(client, 0);
  mortise_event *event = mortise_event_new();
  background call;
  start_acquire(&call, waiter, patience_ms);
  next_of(queue, event, MORTISE_EVENT_WAIT_BEGAN, MORTISE_OK);
  check_quiet(queue);
  poll(NULL, 0, 20);
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(holder, NULL));
  CHECK_STATUS(MORTISE_OK, finish_acquire(&call));
  next_of(queue, event, MORTISE_EVENT_HOLD_BEGAN, MORTISE_OK);
  CHECK(mortise_event_lasted_us(event) >= 20 * 1000);
  mortise_event_free(event);
  mortise_lock_free(waiter);
  mortise_lock_free(holder);
  mortise_queue_free(queue);
  mortise_client_free(other);
}

/* Only accepted calls begin a wait, and a reentrant handle does not wait for itself. */
static void a_handle_that_holds_does_not_wait(void) {
  mortise_options *options = options_with("reentrant", "on");
  mortise_lock *lock = open_lock_with(client, "again", options),
               *other = open_lock(client, "again");
  mortise_queue *queue = watch_of(client, 0);
  mortise_event *event = mortise_event_new();
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(lock, patience_ms, NULL));
  next_of(queue, event, MORTISE_EVENT_WAIT_BEGAN, MORTISE_OK);
  next_of(queue, event, MORTISE_EVENT_HOLD_BEGAN, MORTISE_OK);
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(lock, patience_ms, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(lock, NULL));
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_lock_acquire(other, -2, NULL));
  check_quiet(queue);
  CHECK_STATUS(MORTISE_NOT_ACQUIRED, mortise_lock_try(other, NULL));
  next_of(queue, event, MORTISE_EVENT_WAIT_BEGAN, MORTISE_OK);
  next_of(queue, event, MORTISE_EVENT_WAIT_FAILED, MORTISE_NOT_ACQUIRED);
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(lock, NULL));
  next_of(queue, event, MORTISE_EVENT_HOLD_ENDED, MORTISE_OK);
  check_quiet(queue);
  mortise_event_free(event);
  mortise_lock_free(other);
  mortise_lock_free(lock);
  mortise_options_free(options);
  mortise_queue_free(queue);
}

static void a_hold_ends_with_its_client(void) {
  mortise_client *watched = open_client(server);
  mortise_queue *queue = watch_of(watched, 0);
  mortise_event *event = mortise_event_new();
  mortise_lock *held = open_lock(watched, "kept"), *waiting = open_lock(watched, "kept");
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(held, patience_ms, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire_async(waiting, queue, 7, patience_ms, NULL));
  mortise_client_free(watched);
  int is_failed = 0, is_ended = 0;
  while (!is_failed || !is_ended) {
    CHECK_STATUS(MORTISE_OK, mortise_queue_next(queue, patience_ms, event, NULL));
    const mortise_kind kind = mortise_event_kind(event);
    if (kind == MORTISE_EVENT_WAIT_FAILED) is_failed = 1;
    if (kind == MORTISE_EVENT_HOLD_ENDED) is_ended = 1;
    if (kind != MORTISE_EVENT_WAIT_FAILED && kind != MORTISE_EVENT_HOLD_ENDED) continue;
    CHECK_STATUS(MORTISE_CLOSED, mortise_event_status(event));
  }
  mortise_event_free(event);
  mortise_lock_free(held);
  mortise_lock_free(waiting);
  mortise_queue_free(queue);
}

/* The multi keeps the handle of its member. */
static void a_freed_member_of_a_multi_is_unlocked_by_it(void) {
  mortise_multi *multi = mortise_multi_new(client, NULL);
  mortise_lock *member = open_lock(client, "member");
  CHECK_STATUS(MORTISE_OK, mortise_multi_add_lock(multi, member, NULL));
  mortise_lock_free(member);
  mortise_queue *queue = watch_of(client, 0);
  mortise_event *event = mortise_event_new();
  CHECK_STATUS(MORTISE_OK, mortise_multi_acquire(multi, patience_ms, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_multi_unlock(multi, NULL));
  next_of(queue, event, MORTISE_EVENT_WAIT_BEGAN, MORTISE_OK);
  next_of(queue, event, MORTISE_EVENT_HOLD_BEGAN, MORTISE_OK);
  next_of(queue, event, MORTISE_EVENT_HOLD_ENDED, MORTISE_OK);
  check_quiet(queue);
  mortise_event_free(event);
  mortise_queue_free(queue);
  mortise_multi_free(multi);
}

/* A try of what another handle of the client holds is two events, without a request. */
static void unread_events_are_dropped_and_counted(void) {
  mortise_lock *holder = open_lock(client, "busy"), *other = open_lock(client, "busy");
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(holder, patience_ms, NULL));
  mortise_queue *queue = watch_of(client, 1);
  mortise_event *event = mortise_event_new();
  const int tries = longest_unread / 2 + 50;
  for (int i = 0; i < tries; ++i) CHECK_STATUS(MORTISE_NOT_ACQUIRED, mortise_lock_try(other, NULL));
  /* A result comes before all of them. */
  CHECK_STATUS(MORTISE_OK, mortise_lock_try_async(other, queue, 1, NULL));
  check_next_event(queue, event, MORTISE_EVENT_ACQUIRED, 1, MORTISE_NOT_ACQUIRED);
  for (int i = 0; i < longest_unread; ++i) {
    const mortise_kind kind = i % 2 == 0 ? MORTISE_EVENT_WAIT_BEGAN : MORTISE_EVENT_WAIT_FAILED;
    next_of(queue, event, kind, i % 2 == 0 ? MORTISE_OK : MORTISE_NOT_ACQUIRED);
    CHECK_NUMBER(0, mortise_event_dropped_records(event));
  }
  check_quiet(queue);
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(holder, NULL));
  next_of(queue, event, MORTISE_EVENT_HOLD_ENDED, MORTISE_OK);
  CHECK_NUMBER(2 * 51, mortise_event_dropped_records(event));
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(holder, NULL));
  next_of(queue, event, MORTISE_EVENT_WAIT_BEGAN, MORTISE_OK);
  CHECK_NUMBER(0, mortise_event_dropped_records(event));
  mortise_event_free(event);
  mortise_lock_free(other);
  mortise_lock_free(holder);
  mortise_queue_free(queue);
}

/* The leak checker sees a queue and a client that keep each other. */
static void a_watch_ends_with_its_queue_or_by_a_call(void) {
  mortise_lock *lock = open_lock(client, "quiet");
  mortise_queue_free(watch_of(client, 1));
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(lock, NULL));
  mortise_queue *queue = watch_of(client, 1);
  CHECK_STATUS(MORTISE_OK, mortise_client_watch_locks(client, NULL, 0, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  check_quiet(queue);
  mortise_queue_shutdown(queue);
  mortise_error *error = mortise_error_new();
  CHECK_STATUS(MORTISE_SHUT_DOWN, mortise_client_watch_locks(client, queue, 1, error));
  CHECK(strstr(mortise_error_message(error), "shut down") != NULL);
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_client_watch_locks(NULL, queue, 1, error));
  mortise_error_free(error);
  mortise_queue_free(queue);
  mortise_lock_free(lock);
  mortise_client *left = open_client(server);
  mortise_queue *kept = watch_of(left, 1);
  mortise_client_free(left);
  mortise_queue_free(kept);
}

static void an_event_of_another_kind_has_no_lock_kind(void) {
  mortise_event *event = mortise_event_new();
  const mortise_event *const events[] = {NULL, event};
  for (int i = 0; i < 2; ++i) {
    CHECK(mortise_event_lock_kind(events[i])[0] == '\0');
    CHECK_NUMBER(0, mortise_event_handle_number(events[i]));
    CHECK_NUMBER(0, mortise_event_time_us(events[i]));
    CHECK_NUMBER(0, mortise_event_lasted_us(events[i]));
  }
  mortise_event_free(event);
}

int main(void) {
  server = server_start(NULL);
  client = open_client(server);
  RUN(a_hold_has_a_begin_and_an_end);
  RUN(a_wait_lasts_until_its_hold_begins);
  RUN(a_handle_that_holds_does_not_wait);
  RUN(a_hold_ends_with_its_client);
  RUN(a_freed_member_of_a_multi_is_unlocked_by_it);
  RUN(unread_events_are_dropped_and_counted);
  RUN(a_watch_ends_with_its_queue_or_by_a_call);
  RUN(an_event_of_another_kind_has_no_lock_kind);
  mortise_client_free(client);
  server_free(server);
  return 0;
}
