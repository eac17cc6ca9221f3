/* pthread_cancel does not reach into a call: it ends as ever, and the thread ends behind it. */
#include "fixture.h"

static test_server *server;
static mortise_client *client;

enum { calls_that_block = 7, calls_that_free = 4 };

/* From here on the thread ends at the first point where it may be canceled. */
static void cancel_myself(void) { CHECK(pthread_cancel(pthread_self()) == 0); }

static void *make_calls(void *argument) {
  int *done = argument;
  int old_state = 0;
  mortise_lock *lock = open_lock(client, "cancelled");
  mortise_queue *queue = mortise_queue_new(client, 0, NULL);
  mortise_event *event = mortise_event_new();
  mortise_info *info = mortise_info_new();
  CHECK(queue != NULL && event != NULL && info != NULL);
  cancel_myself();
  mortise_client *own =
      mortise_client_new(server_url(server), strlen(server_url(server)), NULL, NULL);
  *done += own != NULL;
  *done += mortise_lock_acquire(lock, patience_ms, NULL) == MORTISE_OK;
  *done += mortise_lock_extend(lock, 0, NULL) == MORTISE_OK;
  *done += mortise_lock_query(lock, info, NULL) == MORTISE_OK;
  *done += mortise_client_ping(client, NULL) == MORTISE_OK;
  *done += mortise_lock_unlock(lock, NULL) == MORTISE_OK;
  *done += mortise_queue_next(queue, 50, event, NULL) == MORTISE_TIMED_OUT;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old_state);
  mortise_event_free(event);
  mortise_info_free(info);
  mortise_queue_free(queue);
  mortise_lock_free(lock);
  mortise_client_free(own);
  pthread_setcancelstate(old_state, NULL);
  pthread_testcancel();
  return NULL;
}

static void *free_all(void *argument) {
  int *done = argument;
  mortise_client *own = open_client(server);
  mortise_lock *lock = open_lock(own, "freed");
  mortise_multi *multi = mortise_multi_new(own, NULL);
  mortise_queue *queue = mortise_queue_new(own, 0, NULL);
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(lock, patience_ms, NULL));
  cancel_myself();
  mortise_multi_free(multi);
  ++*done;
  mortise_queue_free(queue);
  ++*done;
  mortise_lock_free(lock);
  ++*done;
  mortise_client_free(own);
  ++*done;
  pthread_testcancel();
  return NULL;
}

static void check_thread(void *(*body)(void *), int expected) {
  pthread_t thread;
  void *ended = NULL;
  int done = 0;
  CHECK(pthread_create(&thread, NULL, body, &done) == 0);
  CHECK(pthread_join(thread, &ended) == 0);
  CHECK(ended == PTHREAD_CANCELED);
  CHECK_NUMBER(expected, done);
}

static void a_call_is_not_cut_short(void) { check_thread(make_calls, calls_that_block); }

static void freeing_is_not_cut_short(void) {
  check_thread(free_all, calls_that_free);
  server_wait_for_exactly(server, lock_keys, 0);
}

static void *wait_for_the_lock(void *argument) {
  background_acquire(argument);
  pthread_testcancel();
  return NULL;
}

/* Cancelled from outside, while it sleeps: it gets the lock, which is not lost with the thread. */
static void a_wait_goes_on(void) {
  mortise_lock *holder = open_lock(client, "waits");
  mortise_lock *waiter = open_lock(client, "waits");
  background call = {.lock = waiter, .timeout_ms = patience_ms};
  void *ended = NULL;
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(holder, patience_ms, NULL));
  CHECK(pthread_create(&call.thread, NULL, wait_for_the_lock, &call) == 0);
  wait_until_busy(waiter);
  CHECK(pthread_cancel(call.thread) == 0);
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(holder, NULL));
  CHECK(pthread_join(call.thread, &ended) == 0);
  CHECK(ended == PTHREAD_CANCELED);
  CHECK_STATUS(MORTISE_OK, call.status);
  CHECK_NUMBER(1, mortise_lock_is_held(waiter));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(waiter, NULL));
  mortise_lock_free(holder);
  mortise_lock_free(waiter);
}

int main(void) {
  server = server_start(NULL);
  client = open_client(server);
  RUN(a_call_is_not_cut_short);
  RUN(freeing_is_not_cut_short);
  RUN(a_wait_goes_on);
  mortise_client_free(client);
  server_free(server);
  return 0;
}
