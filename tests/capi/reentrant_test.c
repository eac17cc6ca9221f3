/* Handles that may acquire again what they hold. */
#include "fixture.h"

static test_server *server;
static mortise_client *client;
static mortise_options *reentrant;

static void each_acquire_needs_its_unlock(void) {
  mortise_lock *lock = open_lock_with(client, "count", reentrant);
  mortise_lock *other = open_lock(client, "count");
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(lock, 1000, NULL));
  const int64_t token = mortise_lock_token(lock);
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(lock, 1000, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  CHECK_NUMBER(token, mortise_lock_token(lock));
  for (int i = 0; i < 2; ++i) {
    CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(lock, NULL));
    CHECK_NUMBER(1, mortise_lock_is_held(lock));
    CHECK_STATUS(MORTISE_NOT_ACQUIRED, mortise_lock_try(other, NULL));
  }
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(lock, NULL));
  CHECK_NUMBER(0, mortise_lock_is_held(lock));
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_lock_unlock(lock, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(other, NULL));
  CHECK_STATUS(MORTISE_NOT_ACQUIRED, mortise_lock_try(lock, NULL));
  mortise_lock_free(lock);
  mortise_lock_free(other);
}

static void further_acquires_ask_nobody(void) {
  mortise_lock *lock = open_lock_with(client, "local", reentrant);
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  server_pause(server);
  const int64_t begin = now_ms();
  for (int i = 0; i < 10000; ++i) CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  for (int i = 0; i < 10000; ++i) CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(lock, NULL));
  CHECK(now_ms() - begin < patience_ms / 4);
  server_resume(server);
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(lock, NULL));
  mortise_lock_free(lock);
}

static void a_lost_hold_must_be_unlocked_first(void) {
  mortise_lock *lock = open_lock_with(client, "lost", reentrant);
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  CHECK_NUMBER(1, server_number(server, "DEL {mortise:lost}"));
  CHECK_STATUS(MORTISE_LOST, mortise_lock_extend(lock, 0, NULL));
  CHECK_STATUS(MORTISE_LOST, mortise_lock_try(lock, NULL));
  CHECK_STATUS(MORTISE_LOST, mortise_lock_acquire(lock, 1000, NULL));
  CHECK_STATUS(MORTISE_LOST, mortise_lock_unlock(lock, NULL));
  CHECK_STATUS(MORTISE_LOST, mortise_lock_acquire(lock, 1000, NULL));
  CHECK_STATUS(MORTISE_LOST, mortise_lock_unlock(lock, NULL));
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_lock_unlock(lock, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(lock, patience_ms, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(lock, NULL));
  mortise_lock_free(lock);
}

/* Ownership is the handle's, not the thread's. */
static void any_thread_may_go_deeper(void) {
  mortise_lock *lock = open_lock_with(client, "threads", reentrant);
  background call;
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  start_acquire(&call, lock, 1000);
  CHECK_STATUS(MORTISE_OK, finish_acquire(&call));
  CHECK_NUMBER(mortise_lock_token(lock), call.token);
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(lock, NULL));
  CHECK_NUMBER(1, mortise_lock_is_held(lock));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(lock, NULL));
  CHECK_NUMBER(0, mortise_lock_is_held(lock));
  mortise_lock_free(lock);
}

static void further_acquires_complete_on_a_queue(void) {
  mortise_lock *lock = open_lock_with(client, "async", reentrant);
  mortise_queue *queue = mortise_queue_new(client, 16, NULL);
  int64_t records[MORTISE_RECORD_FIELDS];
  int64_t count = 0;
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire_async(lock, queue, 5, 1000, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_queue_next_batch(queue, patience_ms, records, 1, &count, NULL));
  CHECK_NUMBER(1, count);
  CHECK_NUMBER(MORTISE_EVENT_ACQUIRED, records[0]);
  CHECK_NUMBER(5, records[1]);
  CHECK_NUMBER(MORTISE_OK, records[2]);
  CHECK_NUMBER(mortise_lock_token(lock), records[3]);
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock_async(lock, queue, 6, NULL));
  CHECK_NUMBER(1, mortise_lock_is_held(lock));
  CHECK_STATUS(MORTISE_OK, mortise_queue_next_batch(queue, patience_ms, records, 1, &count, NULL));
  CHECK_NUMBER(MORTISE_EVENT_UNLOCKED, records[0]);
  CHECK_NUMBER(MORTISE_OK, records[2]);
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(lock, NULL));
  mortise_queue_free(queue);
  mortise_lock_free(lock);
}

static void freeing_gives_back_however_deep(void) {
  mortise_lock *lock = open_lock_with(client, "deep", reentrant);
  for (int i = 0; i < 3; ++i) CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  mortise_lock_free(lock);
  server_wait_for_exactly(server, "EXISTS {mortise:deep}", 0);
}

int main(void) {
  server = server_start(NULL);
  client = open_client(server);
  reentrant = options_with("reentrant", "on");
  RUN(each_acquire_needs_its_unlock);
  RUN(further_acquires_ask_nobody);
  RUN(a_lost_hold_must_be_unlocked_first);
  RUN(any_thread_may_go_deeper);
  RUN(further_acquires_complete_on_a_queue);
  RUN(freeing_gives_back_however_deep);
  mortise_options_free(reentrant);
  mortise_client_free(client);
  server_free(server);
  return 0;
}
