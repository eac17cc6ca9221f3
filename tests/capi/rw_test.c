/* Read-write locks: which owners hold together, in which order, and the events of it. */
#include "fixture.h"

static test_server *server;
static mortise_client *client;
static mortise_queue *queue;

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
  mortise_rw *first = open_rw(client, "share");
  mortise_rw *second = open_rw(client, "share");
  mortise_rw *writer = open_rw(client, "share");
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_try(first, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_acquire(second, patience_ms, NULL));
  CHECK_NUMBER(1, mortise_rw_is_reading(first));
  CHECK_NUMBER(0, mortise_rw_is_writing(first));
  CHECK(mortise_rw_valid_ms(first) > 0);
  CHECK_STATUS(MORTISE_NOT_ACQUIRED, mortise_rw_write_try(writer, NULL));
  CHECK_STATUS(MORTISE_TIMED_OUT, mortise_rw_write_acquire(writer, 500, NULL));
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
  CHECK_STATUS(MORTISE_TIMED_OUT, mortise_rw_read_acquire(first, 500, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_unlock(writer, NULL));
  CHECK_NUMBER(0, server_number(server, lock_keys));
  mortise_rw_free(first);
  mortise_rw_free(second);
  mortise_rw_free(writer);
}

static void a_writer_who_waits_holds_back_later_readers(void) {
  const char *const length = "LLEN {mortise:order}:rq";
  mortise_options *options = mortise_options_new();
  CHECK_STATUS(MORTISE_OK, mortise_options_set_fair_strict(options, 1, NULL));
  mortise_rw *all[6];
  for (int i = 0; i < 6; ++i) all[i] = open_rw_with(client, "order", options);
  mortise_options_free(options);
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_try(all[0], NULL));
  wait_to_write(all[1], 1, length, 1);
  CHECK_STATUS(MORTISE_NOT_ACQUIRED, mortise_rw_read_try(all[2], NULL));
  wait_to_read(all[2], 2, length, 2);
  wait_to_read(all[3], 3, length, 3);
  wait_to_write(all[4], 4, length, 4);
  wait_to_read(all[5], 5, length, 5);
  check_quiet(queue);
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_unlock(all[0], NULL));
  check_event(queue, MORTISE_EVENT_ACQUIRED, 1, MORTISE_OK);
  CHECK_NUMBER(1, mortise_rw_is_writing(all[1]));
  /* One release lets in both readers, and not the one behind the second writer. */
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_unlock(all[1], NULL));
  check_event(queue, MORTISE_EVENT_ACQUIRED, 2, MORTISE_OK);
  check_event(queue, MORTISE_EVENT_ACQUIRED, 3, MORTISE_OK);
  CHECK_NUMBER(mortise_rw_token(all[2]), mortise_rw_token(all[3]));
  CHECK(mortise_rw_token(all[2]) > mortise_rw_token(all[1]));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_unlock(all[2], NULL));
  check_quiet(queue);
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_unlock(all[3], NULL));
  check_event(queue, MORTISE_EVENT_ACQUIRED, 4, MORTISE_OK);
  CHECK(mortise_rw_token(all[4]) > mortise_rw_token(all[3]));
  /* A writer that only reads from now on lets the waiting reader in. */
  CHECK_STATUS(MORTISE_OK, mortise_rw_downgrade(all[4], NULL));
  check_event(queue, MORTISE_EVENT_ACQUIRED, 5, MORTISE_OK);
  CHECK_NUMBER(1, mortise_rw_is_reading(all[4]));
  CHECK_NUMBER(0, mortise_rw_is_writing(all[4]));
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_rw_write_unlock(all[4], NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_unlock(all[4], NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_unlock(all[5], NULL));
  CHECK_NUMBER(0, server_number(server, lock_keys));
  for (int i = 0; i < 6; ++i) mortise_rw_free(all[i]);
}

static void every_call_also_ends_in_an_event(void) {
  mortise_rw *rw = open_rw(client, "async");
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_try_async(rw, queue, 1, NULL));
  check_event(queue, MORTISE_EVENT_ACQUIRED, 1, MORTISE_OK);
  CHECK_STATUS(MORTISE_OK, mortise_rw_upgrade_async(rw, queue, 2, NULL));
  check_event(queue, MORTISE_EVENT_UPGRADED, 2, MORTISE_OK);
  CHECK_NUMBER(1, mortise_rw_is_writing(rw));
  CHECK_STATUS(MORTISE_OK, mortise_rw_extend_async(rw, queue, 3, 60000, NULL));
  check_event(queue, MORTISE_EVENT_EXTENDED, 3, MORTISE_OK);
  CHECK(mortise_rw_valid_ms(rw) > 30000);
  CHECK_STATUS(MORTISE_OK, mortise_rw_downgrade_async(rw, queue, 4, NULL));
  check_event(queue, MORTISE_EVENT_DOWNGRADED, 4, MORTISE_OK);
  CHECK(mortise_rw_valid_ms(rw) > 30000);
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_unlock_async(rw, queue, 5, NULL));
  check_event(queue, MORTISE_EVENT_UNLOCKED, 5, MORTISE_OK);
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_try_async(rw, queue, 6, NULL));
  check_event(queue, MORTISE_EVENT_ACQUIRED, 6, MORTISE_OK);
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_unlock_async(rw, queue, 7, NULL));
  check_event(queue, MORTISE_EVENT_UNLOCKED, 7, MORTISE_OK);
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_rw_upgrade_async(rw, queue, 8, NULL));
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_rw_downgrade_async(rw, queue, 8, NULL));
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_rw_read_unlock_async(rw, queue, 8, NULL));
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_rw_read_try_async(rw, NULL, 8, NULL));
  check_quiet(queue);
  mortise_rw_free(rw);
}

static void a_wait_is_cancelled_and_those_behind_go_on(void) {
  const char *const length = "LLEN {mortise:cancel}:rq";
  mortise_rw *reader = open_rw(client, "cancel");
  mortise_rw *writer = open_rw(client, "cancel");
  mortise_rw *behind = open_rw(client, "cancel");
  CHECK_STATUS(MORTISE_NOT_WAITING, mortise_rw_cancel(writer, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_try(reader, NULL));
  wait_to_write(writer, 1, length, 1);
  CHECK_STATUS(MORTISE_BUSY, mortise_rw_read_try(writer, NULL));
  CHECK_STATUS(MORTISE_BUSY, mortise_rw_upgrade(writer, NULL));
  wait_to_read(behind, 2, length, 2);
  CHECK_STATUS(MORTISE_OK, mortise_rw_cancel(writer, NULL));
  check_event(queue, MORTISE_EVENT_ACQUIRED, 1, MORTISE_CANCELLED);
  check_event(queue, MORTISE_EVENT_ACQUIRED, 2, MORTISE_OK);
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_unlock(behind, NULL));
  /* Free does the same. */
  wait_to_write(writer, 3, length, 1);
  wait_to_read(behind, 4, length, 2);
  mortise_rw_free(writer);
  check_event(queue, MORTISE_EVENT_ACQUIRED, 3, MORTISE_CLOSED);
  check_event(queue, MORTISE_EVENT_ACQUIRED, 4, MORTISE_OK);
  mortise_rw_free(reader);
  mortise_rw_free(behind);
  server_wait_for_exactly(server, lock_keys, 0);
}

static void losses_are_reported_of_each_hold(void) {
  mortise_options *options = options_with("lease", "600ms");
  mortise_rw *first = open_rw_with(client, "lost", options);
  mortise_rw *second = open_rw_with(client, "lost", options);
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
    } while (mortise_event_kind(event) == MORTISE_EVENT_AT_RISK);
    CHECK_NUMBER(MORTISE_EVENT_LOST, mortise_event_kind(event));
    tags += mortise_event_tag(event);
  }
  CHECK_NUMBER(3, tags);
  mortise_event_free(event);
  CHECK_NUMBER(0, mortise_rw_is_reading(first));
  CHECK_STATUS(MORTISE_LOST, mortise_rw_upgrade(first, NULL));
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
  /* Asks the server itself, and does not go by what the other reader holds. */
  mortise_options *strict = options_with("fair", "strict");
  mortise_rw *reader = open_rw_with(client, "query", options);
  mortise_rw *second = open_rw_with(client, "query", strict);
  mortise_options_free(strict);
  mortise_rw *writer = open_rw(client, "query");
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
  CHECK_NUMBER(1, mortise_info_entry_permits(info, 2));
  CHECK_STATUS(MORTISE_OK, mortise_rw_query(writer, info, NULL));
  CHECK_NUMBER(0, mortise_info_is_mine(info));
  mortise_rw_free(reader);
  mortise_rw_free(second);
  check_event(queue, MORTISE_EVENT_ACQUIRED, 1, MORTISE_OK);
  CHECK_STATUS(MORTISE_OK, mortise_rw_query(writer, info, NULL));
  CHECK_NUMBER(1, mortise_info_is_mine(info));
  CHECK_NUMBER(1, mortise_info_holder_count(info));
  CHECK_NUMBER(1, mortise_info_entry_is_exclusive(info, 0));
  mortise_rw_free(writer);
  mortise_options_free(options);
  mortise_info_free(info);
}

/* Any other key of that name is refused, and stays as it is. */
static void other_kinds_of_lock_are_refused(void) {
  mortise_error *error = mortise_error_new();
  mortise_info *info = mortise_info_new();
  mortise_rw *rw = open_rw(client, "kinds");
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
    CHECK_STATUS(MORTISE_REFUSED, mortise_rw_force_release(rw, "m1:a:1.1::1", 11, error));
    CHECK_CONTAINS(mortise_error_server_text(error), "FOREIGN");
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
  mortise_rw *rw = open_rw(client, "late");
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
  mortise_rw *rw = open_rw(client, "bad");
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
      mortise_rw_read_try, mortise_rw_read_unlock, mortise_rw_write_try, mortise_rw_write_unlock,
      mortise_rw_upgrade,  mortise_rw_downgrade,   mortise_rw_cancel};
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

int main(void) {
  server = server_start(NULL);
  client = open_client(server);
  queue = open_queue(client, 0);
  RUN(readers_share_and_a_writer_is_alone);
  RUN(a_writer_who_waits_holds_back_later_readers);
  RUN(every_call_also_ends_in_an_event);
  RUN(a_wait_is_cancelled_and_those_behind_go_on);
  RUN(losses_are_reported_of_each_hold);
  RUN(a_query_tells_who_holds_what);
  RUN(other_kinds_of_lock_are_refused);
  RUN(a_late_release_leaves_another_kind_alone);
  RUN(wrong_arguments_are_named);
  mortise_queue_free(queue);
  mortise_client_free(client);
  server_free(server);
  return 0;
}
