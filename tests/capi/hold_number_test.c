/* Numbers of holds, which distinguish the hold that ended from the next one of the same handle. */
#include "fixture.h"

static test_server *server;
static mortise_client *client, *second_client;

static void each_grant_raises_the_number(void) {
  mortise_lock *lock = open_lock(client, "number");
  CHECK_NUMBER(0, mortise_lock_hold_number(lock));
  for (int i = 1; i <= 3; ++i) {
    CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
    CHECK_NUMBER(i, mortise_lock_hold_number(lock));
    CHECK_STATUS(MORTISE_OK, mortise_lock_unlock_hold(lock, i, NULL));
    CHECK_NUMBER(0, mortise_lock_is_held(lock));
    CHECK_NUMBER(i, mortise_lock_hold_number(lock));
  }
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_lock_unlock_hold(lock, 3, NULL));
  mortise_lock_free(lock);
}

static void what_has_ended_ends_no_later_hold(void) {
  mortise_lock *lock = open_lock(client, "later");
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(lock, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  CHECK_STATUS(MORTISE_LOST, mortise_lock_unlock_hold(lock, 1, NULL));
  CHECK_NUMBER(1, mortise_lock_is_held(lock));
  mortise_queue *queue = mortise_queue_new(client, 0, NULL);
  CHECK_STATUS(MORTISE_LOST, mortise_lock_unlock_hold_async(lock, queue, 7, 1, NULL));
  CHECK_NUMBER(1, mortise_lock_is_held(lock));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock_hold_async(lock, queue, 7, 2, NULL));
  mortise_event *event = mortise_event_new();
  CHECK_STATUS(MORTISE_OK, mortise_queue_next(queue, patience_ms, event, NULL));
  CHECK_NUMBER(MORTISE_EVENT_UNLOCKED, mortise_event_kind(event));
  CHECK_NUMBER(2, mortise_event_hold_number(event));
  CHECK_NUMBER(0, mortise_lock_is_held(lock));
  mortise_event_free(event);
  mortise_queue_free(queue);
  mortise_lock_free(lock);
}

/* While the handle waits for its next hold, the hold before has ended. */
static void what_has_ended_ends_no_wait(void) {
  mortise_lock *lock = open_lock(client, "wait"), *other = open_lock(second_client, "wait");
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(lock, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(other, NULL));
  mortise_queue *queue = mortise_queue_new(client, 0, NULL);
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire_async(lock, queue, 1, MORTISE_FOREVER, NULL));
  CHECK_STATUS(MORTISE_LOST, mortise_lock_unlock_hold(lock, 1, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(other, NULL));
  int64_t record[MORTISE_RECORD_FIELDS], count = 0;
  CHECK_STATUS(MORTISE_OK, mortise_queue_next_batch(queue, patience_ms, record, 1, &count, NULL));
  CHECK_NUMBER(MORTISE_EVENT_ACQUIRED, record[0]);
  CHECK_NUMBER(MORTISE_OK, record[2]);
  CHECK_NUMBER(mortise_lock_token(lock), record[3]);
  CHECK_NUMBER(2, record[4]);
  mortise_queue_free(queue);
  mortise_lock_free(lock);
  mortise_lock_free(other);
}

static void a_reader_has_another_number_where_it_has_the_same_token(void) {
  mortise_rw *other = open_rw(client, "read"), *mine = open_rw(client, "read");
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_try(other, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_try(mine, NULL));
  const int64_t token = mortise_rw_token(mine);
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_unlock_hold(mine, 1, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_try(mine, NULL));
  CHECK_NUMBER(token, mortise_rw_token(mine));
  CHECK_NUMBER(2, mortise_rw_hold_number(mine));
  CHECK_STATUS(MORTISE_LOST, mortise_rw_read_unlock_hold(mine, 1, NULL));
  CHECK_NUMBER(1, mortise_rw_is_reading(mine));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_unlock(other, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_upgrade(mine, NULL));
  CHECK_NUMBER(2, mortise_rw_hold_number(mine));
  CHECK_STATUS(MORTISE_LOST, mortise_rw_write_unlock_hold(mine, 1, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_unlock_hold(mine, 2, NULL));
  mortise_rw_free(other);
  mortise_rw_free(mine);
}

static void permits_have_numbers(void) {
  mortise_semaphore *semaphore = open_semaphore(client, "permits", 2);
  for (int i = 1; i <= 2; ++i) {
    CHECK_STATUS(MORTISE_OK, mortise_semaphore_try(semaphore, 1, NULL));
    CHECK_NUMBER(i, mortise_semaphore_hold_number(semaphore));
    if (i > 1) CHECK_STATUS(MORTISE_LOST, mortise_semaphore_release_hold(semaphore, i - 1, NULL));
    CHECK_NUMBER(1, mortise_semaphore_is_held(semaphore));
    CHECK_STATUS(MORTISE_OK, mortise_semaphore_release_hold(semaphore, i, NULL));
  }
  mortise_semaphore_free(semaphore);
}

/* What was lost stays lost, although its member is held again. */
static void a_member_that_is_acquired_by_itself_is_not_of_the_multi(void) {
  mortise_lock *first = open_lock(client, "first"), *second = open_lock(client, "second");
  mortise_multi *multi = mortise_multi_new(client, NULL);
  CHECK_STATUS(MORTISE_OK, mortise_multi_add_lock(multi, first, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_multi_add_lock(multi, second, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_multi_try(multi, NULL));
  CHECK_NUMBER(1, mortise_multi_hold_number(multi));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(first, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(first, NULL));
  CHECK_NUMBER(0, mortise_multi_is_held(multi));
  CHECK_NUMBER(0, mortise_multi_valid_ms(multi));
  CHECK_NUMBER(0, mortise_multi_deadline_ns(multi));
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_multi_extend(multi, 0, NULL));
  CHECK_STATUS(MORTISE_LOST, mortise_multi_unlock_hold(multi, 1, NULL));
  CHECK_NUMBER(1, mortise_lock_is_held(first));
  CHECK_NUMBER(0, mortise_lock_is_held(second));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(first, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_multi_try(multi, NULL));
  CHECK_NUMBER(2, mortise_multi_hold_number(multi));
  CHECK_STATUS(MORTISE_LOST, mortise_multi_unlock_hold(multi, 1, NULL));
  CHECK_NUMBER(1, mortise_multi_is_held(multi));
  CHECK_STATUS(MORTISE_OK, mortise_multi_unlock_hold(multi, 2, NULL));
  mortise_multi_free(multi);
  mortise_lock_free(first);
  mortise_lock_free(second);
}

static void no_hold_has_such_a_number(void) {
  mortise_lock *lock = open_lock(client, "none");
  mortise_error *error = mortise_error_new();
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  for (int64_t number = -1; number <= 0; ++number) {
    CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_lock_unlock_hold(lock, number, error));
    CHECK(strstr(mortise_error_message(error), "hold_number") != NULL);
  }
  CHECK_NUMBER(1, mortise_lock_is_held(lock));
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_lock_unlock_hold(NULL, 1, NULL));
  CHECK_NUMBER(0, mortise_lock_hold_number(NULL));
  CHECK_NUMBER(0, mortise_multi_hold_number(NULL));
  CHECK_NUMBER(0, mortise_event_hold_number(NULL));
  mortise_error_free(error);
  mortise_lock_free(lock);
}

int main(void) {
  server = server_start(NULL);
  client = open_client(server);
  second_client = open_client(server);
  RUN(each_grant_raises_the_number);
  RUN(what_has_ended_ends_no_later_hold);
  RUN(what_has_ended_ends_no_wait);
  RUN(a_reader_has_another_number_where_it_has_the_same_token);
  RUN(permits_have_numbers);
  RUN(a_member_that_is_acquired_by_itself_is_not_of_the_multi);
  RUN(no_hold_has_such_a_number);
  mortise_client_free(second_client);
  mortise_client_free(client);
  server_free(server);
  return 0;
}
