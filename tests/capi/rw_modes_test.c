/* Read-write locks: how a hold is counted, and how it changes between reading and writing. */
#include "fixture.h"

static test_server *server;
static mortise_client *client;
static mortise_queue *queue;

static mortise_rw *open_reentrant(const char *name) {
  mortise_options *options = options_with("reentrant", "on");
  mortise_rw *rw = open_rw_with(client, name, options);
  mortise_options_free(options);
  return rw;
}

static void a_held_handle_is_not_acquired_again(void) {
  mortise_rw *rw = open_rw(client, "again");
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_try(rw, NULL));
  CHECK_STATUS(MORTISE_ALREADY_HELD, mortise_rw_read_try(rw, NULL));
  CHECK_STATUS(MORTISE_ALREADY_HELD, mortise_rw_read_acquire(rw, 10, NULL));
  CHECK_STATUS(MORTISE_ALREADY_HELD, mortise_rw_write_try(rw, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_unlock(rw, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_try(rw, NULL));
  CHECK_STATUS(MORTISE_ALREADY_HELD, mortise_rw_read_try(rw, NULL));
  CHECK_STATUS(MORTISE_ALREADY_HELD, mortise_rw_write_acquire(rw, 10, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_unlock(rw, NULL));
  mortise_rw_free(rw);
}

static void reentrancy_counts_by_mode(void) {
  mortise_rw *rw = open_reentrant("deep");
  mortise_rw *other = open_rw(client, "deep");
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_try(rw, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_try(rw, NULL));
  CHECK_STATUS(MORTISE_ALREADY_HELD, mortise_rw_write_try(rw, NULL));
  CHECK_STATUS(MORTISE_ALREADY_HELD, mortise_rw_upgrade(rw, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_unlock(rw, NULL));
  CHECK_NUMBER(1, mortise_rw_is_reading(rw));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_unlock(rw, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_try(rw, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_try(rw, NULL));
  CHECK_STATUS(MORTISE_ALREADY_HELD, mortise_rw_downgrade(rw, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_try(rw, NULL));
  const int64_t token = mortise_rw_token(rw);
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_unlock(rw, NULL));
  CHECK_NUMBER(1, mortise_rw_is_writing(rw));
  CHECK_STATUS(MORTISE_NOT_ACQUIRED, mortise_rw_read_try(other, NULL));
  CHECK_STATUS(MORTISE_ALREADY_HELD, mortise_rw_downgrade(rw, NULL));
  /* The last unlock for writing leaves a reader, and others may read. */
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_unlock(rw, NULL));
  CHECK_NUMBER(0, mortise_rw_is_writing(rw));
  CHECK_NUMBER(1, mortise_rw_is_reading(rw));
  CHECK_NUMBER(token, mortise_rw_token(rw));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_try(other, NULL));
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_rw_write_unlock(rw, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_unlock(rw, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_unlock(other, NULL));
  CHECK_NUMBER(0, server_number(server, lock_keys));
  mortise_rw_free(rw);
  mortise_rw_free(other);
}

static void each_mode_is_reentrant_by_its_own_option(void) {
  mortise_options *options = options_with("reentrant_read", "on");
  mortise_rw *reader = open_rw_with(client, "modes", options);
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_try(reader, NULL));
  CHECK_STATUS(MORTISE_ALREADY_HELD, mortise_rw_write_try(reader, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_try(reader, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_unlock(reader, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_unlock(reader, NULL));
  set_option(options, "reentrant_read", "off");
  set_option(options, "reentrant_write", "on");
  mortise_rw *writer = open_rw_with(client, "modes", options);
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_try(writer, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_try(writer, NULL));
  CHECK_STATUS(MORTISE_ALREADY_HELD, mortise_rw_read_try(writer, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_unlock(writer, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_unlock(writer, NULL));
  mortise_options_free(options);
  mortise_rw_free(reader);
  mortise_rw_free(writer);
}

static void an_upgrade_takes_the_lock_if_nobody_else_reads(void) {
  mortise_rw *first = open_rw(client, "up");
  mortise_rw *second = open_rw(client, "up");
  mortise_rw *writer = open_rw(client, "up");
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_rw_upgrade(first, NULL));
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_rw_downgrade(first, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_try(first, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_try(second, NULL));
  const int64_t token = mortise_rw_token(first);
  CHECK_STATUS(MORTISE_NOT_ACQUIRED, mortise_rw_upgrade(first, NULL));
  CHECK_STATUS(MORTISE_NOT_ACQUIRED, mortise_rw_upgrade(second, NULL));
  CHECK_NUMBER(1, mortise_rw_is_reading(first));
  CHECK_NUMBER(token, mortise_rw_token(first));
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_rw_downgrade(first, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_unlock(second, NULL));
  /* Ahead of the waiters. */
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_acquire_async(writer, queue, 1, MORTISE_FOREVER, NULL));
  server_wait_for_exactly(server, "LLEN {mortise:up}:rq", 1);
  CHECK_STATUS(MORTISE_OK, mortise_rw_upgrade(first, NULL));
  CHECK_NUMBER(1, mortise_rw_is_writing(first));
  CHECK_NUMBER(0, mortise_rw_is_reading(first));
  CHECK(mortise_rw_token(first) > token);
  CHECK_STATUS(MORTISE_ALREADY_HELD, mortise_rw_upgrade(first, NULL));
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_rw_read_unlock(first, NULL));
  const int64_t raised = mortise_rw_token(first);
  CHECK_STATUS(MORTISE_OK, mortise_rw_downgrade(first, NULL));
  CHECK_NUMBER(raised, mortise_rw_token(first));
  CHECK_STATUS(MORTISE_OK, mortise_rw_upgrade(first, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_extend(first, 0, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_unlock(first, NULL));
  check_event(queue, MORTISE_EVENT_ACQUIRED, 1, MORTISE_OK);
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_unlock(writer, NULL));
  CHECK_NUMBER(0, server_number(server, lock_keys));
  mortise_rw_free(first);
  mortise_rw_free(second);
  mortise_rw_free(writer);
}

static void freeing_gives_back_whatever_is_held(void) {
  mortise_rw *deep = open_reentrant("free");
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_try(deep, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_try(deep, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_try(deep, NULL));
  mortise_rw_free(deep);
  server_wait_for_exactly(server, lock_keys, 0);
  mortise_rw *raised = open_rw(client, "free");
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_try(raised, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_upgrade_async(raised, queue, 1, NULL));
  mortise_rw_free(raised); /* while it is being upgraded */
  mortise_event *event = mortise_event_new();
  CHECK_STATUS(MORTISE_OK, mortise_queue_next(queue, patience_ms, event, NULL));
  CHECK_NUMBER(MORTISE_EVENT_UPGRADED, mortise_event_kind(event));
  mortise_event_free(event);
  server_wait_for_exactly(server, lock_keys, 0);
}

/* The server hangs: nothing is answered, and what was asked for is settled when it is back. */
static void an_upgrade_without_an_answer_goes_on_reading(void) {
  mortise_client *usual = client;
  client = open_quick_client(server, 1000);
  mortise_rw *rw = open_rw(client, "unknown");
  mortise_rw *other = open_rw(client, "unknown");
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_try(rw, NULL));
  const int64_t token = mortise_rw_token(rw);
  server_pause(server);
  CHECK_STATUS(MORTISE_UNKNOWN, mortise_rw_upgrade(rw, NULL));
  CHECK_NUMBER(1, mortise_rw_is_reading(rw));
  CHECK_NUMBER(0, mortise_rw_is_writing(rw));
  server_resume(server);
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_acquire(other, patience_ms, NULL));
  CHECK_NUMBER(1, mortise_rw_is_reading(rw));
  CHECK_NUMBER(0, mortise_rw_is_writing(rw));
  CHECK_NUMBER(token, mortise_rw_token(rw));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_unlock(rw, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_unlock(other, NULL));
  CHECK_NUMBER(0, server_number(server, lock_keys));
  mortise_rw_free(rw);
  mortise_rw_free(other);
  mortise_client_free(client);
  client = usual;
}

static void a_downgrade_without_an_answer_counts_at_once(void) {
  mortise_client *usual = client;
  client = open_quick_client(server, 1000);
  mortise_rw *rw = open_rw(client, "lower");
  mortise_rw *other = open_rw(client, "lower");
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_try(rw, NULL));
  server_pause(server);
  CHECK_STATUS(MORTISE_UNKNOWN, mortise_rw_downgrade(rw, NULL));
  CHECK_NUMBER(0, mortise_rw_is_writing(rw));
  CHECK_NUMBER(1, mortise_rw_is_reading(rw));
  server_resume(server);
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_acquire(other, patience_ms, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_unlock(rw, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_unlock(other, NULL));
  CHECK_NUMBER(0, server_number(server, lock_keys));
  mortise_rw_free(rw);
  mortise_rw_free(other);
  mortise_client_free(client);
  client = usual;
}

int main(void) {
  server = server_start(NULL);
  client = open_client(server);
  queue = open_queue(client, 0);
  RUN(a_held_handle_is_not_acquired_again);
  RUN(reentrancy_counts_by_mode);
  RUN(each_mode_is_reentrant_by_its_own_option);
  RUN(an_upgrade_takes_the_lock_if_nobody_else_reads);
  RUN(freeing_gives_back_whatever_is_held);
  RUN(an_upgrade_without_an_answer_goes_on_reading);
  RUN(a_downgrade_without_an_answer_counts_at_once);
  mortise_queue_free(queue);
  mortise_client_free(client);
  server_free(server);
  return 0;
}
