/* Read-write locks: who may hold together, in which order, and how a hold changes its mode. */
#include "fixture.h"

static test_server *server;
static mortise_client *client;
static mortise_queue *queue;

static mortise_rw *open_rw(const char *name, const mortise_options *options) {
  mortise_rw *rw = mortise_rw_new(client, name, strlen(name), options, NULL);
  CHECK(rw != NULL);
  return rw;
}

static mortise_rw *open_reentrant(const char *name) {
  mortise_options *options = options_with("reentrant", "on");
  mortise_rw *rw = open_rw(name, options);
  mortise_options_free(options);
  return rw;
}

/* The next event has this kind, tag and status. */
static void check_event(mortise_event_kind kind, int64_t tag, mortise_status status) {
  mortise_event *event = mortise_event_new();
  CHECK_STATUS(MORTISE_OK, mortise_queue_next(queue, patience_ms, event, NULL));
  CHECK_NUMBER(kind, mortise_event_get_kind(event));
  CHECK_NUMBER(tag, mortise_event_tag(event));
  CHECK_STATUS(status, mortise_event_status(event));
  mortise_event_free(event);
}

static void check_quiet(void) {
  mortise_event *event = mortise_event_new();
  CHECK_STATUS(MORTISE_TIMED_OUT, mortise_queue_next(queue, 0, event, NULL));
  mortise_event_free(event);
}

/* The handles wait at the server in the order of these calls. */
static void wait_to_read(mortise_rw *rw, int64_t tag, const char *length, int64_t place) {
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_acquire_async(rw, queue, tag, MORTISE_FOREVER, NULL));
  server_wait_for_exactly(server, length, place);
}

static void wait_to_write(mortise_rw *rw, int64_t tag, const char *length, int64_t place) {
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_acquire_async(rw, queue, tag, MORTISE_FOREVER, NULL));
  server_wait_for_exactly(server, length, place);
}

static void readers_share_and_a_writer_is_alone(void) {
  mortise_rw *first = open_rw("share", NULL);
  mortise_rw *second = open_rw("share", NULL);
  mortise_rw *writer = open_rw("share", NULL);
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_try(first, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_acquire(second, patience_ms, NULL));
  CHECK_NUMBER(1, mortise_rw_is_reading(first));
  CHECK_NUMBER(0, mortise_rw_is_writing(first));
  CHECK(mortise_rw_valid_ms(first) > 0);
  CHECK_STATUS(MORTISE_NOT_ACQUIRED, mortise_rw_write_try(writer, NULL));
  CHECK_STATUS(MORTISE_TIMED_OUT, mortise_rw_write_acquire(writer, 50, NULL));
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_rw_write_unlock(first, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_unlock(first, NULL));
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_rw_read_unlock(first, NULL));
  CHECK_STATUS(MORTISE_NOT_ACQUIRED, mortise_rw_write_try(writer, NULL));
  const int64_t reader_token = mortise_rw_token(second);
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_unlock(second, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_try(writer, NULL));
  CHECK_NUMBER(1, mortise_rw_is_writing(writer));
  CHECK_NUMBER(0, mortise_rw_is_reading(writer));
  CHECK(mortise_rw_token(writer) > reader_token);
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_rw_read_unlock(writer, NULL));
  CHECK_STATUS(MORTISE_NOT_ACQUIRED, mortise_rw_read_try(first, NULL));
  CHECK_STATUS(MORTISE_TIMED_OUT, mortise_rw_read_acquire(first, 50, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_unlock(writer, NULL));
  CHECK_NUMBER(0, server_number(server, lock_keys));
  mortise_rw_free(first);
  mortise_rw_free(second);
  mortise_rw_free(writer);
}

static void a_held_handle_is_not_acquired_again(void) {
  mortise_rw *rw = open_rw("again", NULL);
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
  mortise_rw *other = open_rw("deep", NULL);
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_try(rw, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_try(rw, NULL));
  CHECK_STATUS(MORTISE_ALREADY_HELD, mortise_rw_write_try(rw, NULL));
  CHECK_STATUS(MORTISE_ALREADY_HELD, mortise_rw_upgrade_try(rw, NULL));
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
  mortise_rw *reader = open_rw("modes", options);
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_try(reader, NULL));
  CHECK_STATUS(MORTISE_ALREADY_HELD, mortise_rw_write_try(reader, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_try(reader, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_unlock(reader, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_unlock(reader, NULL));
  set_option(options, "reentrant_read", "off");
  set_option(options, "reentrant_write", "on");
  mortise_rw *writer = open_rw("modes", options);
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_try(writer, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_try(writer, NULL));
  CHECK_STATUS(MORTISE_ALREADY_HELD, mortise_rw_read_try(writer, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_unlock(writer, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_unlock(writer, NULL));
  mortise_options_free(options);
  mortise_rw_free(reader);
  mortise_rw_free(writer);
}

static void a_writer_who_waits_holds_back_later_readers(void) {
  const char *const length = "LLEN {mortise:order}:rq";
  mortise_rw *all[6];
  for (int i = 0; i < 6; ++i) all[i] = open_rw("order", NULL);
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_try(all[0], NULL));
  wait_to_write(all[1], 1, length, 1);
  CHECK_STATUS(MORTISE_NOT_ACQUIRED, mortise_rw_read_try(all[2], NULL));
  wait_to_read(all[2], 2, length, 2);
  wait_to_read(all[3], 3, length, 3);
  wait_to_write(all[4], 4, length, 4);
  wait_to_read(all[5], 5, length, 5);
  check_quiet();
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_unlock(all[0], NULL));
  check_event(MORTISE_EVENT_ACQUIRED, 1, MORTISE_OK);
  CHECK_NUMBER(1, mortise_rw_is_writing(all[1]));
  /* One release lets in both readers, and not the one behind the second writer. */
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_unlock(all[1], NULL));
  check_event(MORTISE_EVENT_ACQUIRED, 2, MORTISE_OK);
  check_event(MORTISE_EVENT_ACQUIRED, 3, MORTISE_OK);
  CHECK_NUMBER(mortise_rw_token(all[2]), mortise_rw_token(all[3]));
  CHECK(mortise_rw_token(all[2]) > mortise_rw_token(all[1]));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_unlock(all[2], NULL));
  check_quiet();
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_unlock(all[3], NULL));
  check_event(MORTISE_EVENT_ACQUIRED, 4, MORTISE_OK);
  CHECK(mortise_rw_token(all[4]) > mortise_rw_token(all[3]));
  /* A writer that only reads from now on lets the waiting reader in. */
  CHECK_STATUS(MORTISE_OK, mortise_rw_downgrade(all[4], NULL));
  check_event(MORTISE_EVENT_ACQUIRED, 5, MORTISE_OK);
  CHECK_NUMBER(1, mortise_rw_is_reading(all[4]));
  CHECK_NUMBER(0, mortise_rw_is_writing(all[4]));
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_rw_write_unlock(all[4], NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_unlock(all[4], NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_unlock(all[5], NULL));
  CHECK_NUMBER(0, server_number(server, lock_keys));
  for (int i = 0; i < 6; ++i) mortise_rw_free(all[i]);
}

static void an_upgrade_takes_the_lock_if_nobody_else_reads(void) {
  mortise_rw *first = open_rw("up", NULL);
  mortise_rw *second = open_rw("up", NULL);
  mortise_rw *writer = open_rw("up", NULL);
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_rw_upgrade_try(first, NULL));
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_rw_downgrade(first, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_try(first, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_try(second, NULL));
  const int64_t token = mortise_rw_token(first);
  CHECK_STATUS(MORTISE_NOT_ACQUIRED, mortise_rw_upgrade_try(first, NULL));
  CHECK_STATUS(MORTISE_NOT_ACQUIRED, mortise_rw_upgrade_try(second, NULL));
  CHECK_NUMBER(1, mortise_rw_is_reading(first));
  CHECK_NUMBER(token, mortise_rw_token(first));
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_rw_downgrade(first, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_unlock(second, NULL));
  /* Ahead of those who wait. */
  wait_to_write(writer, 1, "LLEN {mortise:up}:rq", 1);
  CHECK_STATUS(MORTISE_OK, mortise_rw_upgrade_try(first, NULL));
  CHECK_NUMBER(1, mortise_rw_is_writing(first));
  CHECK_NUMBER(0, mortise_rw_is_reading(first));
  CHECK(mortise_rw_token(first) > token);
  CHECK_STATUS(MORTISE_ALREADY_HELD, mortise_rw_upgrade_try(first, NULL));
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_rw_read_unlock(first, NULL));
  const int64_t raised = mortise_rw_token(first);
  CHECK_STATUS(MORTISE_OK, mortise_rw_downgrade(first, NULL));
  CHECK_NUMBER(raised, mortise_rw_token(first));
  CHECK_STATUS(MORTISE_OK, mortise_rw_upgrade_try(first, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_extend(first, 0, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_unlock(first, NULL));
  check_event(MORTISE_EVENT_ACQUIRED, 1, MORTISE_OK);
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_unlock(writer, NULL));
  CHECK_NUMBER(0, server_number(server, lock_keys));
  mortise_rw_free(first);
  mortise_rw_free(second);
  mortise_rw_free(writer);
}

static void every_call_also_ends_in_an_event(void) {
  mortise_rw *rw = open_rw("async", NULL);
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_try_async(rw, queue, 1, NULL));
  check_event(MORTISE_EVENT_ACQUIRED, 1, MORTISE_OK);
  CHECK_STATUS(MORTISE_OK, mortise_rw_upgrade_try_async(rw, queue, 2, NULL));
  check_event(MORTISE_EVENT_UPGRADED, 2, MORTISE_OK);
  CHECK_NUMBER(1, mortise_rw_is_writing(rw));
  CHECK_STATUS(MORTISE_OK, mortise_rw_extend_async(rw, queue, 3, 60000, NULL));
  check_event(MORTISE_EVENT_EXTENDED, 3, MORTISE_OK);
  CHECK(mortise_rw_valid_ms(rw) > 30000);
  CHECK_STATUS(MORTISE_OK, mortise_rw_downgrade_async(rw, queue, 4, NULL));
  check_event(MORTISE_EVENT_DOWNGRADED, 4, MORTISE_OK);
  CHECK(mortise_rw_valid_ms(rw) > 30000);
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_unlock_async(rw, queue, 5, NULL));
  check_event(MORTISE_EVENT_UNLOCKED, 5, MORTISE_OK);
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_try_async(rw, queue, 6, NULL));
  check_event(MORTISE_EVENT_ACQUIRED, 6, MORTISE_OK);
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_unlock_async(rw, queue, 7, NULL));
  check_event(MORTISE_EVENT_UNLOCKED, 7, MORTISE_OK);
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_rw_upgrade_try_async(rw, queue, 8, NULL));
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_rw_downgrade_async(rw, queue, 8, NULL));
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_rw_read_unlock_async(rw, queue, 8, NULL));
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_rw_read_try_async(rw, NULL, 8, NULL));
  check_quiet();
  mortise_rw_free(rw);
}

static void a_wait_is_cancelled_and_those_behind_go_on(void) {
  const char *const length = "LLEN {mortise:cancel}:rq";
  mortise_rw *reader = open_rw("cancel", NULL);
  mortise_rw *writer = open_rw("cancel", NULL);
  mortise_rw *behind = open_rw("cancel", NULL);
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_rw_cancel(writer, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_try(reader, NULL));
  wait_to_write(writer, 1, length, 1);
  CHECK_STATUS(MORTISE_BUSY, mortise_rw_read_try(writer, NULL));
  CHECK_STATUS(MORTISE_BUSY, mortise_rw_upgrade_try(writer, NULL));
  wait_to_read(behind, 2, length, 2);
  CHECK_STATUS(MORTISE_OK, mortise_rw_cancel(writer, NULL));
  check_event(MORTISE_EVENT_ACQUIRED, 1, MORTISE_CANCELLED);
  check_event(MORTISE_EVENT_ACQUIRED, 2, MORTISE_OK);
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_unlock(behind, NULL));
  /* Free does the same. */
  wait_to_write(writer, 3, length, 1);
  wait_to_read(behind, 4, length, 2);
  mortise_rw_free(writer);
  check_event(MORTISE_EVENT_ACQUIRED, 3, MORTISE_CLOSED);
  check_event(MORTISE_EVENT_ACQUIRED, 4, MORTISE_OK);
  mortise_rw_free(reader);
  mortise_rw_free(behind);
  server_wait_for_exactly(server, lock_keys, 0);
}

static void freeing_gives_back_whatever_is_held(void) {
  mortise_rw *deep = open_reentrant("free");
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_try(deep, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_try(deep, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_try(deep, NULL));
  mortise_rw_free(deep);
  server_wait_for_exactly(server, lock_keys, 0);
  mortise_rw *raised = open_rw("free", NULL);
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_try(raised, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_upgrade_try_async(raised, queue, 1, NULL));
  mortise_rw_free(raised); /* while it is being upgraded */
  mortise_event *event = mortise_event_new();
  CHECK_STATUS(MORTISE_OK, mortise_queue_next(queue, patience_ms, event, NULL));
  CHECK_NUMBER(MORTISE_EVENT_UPGRADED, mortise_event_get_kind(event));
  mortise_event_free(event);
  server_wait_for_exactly(server, lock_keys, 0);
}

static void losses_are_told_of_each_hold(void) {
  mortise_options *options = options_with("lease", "600ms");
  mortise_rw *first = open_rw("lost", options);
  mortise_rw *second = open_rw("lost", options);
  CHECK_STATUS(MORTISE_OK, mortise_rw_watch(first, queue, 1, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_watch(second, queue, 2, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_try(first, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_try(second, NULL));
  server_command(server, "DEL {mortise:lost}");
  mortise_event *event = mortise_event_new();
  int64_t tags = 0;
  for (int i = 0; i < 2; ++i) {
    do {
      CHECK_STATUS(MORTISE_OK, mortise_queue_next(queue, patience_ms, event, NULL));
    } while (mortise_event_get_kind(event) == MORTISE_EVENT_AT_RISK);
    CHECK_NUMBER(MORTISE_EVENT_LOST, mortise_event_get_kind(event));
    tags += mortise_event_tag(event);
  }
  CHECK_NUMBER(3, tags);
  mortise_event_free(event);
  CHECK_NUMBER(0, mortise_rw_is_reading(first));
  CHECK_STATUS(MORTISE_LOST, mortise_rw_upgrade_try(first, NULL));
  CHECK_STATUS(MORTISE_LOST, mortise_rw_extend(first, 0, NULL));
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_rw_write_unlock(first, NULL));
  CHECK_STATUS(MORTISE_LOST, mortise_rw_read_unlock(first, NULL));
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_rw_read_unlock(first, NULL));
  mortise_options_free(options);
  mortise_rw_free(first);
  mortise_rw_free(second);
}

static void a_query_tells_who_holds_what(void) {
  mortise_info *info = mortise_info_new();
  mortise_options *options = options_with("label", "a reader");
  mortise_rw *reader = open_rw("query", options);
  mortise_rw *second = open_rw("query", NULL);
  mortise_rw *writer = open_rw("query", NULL);
  CHECK_STATUS(MORTISE_OK, mortise_rw_query(reader, info, NULL));
  CHECK_NUMBER(0, mortise_info_is_held(info));
  CHECK_NUMBER(0, mortise_info_holder_count(info));
  CHECK_NUMBER(0, mortise_info_permits(info));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_try(reader, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_try(second, NULL));
  wait_to_write(writer, 1, "LLEN {mortise:query}:rq", 1);
  CHECK_STATUS(MORTISE_OK, mortise_rw_query(reader, info, NULL));
  CHECK_NUMBER(1, mortise_info_is_held(info));
  CHECK_NUMBER(1, mortise_info_is_mine(info));
  CHECK_NUMBER(2, mortise_info_holder_count(info));
  CHECK_NUMBER(2, mortise_info_shown_holder_count(info));
  CHECK_NUMBER(1, mortise_info_waiter_count(info));
  CHECK_NUMBER(3, mortise_info_entry_count(info));
  CHECK_NUMBER(0, mortise_info_permits(info));
  CHECK_NUMBER(0, mortise_info_permits_in_use(info));
  CHECK(mortise_info_time_left_ms(info) > 0);
  CHECK(strcmp(mortise_info_entry_label(info, 0), "a reader") == 0 ||
        strcmp(mortise_info_entry_label(info, 1), "a reader") == 0);
  CHECK_NUMBER(0, mortise_info_entry_is_exclusive(info, 0));
  CHECK_NUMBER(0, mortise_info_entry_is_exclusive(info, 1));
  CHECK_NUMBER(1, mortise_info_entry_is_exclusive(info, 2));
  CHECK_NUMBER(1, mortise_info_entry_weight(info, 2));
  CHECK_STATUS(MORTISE_OK, mortise_rw_query(writer, info, NULL));
  CHECK_NUMBER(0, mortise_info_is_mine(info));
  mortise_rw_free(reader);
  mortise_rw_free(second);
  check_event(MORTISE_EVENT_ACQUIRED, 1, MORTISE_OK);
  CHECK_STATUS(MORTISE_OK, mortise_rw_query(writer, info, NULL));
  CHECK_NUMBER(1, mortise_info_is_mine(info));
  CHECK_NUMBER(1, mortise_info_holder_count(info));
  CHECK_NUMBER(1, mortise_info_entry_is_exclusive(info, 0));
  mortise_rw_free(writer);
  mortise_options_free(options);
  mortise_info_free(info);
}

/* Whatever else is there under the name is refused, and stays as it is. */
static void other_kinds_of_lock_are_refused(void) {
  mortise_error *error = mortise_error_new();
  mortise_info *info = mortise_info_new();
  mortise_rw *rw = open_rw("kinds", NULL);
  const char *const others[] = {"SET {mortise:kinds} m1:a:1.1::1 PX 60000",
                                "RPUSH {mortise:kinds} x", "ZADD {mortise:kinds} 5 x",
                                "ZADD {mortise:kinds} -1 semaphore 9999999999999 x"};
  for (int i = 0; i < 4; ++i) {
    server_command(server, others[i]);
    char before[512];
    snprintf(before, sizeof before, "%s", server_command(server, "DUMP {mortise:kinds}"));
    CHECK_STATUS(MORTISE_REFUSED, mortise_rw_read_try(rw, error));
    CHECK_CONTAINS(mortise_error_server_text(error), "FOREIGN");
    CHECK_CONTAINS(mortise_error_server_text(error), "{mortise:kinds}");
    CHECK_STATUS(MORTISE_REFUSED, mortise_rw_write_acquire(rw, patience_ms, error));
    CHECK_CONTAINS(mortise_error_server_text(error), "FOREIGN");
    CHECK_STATUS(MORTISE_REFUSED, mortise_rw_query(rw, info, error));
    CHECK_CONTAINS(server_command(server, "DUMP {mortise:kinds}"), before);
    CHECK_NUMBER(1, server_number(server, lock_keys));
    server_command(server, "DEL {mortise:kinds}");
  }
  mortise_lock *lock = open_lock(client, "kinds");
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_try(rw, NULL));
  CHECK_STATUS(MORTISE_REFUSED, mortise_lock_acquire(lock, patience_ms, error));
  CHECK_CONTAINS(mortise_error_server_text(error), "FOREIGN");
  CHECK_NUMBER(1, mortise_rw_is_writing(rw));
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_unlock(rw, NULL));
  mortise_lock_free(lock);
  mortise_rw_free(rw);
  mortise_info_free(info);
  mortise_error_free(error);
}

/* A hold that is over does nothing to the lock of another kind that has come after it. */
static void a_late_release_leaves_another_kind_alone(void) {
  mortise_rw *rw = open_rw("late", NULL);
  mortise_semaphore *semaphore = mortise_semaphore_new(client, "late", 4, 3, NULL, NULL);
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_try(rw, NULL));
  server_command(server, "DEL {mortise:late}");
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_try(semaphore, 2, NULL));
  CHECK_STATUS(MORTISE_LOST, mortise_rw_read_unlock(rw, NULL));
  CHECK_NUMBER(2, server_number(server, "ZCARD {mortise:late}"));
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_release(semaphore, NULL));
  mortise_semaphore_free(semaphore);
  mortise_rw_free(rw);
  server_command(server, "DEL {mortise:late}:permits");
}

static void wrong_arguments_are_named(void) {
  mortise_error *error = mortise_error_new();
  mortise_rw *rw = open_rw("bad", NULL);
  CHECK(mortise_rw_new(client, "", 0, NULL, error) == NULL);
  CHECK_ERROR(error, MORTISE_INVALID_ARGUMENT, "name");
  CHECK(mortise_rw_new(client, NULL, 3, NULL, error) == NULL);
  CHECK_ERROR(error, MORTISE_INVALID_ARGUMENT, "name");
  CHECK(mortise_rw_new(NULL, "n", 1, NULL, error) == NULL);
  CHECK_ERROR(error, MORTISE_INVALID_ARGUMENT, "client");
  mortise_options *options = mortise_options_new();
  if (mortise_options_set_protocol(options, "nosuch", 6, NULL) == MORTISE_OK) {
    CHECK(mortise_rw_new(client, "n", 1, options, error) == NULL);
    CHECK_ERROR(error, MORTISE_UNSUPPORTED, "read-write lock");
  }
  mortise_options_free(options);
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_rw_read_acquire(rw, -2, error));
  CHECK_ERROR(error, MORTISE_INVALID_ARGUMENT, "-2");
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_rw_write_acquire(rw, MORTISE_MAX_MS + 1, error));
  CHECK_ERROR(error, MORTISE_INVALID_ARGUMENT, "timeout_ms");
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_rw_extend(rw, 49, error));
  CHECK_ERROR(error, MORTISE_INVALID_ARGUMENT, "49");
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_rw_query(rw, NULL, error));
  CHECK_ERROR(error, MORTISE_INVALID_ARGUMENT, "info");
  mortise_status (*const calls[])(mortise_rw *, mortise_error *) = {
      mortise_rw_read_try,    mortise_rw_read_unlock, mortise_rw_write_try, mortise_rw_write_unlock,
      mortise_rw_upgrade_try, mortise_rw_downgrade,   mortise_rw_cancel};
  for (int i = 0; i < 7; ++i) {
    CHECK_STATUS(MORTISE_INVALID_ARGUMENT, calls[i](NULL, error));
    CHECK_ERROR(error, MORTISE_INVALID_ARGUMENT, "rw");
  }
  CHECK_NUMBER(0, mortise_rw_is_reading(NULL));
  CHECK_NUMBER(0, mortise_rw_is_writing(NULL));
  CHECK_NUMBER(0, mortise_rw_valid_ms(NULL));
  CHECK_NUMBER(0, mortise_rw_token(NULL));
  mortise_rw_free(NULL);
  mortise_rw_free(rw);
  mortise_error_free(error);
}

/* The server hangs: nothing is answered, and what was asked for is settled when it is back. */
static void an_upgrade_without_an_answer_goes_on_reading(void) {
  mortise_client *usual = client;
  client = open_quick_client(server, 200);
  mortise_rw *rw = open_rw("unknown", NULL);
  mortise_rw *other = open_rw("unknown", NULL);
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_try(rw, NULL));
  const int64_t token = mortise_rw_token(rw);
  server_pause(server);
  CHECK_STATUS(MORTISE_UNKNOWN, mortise_rw_upgrade_try(rw, NULL));
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
  client = open_quick_client(server, 200);
  mortise_rw *rw = open_rw("lower", NULL);
  mortise_rw *other = open_rw("lower", NULL);
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_try(rw, NULL));
  server_pause(server);
  const mortise_status how = mortise_rw_downgrade(rw, NULL);
  CHECK(how == MORTISE_UNKNOWN || how == MORTISE_UNREACHABLE);
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
  queue = mortise_queue_new(client, 0, NULL);
  CHECK(queue != NULL);
  RUN(readers_share_and_a_writer_is_alone);
  RUN(a_held_handle_is_not_acquired_again);
  RUN(reentrancy_counts_by_mode);
  RUN(each_mode_is_reentrant_by_its_own_option);
  RUN(a_writer_who_waits_holds_back_later_readers);
  RUN(an_upgrade_takes_the_lock_if_nobody_else_reads);
  RUN(every_call_also_ends_in_an_event);
  RUN(a_wait_is_cancelled_and_those_behind_go_on);
  RUN(freeing_gives_back_whatever_is_held);
  RUN(losses_are_told_of_each_hold);
  RUN(a_query_tells_who_holds_what);
  RUN(other_kinds_of_lock_are_refused);
  RUN(a_late_release_leaves_another_kind_alone);
  RUN(wrong_arguments_are_named);
  RUN(an_upgrade_without_an_answer_goes_on_reading);
  RUN(a_downgrade_without_an_answer_counts_at_once);
  mortise_queue_free(queue);
  mortise_client_free(client);
  server_free(server);
  return 0;
}
