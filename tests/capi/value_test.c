/* The value of a hold: everybody reads it, only its owner sets it, and it ends with the hold. */
#include "fixture.h"

#define value_keys "EVAL return(#redis.call('KEYS','{mortise:*}:value:*')) 0"

/* Whether the value lasts for more than half a minute. */
#define is_long                                                                    \
  "EVAL return(redis.call('PTTL',redis.call('KEYS','{mortise:*}:value:*')[1]or(''" \
  "))>30000)and(1)or(0) 0"

static test_server *server;
static mortise_client *client;
static mortise_client *other;

static mortise_status set_value(mortise_lock *lock, const char *value, mortise_error *error) {
  return mortise_lock_set_value(lock, value, strlen(value), error);
}

static void check_value(mortise_lock *by, const char *expected) {
  mortise_info *info = mortise_info_new();
  CHECK_STATUS(MORTISE_OK, mortise_lock_query(by, info, NULL));
  if (strcmp(mortise_info_entry_value(info, 0), expected) != 0) {
    check_failed(__FILE__, __LINE__, mortise_info_entry_value(info, 0));
  }
  mortise_info_free(info);
}

static void another_client_reads_it_until_the_unlock(void) {
  mortise_lock *lock = open_lock(client, "read");
  mortise_lock *reader = open_lock(other, "read");
  CHECK_STATUS(MORTISE_NOT_OWNER, set_value(lock, "early", NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  check_value(reader, "");
  CHECK_STATUS(MORTISE_OK, set_value(lock, "here", NULL));
  check_value(reader, "here");
  CHECK_NUMBER(1, server_number(server, value_keys));
  CHECK_STATUS(MORTISE_OK, mortise_lock_set_value(lock, NULL, 0, NULL));
  check_value(reader, "");
  CHECK_NUMBER(0, server_number(server, value_keys));
  CHECK_STATUS(MORTISE_OK, set_value(lock, "there", NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(lock, NULL));
  CHECK_NUMBER(0, server_number(server, value_keys));
  CHECK_STATUS(MORTISE_NOT_OWNER, set_value(lock, "late", NULL));
  mortise_lock_free(reader);
  mortise_lock_free(lock);
}

/* A renewal moves the end of the lease, and of the value. */
static void it_lasts_as_long_as_its_hold(void) {
  mortise_options *options = options_with("lease", "400ms");
  mortise_lock *lock = open_lock_with(client, "lasts", options);
  mortise_options_free(options);
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  CHECK_STATUS(MORTISE_OK, set_value(lock, "lasts", NULL));
  struct timespec pause = {1, 500000000};
  nanosleep(&pause, NULL);
  check_value(lock, "lasts");
  CHECK_STATUS(MORTISE_OK, mortise_lock_extend(lock, 60000, NULL));
  server_wait_for_exactly(server, is_long, 1);
  mortise_lock_free(lock);
  server_wait_for_exactly(server, value_keys, 0);
}

/* Hazards 16 and 17: a stale owner is refused, and its value is not that of the next holder. */
static void a_lost_hold_sets_nothing(void) {
  mortise_error *error = mortise_error_new();
  mortise_lock *lock = open_lock(client, "lost");
  mortise_lock *next = open_lock(other, "lost");
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  CHECK_STATUS(MORTISE_OK, set_value(lock, "old", NULL));
  CHECK_NUMBER(1, server_number(server, "DEL {mortise:lost}"));
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(next, NULL));
  check_value(next, "");
  CHECK_STATUS(MORTISE_LOST, set_value(lock, "older", error));
  CHECK_NUMBER(MORTISE_REASON_REPLACED, mortise_error_reason(error));
  check_value(next, "");
  CHECK_STATUS(MORTISE_OK, set_value(next, "new", NULL));
  check_value(lock, "new");
  mortise_lock_free(next);
  mortise_lock_free(lock);
  mortise_error_free(error);
}

/* A handle of the same client gets the lock without the value of the one before. */
static void a_value_is_not_passed_on(void) {
  mortise_queue *queue = open_queue(client, 0);
  mortise_lock *lock = open_lock(client, "passed");
  mortise_lock *next = open_lock(client, "passed");
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  CHECK_STATUS(MORTISE_OK, set_value(lock, "first", NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire_async(next, queue, 1, patience_ms, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(lock, NULL));
  check_event(queue, MORTISE_EVENT_ACQUIRED, 1, MORTISE_OK);
  check_value(lock, "");
  CHECK_STATUS(MORTISE_OK, mortise_lock_set_value_async(next, queue, 2, "second", 6, NULL));
  check_event(queue, MORTISE_EVENT_VALUE_SET, 2, MORTISE_OK);
  check_value(lock, "second");
  mortise_lock_free(next);
  mortise_lock_free(lock);
  mortise_queue_free(queue);
}

static void wrong_values_are_refused(void) {
  mortise_error *error = mortise_error_new();
  mortise_lock *lock = open_lock(client, "wrong");
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_lock_set_value(lock, NULL, 1, error));
  CHECK_CONTAINS(mortise_error_message(error), "value");
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_lock_set_value(lock, "a\0b", 3, error));
  CHECK_CONTAINS(mortise_error_message(error), "at byte 2; give UTF-8 without zero bytes");
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, set_value(lock, "\xff", error));
  char large[MORTISE_MAX_VALUE_LEN + 1];
  memset(large, 'v', sizeof large);
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_lock_set_value(lock, large, sizeof large, error));
  CHECK_CONTAINS(mortise_error_message(error), "value: 1025 bytes; give at most 1024");
  CHECK_STATUS(MORTISE_OK, mortise_lock_set_value(lock, large, sizeof large - 1, error));
  mortise_options *options = mortise_options_new();
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT,
               mortise_options_set(options, "value", 5, "\xff", 1, error));
  mortise_options_free(options);
  mortise_lock_free(lock);
  mortise_error_free(error);
}

/* The server is full: the value is refused, and the hold stays. */
static void a_full_server_refuses_the_value_only(void) {
  mortise_lock *lock = open_lock(client, "full");
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  server_command(server, "CONFIG SET maxmemory 1");
  CHECK_STATUS(MORTISE_REFUSED, set_value(lock, "value", NULL));
  CHECK_NUMBER(1, mortise_lock_is_held(lock));
  CHECK_STATUS(MORTISE_OK, mortise_lock_extend(lock, 0, NULL));
  server_command(server, "CONFIG SET maxmemory 0");
  CHECK_STATUS(MORTISE_OK, mortise_lock_extend(lock, 60000, NULL));
  server_wait_for_exactly(server, value_keys, 1);
  mortise_lock_free(lock);
}

int main(void) {
  server = server_start(NULL);
  client = open_client(server);
  other = open_client(server);
  RUN(another_client_reads_it_until_the_unlock);
  RUN(it_lasts_as_long_as_its_hold);
  RUN(a_lost_hold_sets_nothing);
  RUN(a_value_is_not_passed_on);
  RUN(wrong_values_are_refused);
  RUN(a_full_server_refuses_the_value_only);
  mortise_client_free(other);
  mortise_client_free(client);
  server_free(server);
  return 0;
}
