/* Semaphores: how many permits may be out, in which order they are given, and how
   many there are. */
#include "fixture.h"

#include <unistd.h>

static test_server *server;
static mortise_client *client;
static mortise_queue *queue;

/* Locks and their queues; how many permits a name has is remembered for long. */
#define other_keys "EVAL return(#redis.call('KEYS','{mortise:*')-#redis.call('KEYS','*:permits')) 0"

/* The handles wait at the server in the order of these calls. */
static void wait_for_permits(mortise_semaphore *semaphore, int64_t tag, int64_t weight,
                             const char *length, int64_t place) {
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_acquire_async(semaphore, queue, tag, weight,
                                                           MORTISE_FOREVER, NULL));
  server_wait_for_exactly(server, length, place);
}

static void permits_are_never_exceeded(void) {
  mortise_semaphore *first = open_semaphore(client, "few", 3);
  mortise_semaphore *second = open_semaphore(client, "few", 3);
  mortise_semaphore *third = open_semaphore(client, "few", 3);
  CHECK_NUMBER(0, mortise_semaphore_token(first));
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_semaphore_release(first, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_try(first, 2, NULL));
  CHECK_NUMBER(1, mortise_semaphore_is_held(first));
  CHECK(mortise_semaphore_valid_ms(first) > 0);
  CHECK(mortise_semaphore_token(first) > 0);
  CHECK_STATUS(MORTISE_ALREADY_HELD, mortise_semaphore_try(first, 1, NULL));
  CHECK_STATUS(MORTISE_NOT_ACQUIRED, mortise_semaphore_try(second, 2, NULL));
  CHECK_STATUS(MORTISE_TIMED_OUT, mortise_semaphore_acquire(second, 3, 500, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_acquire(second, 1, patience_ms, NULL));
  CHECK_STATUS(MORTISE_NOT_ACQUIRED, mortise_semaphore_try(third, 1, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_release(first, NULL));
  CHECK_NUMBER(0, mortise_semaphore_is_held(first));
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_try(third, 2, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_release(second, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_release(third, NULL));
  CHECK_NUMBER(0, server_number(server, other_keys));
  mortise_semaphore_free(first);
  mortise_semaphore_free(second);
  mortise_semaphore_free(third);
}

static void wrong_arguments_are_named(void) {
  mortise_error *error = mortise_error_new();
  mortise_semaphore *semaphore = open_semaphore(client, "bad", 3);
  const int64_t numbers[] = {0, -1, MORTISE_MAX_PERMITS + 1, INT64_MIN, INT64_MAX};
  for (int i = 0; i < 5; ++i) {
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)numbers[i]);
    CHECK(mortise_semaphore_new(client, "bad", 3, numbers[i], NULL, error) == NULL);
    CHECK_ERROR(error, MORTISE_INVALID_ARGUMENT, "capacity");
    CHECK_CONTAINS(mortise_error_message(error), text);
    CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_semaphore_try(semaphore, numbers[i], error));
    CHECK_ERROR(error, MORTISE_INVALID_ARGUMENT, "permits");
    CHECK_CONTAINS(mortise_error_message(error), text);
    CHECK_STATUS(MORTISE_INVALID_ARGUMENT,
                 mortise_semaphore_acquire(semaphore, numbers[i], 10, error));
    CHECK_STATUS(MORTISE_INVALID_ARGUMENT,
                 mortise_semaphore_try_async(semaphore, queue, 1, numbers[i], error));
    CHECK_STATUS(MORTISE_INVALID_ARGUMENT,
                 mortise_semaphore_acquire_async(semaphore, queue, 1, numbers[i], 10, error));
    CHECK_ERROR(error, MORTISE_INVALID_ARGUMENT, "permits");
    CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_semaphore_resize(semaphore, numbers[i], error));
    CHECK_ERROR(error, MORTISE_INVALID_ARGUMENT, "capacity");
  }
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_semaphore_acquire(semaphore, 1, -2, error));
  CHECK_ERROR(error, MORTISE_INVALID_ARGUMENT, "timeout_ms");
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_semaphore_extend(semaphore, 49, error));
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_semaphore_query(semaphore, NULL, error));
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_semaphore_try(NULL, 1, error));
  CHECK_ERROR(error, MORTISE_INVALID_ARGUMENT, "semaphore");
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_semaphore_resize(NULL, 1, error));
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_semaphore_release(NULL, error));
  CHECK_STATUS(MORTISE_INVALID_ARGUMENT, mortise_semaphore_try_async(semaphore, NULL, 1, 1, error));
  CHECK_NUMBER(0, mortise_semaphore_is_held(NULL));
  CHECK_NUMBER(0, mortise_semaphore_valid_ms(NULL));
  CHECK_NUMBER(0, mortise_semaphore_token(NULL));
  mortise_semaphore_free(NULL);
  /* More than there is, which only the server knows. */
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_try(semaphore, 3, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_release(semaphore, NULL));
  CHECK_STATUS(MORTISE_REFUSED, mortise_semaphore_try(semaphore, 4, error));
  CHECK_ERROR(error, MORTISE_REFUSED, "permits");
  CHECK_CONTAINS(mortise_error_server_text(error), "LIMIT 4");
  CHECK_STATUS(MORTISE_REFUSED, mortise_semaphore_acquire(semaphore, 4, patience_ms, error));
  check_quiet(queue);
  mortise_semaphore_free(semaphore);
  mortise_error_free(error);
}

static void the_first_user_sets_the_number_of_permits(void) {
  mortise_info *info = mortise_info_new();
  mortise_semaphore *first = open_semaphore(client, "number", 2);
  mortise_semaphore *second = open_semaphore(client, "number", 10);
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_query(second, info, NULL));
  CHECK_NUMBER(10, mortise_info_permits(info));
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_try(first, 2, NULL));
  CHECK_STATUS(MORTISE_NOT_ACQUIRED, mortise_semaphore_try(second, 1, NULL));
  CHECK_STATUS(MORTISE_REFUSED, mortise_semaphore_try(second, 3, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_query(second, info, NULL));
  CHECK_NUMBER(2, mortise_info_permits(info));
  CHECK_NUMBER(2, mortise_info_permits_in_use(info));
  mortise_semaphore_free(first);
  mortise_semaphore_free(second);
  mortise_info_free(info);
}

static void who_comes_first_is_served_first(void) {
  const char *const length = "LLEN {mortise:order}:sq";
  mortise_semaphore *all[5];
  for (int i = 0; i < 5; ++i) all[i] = open_semaphore(client, "order", 4);
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_try(all[0], 3, NULL));
  wait_for_permits(all[1], 1, 4, length, 1);
  /* One permit is free, and belongs to the waiter for four. */
  CHECK_STATUS(MORTISE_NOT_ACQUIRED, mortise_semaphore_try(all[2], 1, NULL));
  wait_for_permits(all[2], 2, 1, length, 2);
  wait_for_permits(all[3], 3, 2, length, 3);
  wait_for_permits(all[4], 4, 2, length, 4);
  CHECK_STATUS(MORTISE_BUSY, mortise_semaphore_try(all[4], 1, NULL));
  check_quiet(queue);
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_release(all[0], NULL));
  check_event(queue, MORTISE_EVENT_ACQUIRED, 1, MORTISE_OK);
  check_quiet(queue);
  /* One release lets in all waiters that fit. */
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_release(all[1], NULL));
  check_event(queue, MORTISE_EVENT_ACQUIRED, 2, MORTISE_OK);
  check_event(queue, MORTISE_EVENT_ACQUIRED, 3, MORTISE_OK);
  CHECK_NUMBER(1, server_number(server, length));
  CHECK(mortise_semaphore_token(all[2]) > mortise_semaphore_token(all[1]));
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_release(all[2], NULL));
  check_event(queue, MORTISE_EVENT_ACQUIRED, 4, MORTISE_OK);
  for (int i = 0; i < 5; ++i) mortise_semaphore_free(all[i]);
  server_wait_for_exactly(server, other_keys, 0);
}

static void more_permits_let_waiters_in(void) {
  const char *const length = "LLEN {mortise:more}:sq";
  mortise_semaphore *all[4];
  for (int i = 0; i < 4; ++i) all[i] = open_semaphore(client, "more", 1);
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_try(all[0], 1, NULL));
  for (int i = 1; i < 4; ++i) wait_for_permits(all[i], i, 1, length, i);
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_resize(all[0], 3, NULL));
  check_event(queue, MORTISE_EVENT_ACQUIRED, 1, MORTISE_OK);
  check_event(queue, MORTISE_EVENT_ACQUIRED, 2, MORTISE_OK);
  CHECK_NUMBER(1, server_number(server, length));
  /* Fewer than are out: holds stay, and no waiter is let in until there is room. */
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_resize(all[3], 1, NULL));
  CHECK_NUMBER(1, mortise_semaphore_is_held(all[1]));
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_extend(all[1], 0, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_release(all[0], NULL));
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_release(all[1], NULL));
  CHECK_NUMBER(1, server_number(server, length));
  check_quiet(queue);
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_release(all[2], NULL));
  check_event(queue, MORTISE_EVENT_ACQUIRED, 3, MORTISE_OK);
  for (int i = 0; i < 4; ++i) mortise_semaphore_free(all[i]);
  server_wait_for_exactly(server, other_keys, 0);
}

static void who_waits_for_more_than_there_is_hears_so(void) {
  const char *const length = "LLEN {mortise:less}:sq";
  mortise_semaphore *all[4];
  for (int i = 0; i < 4; ++i) all[i] = open_semaphore(client, "less", 5);
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_try(all[0], 3, NULL));
  wait_for_permits(all[1], 1, 5, length, 1);
  wait_for_permits(all[2], 2, 2, length, 2);
  wait_for_permits(all[3], 3, 1, length, 3);
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_resize(all[0], 4, NULL));
  /* The first can never be served, the others need not wait for it; there is one permit left. */
  check_event(queue, MORTISE_EVENT_ACQUIRED, 1, MORTISE_REFUSED);
  check_quiet(queue);
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_release(all[0], NULL));
  check_event(queue, MORTISE_EVENT_ACQUIRED, 2, MORTISE_OK);
  check_event(queue, MORTISE_EVENT_ACQUIRED, 3, MORTISE_OK);
  for (int i = 0; i < 4; ++i) mortise_semaphore_free(all[i]);
  server_wait_for_exactly(server, other_keys, 0);
}

static void every_call_also_ends_in_an_event(void) {
  mortise_semaphore *semaphore = open_semaphore(client, "async", 5);
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_try_async(semaphore, queue, 1, 5, NULL));
  check_event(queue, MORTISE_EVENT_ACQUIRED, 1, MORTISE_OK);
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_extend_async(semaphore, queue, 2, 60000, NULL));
  check_event(queue, MORTISE_EVENT_EXTENDED, 2, MORTISE_OK);
  CHECK(mortise_semaphore_valid_ms(semaphore) > 30000);
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_release_async(semaphore, queue, 3, NULL));
  CHECK_NUMBER(0, mortise_semaphore_is_held(semaphore));
  check_event(queue, MORTISE_EVENT_UNLOCKED, 3, MORTISE_OK);
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_semaphore_release_async(semaphore, queue, 4, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_try_async(semaphore, queue, 5, 6, NULL));
  check_event(queue, MORTISE_EVENT_ACQUIRED, 5, MORTISE_REFUSED);
  mortise_semaphore_free(semaphore);
}

static void a_wait_is_cancelled_and_those_behind_go_on(void) {
  const char *const length = "LLEN {mortise:cancel}:sq";
  mortise_semaphore *holder = open_semaphore(client, "cancel", 4);
  mortise_semaphore *large = open_semaphore(client, "cancel", 4);
  mortise_semaphore *small = open_semaphore(client, "cancel", 4);
  CHECK_STATUS(MORTISE_NOT_WAITING, mortise_semaphore_cancel(large, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_try(holder, 2, NULL));
  wait_for_permits(large, 1, 4, length, 1);
  wait_for_permits(small, 2, 2, length, 2);
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_cancel(large, NULL));
  check_event(queue, MORTISE_EVENT_ACQUIRED, 1, MORTISE_CANCELLED);
  check_event(queue, MORTISE_EVENT_ACQUIRED, 2, MORTISE_OK);
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_release(small, NULL));
  wait_for_permits(large, 3, 4, length, 1);
  wait_for_permits(small, 4, 1, length, 2);
  mortise_semaphore_free(large);
  check_event(queue, MORTISE_EVENT_ACQUIRED, 3, MORTISE_CLOSED);
  check_event(queue, MORTISE_EVENT_ACQUIRED, 4, MORTISE_OK);
  mortise_semaphore_free(holder);
  mortise_semaphore_free(small);
  server_wait_for_exactly(server, other_keys, 0);
}

static void a_loss_is_reported(void) {
  mortise_options *options = options_with("lease", "600ms");
  set_option(options, "renewal", "off");
  mortise_semaphore *semaphore = mortise_semaphore_new(client, "lost", 4, 2, options, NULL);
  mortise_semaphore *heir = open_semaphore(client, "lost", 2);
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_watch(semaphore, queue, 7, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_try(semaphore, 2, NULL));
  check_event(queue, MORTISE_EVENT_AT_RISK, 7, MORTISE_OK);
  check_event(queue, MORTISE_EVENT_LOST, 7, MORTISE_LOST);
  CHECK_NUMBER(0, mortise_semaphore_is_held(semaphore));
  CHECK_STATUS(MORTISE_LOST, mortise_semaphore_extend(semaphore, 0, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_acquire(heir, 2, patience_ms, NULL));
  CHECK_STATUS(MORTISE_LOST, mortise_semaphore_release(semaphore, NULL));
  CHECK_NUMBER(1, mortise_semaphore_is_held(heir));
  CHECK_STATUS(MORTISE_NOT_ACQUIRED, mortise_semaphore_try(semaphore, 1, NULL));
  mortise_options_free(options);
  mortise_semaphore_free(semaphore);
  mortise_semaphore_free(heir);
}

static void a_query_tells_permits(void) {
  mortise_info *info = mortise_info_new();
  mortise_semaphore *first = open_semaphore(client, "query", 7);
  mortise_semaphore *second = open_semaphore(client, "query", 7);
  mortise_semaphore *waiter = open_semaphore(client, "query", 7);
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_try(first, 3, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_try(second, 2, NULL));
  wait_for_permits(waiter, 1, 5, "LLEN {mortise:query}:sq", 1);
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_query(first, info, NULL));
  CHECK_NUMBER(1, mortise_info_is_mine(info));
  CHECK_NUMBER(2, mortise_info_holder_count(info));
  CHECK_NUMBER(2, mortise_info_shown_holder_count(info));
  CHECK_NUMBER(1, mortise_info_waiter_count(info));
  CHECK_NUMBER(7, mortise_info_permits(info));
  CHECK_NUMBER(5, mortise_info_permits_in_use(info));
  CHECK_NUMBER(5, mortise_info_entry_permits(info, 0) + mortise_info_entry_permits(info, 1));
  CHECK_NUMBER(5, mortise_info_entry_permits(info, 2));
  CHECK_NUMBER(0, mortise_info_entry_is_exclusive(info, 0));
  CHECK_NUMBER(0, mortise_info_entry_is_exclusive(info, 2));
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_query(waiter, info, NULL));
  CHECK_NUMBER(0, mortise_info_is_mine(info));
  mortise_semaphore_free(first);
  mortise_semaphore_free(second);
  check_event(queue, MORTISE_EVENT_ACQUIRED, 1, MORTISE_OK);
  mortise_semaphore_free(waiter);
  mortise_info_free(info);
}

/* The first sixteen of either are listed, the holders before the waiters. */
static void a_query_shows_some_of_many(void) {
  enum { crowd = 20, tail = 18 };
  mortise_info *info = mortise_info_new();
  mortise_semaphore *holders[crowd];
  mortise_semaphore *waiters[tail];
  char label[32];
  mortise_options *options = mortise_options_new();
  for (int i = 0; i < crowd; ++i) {
    holders[i] = open_semaphore(client, "many", crowd);
    CHECK_STATUS(MORTISE_OK, mortise_semaphore_try(holders[i], 1, NULL));
  }
  for (int i = 0; i < tail; ++i) {
    snprintf(label, sizeof label, "waiter %d", i);
    set_option(options, "label", label);
    waiters[i] = mortise_semaphore_new(client, "many", 4, crowd, options, NULL);
    wait_for_permits(waiters[i], i, 2, "LLEN {mortise:many}:sq", i + 1);
  }
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_query(waiters[0], info, NULL));
  CHECK_NUMBER(crowd, mortise_info_holder_count(info));
  CHECK_NUMBER(16, mortise_info_shown_holder_count(info));
  CHECK_NUMBER(tail, mortise_info_waiter_count(info));
  CHECK_NUMBER(32, mortise_info_entry_count(info));
  for (int i = 0; i < 16; ++i) {
    snprintf(label, sizeof label, "waiter %d", i);
    CHECK_NUMBER(1, mortise_info_entry_permits(info, i));
    CHECK_NUMBER(2, mortise_info_entry_permits(info, 16 + i));
    CHECK(strcmp(mortise_info_entry_label(info, i), "") == 0);
    CHECK(strcmp(mortise_info_entry_label(info, 16 + i), label) == 0);
    CHECK_NUMBER(getpid(), mortise_info_entry_pid(info, i));
    CHECK_NUMBER(getpid(), mortise_info_entry_pid(info, 16 + i));
  }
  for (int i = 0; i < tail; ++i) {
    mortise_semaphore_free(waiters[i]);
    check_event(queue, MORTISE_EVENT_ACQUIRED, i, MORTISE_CLOSED);
  }
  for (int i = 0; i < crowd; ++i) mortise_semaphore_free(holders[i]);
  mortise_options_free(options);
  mortise_info_free(info);
}

/* A hold whose lease has ended is no hold, even before the server removes its entry. */
static void a_query_does_not_count_the_dead(void) {
  mortise_info *info = mortise_info_new();
  mortise_semaphore *semaphore = open_semaphore(client, "dead", 7);
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_try(semaphore, 2, NULL));
  CHECK_NUMBER(1, server_number(server,
                                "EVAL return(redis.call('ZADD',KEYS[1],-5,'semaphore',1,"
                                "'3'..string.char(32)..'m1:dead:1.1::1')) 1 {mortise:dead}"));
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_query(semaphore, info, NULL));
  CHECK_NUMBER(3, server_number(server, "ZCARD {mortise:dead}"));
  CHECK_NUMBER(2, mortise_info_permits_in_use(info));
  CHECK_NUMBER(1, mortise_info_holder_count(info));
  CHECK_NUMBER(1, mortise_info_entry_count(info));
  CHECK_NUMBER(2, mortise_info_entry_permits(info, 0));
  CHECK_NUMBER(1, mortise_info_is_mine(info));
  /* Nor does it stand in anybody's way. */
  mortise_semaphore *heir = open_semaphore(client, "dead", 7);
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_try(heir, 5, NULL));
  mortise_semaphore_free(heir);
  mortise_semaphore_free(semaphore);
  mortise_info_free(info);
}

/* Permits are not counted per handle, so the option means nothing here. */
static void reentrant_has_no_effect(void) {
  mortise_options *options = options_with("reentrant", "on");
  mortise_semaphore *semaphore = mortise_semaphore_new(client, "again", 5, 3, options, NULL);
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_try(semaphore, 1, NULL));
  CHECK_STATUS(MORTISE_ALREADY_HELD, mortise_semaphore_try(semaphore, 1, NULL));
  CHECK_STATUS(MORTISE_ALREADY_HELD, mortise_semaphore_acquire(semaphore, 1, patience_ms, NULL));
  CHECK_NUMBER(-1, server_number(server, "ZSCORE {mortise:again} semaphore"));
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_release(semaphore, NULL));
  CHECK_NUMBER(0, mortise_semaphore_is_held(semaphore));
  CHECK_NUMBER(0, server_number(server, "EXISTS {mortise:again}"));
  mortise_semaphore_free(semaphore);
  mortise_options_free(options);
}

static void other_kinds_of_lock_are_refused(void) {
  mortise_error *error = mortise_error_new();
  mortise_rw *rw = mortise_rw_new(client, "kinds", 5, NULL, NULL);
  mortise_semaphore *semaphore = open_semaphore(client, "kinds", 2);
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_try(rw, NULL));
  CHECK_STATUS(MORTISE_REFUSED, mortise_semaphore_try(semaphore, 1, error));
  CHECK_CONTAINS(mortise_error_server_text(error), "FOREIGN");
  CHECK_CONTAINS(mortise_error_server_text(error), "{mortise:kinds}");
  CHECK_STATUS(MORTISE_REFUSED, mortise_semaphore_acquire(semaphore, 1, patience_ms, error));
  CHECK_STATUS(MORTISE_REFUSED, mortise_semaphore_resize(semaphore, 9, error));
  CHECK_CONTAINS(mortise_error_server_text(error), "FOREIGN");
  CHECK_STATUS(MORTISE_REFUSED, mortise_semaphore_force_release(semaphore, "m1:a", 4, error));
  CHECK_CONTAINS(mortise_error_server_text(error), "FOREIGN");
  CHECK_NUMBER(2, server_number(server, "ZCARD {mortise:kinds}"));
  CHECK_NUMBER(0, server_number(server, "EXISTS {mortise:kinds}:permits"));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_unlock(rw, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_try(semaphore, 1, NULL));
  CHECK_STATUS(MORTISE_REFUSED, mortise_rw_read_try(rw, error));
  CHECK_CONTAINS(mortise_error_server_text(error), "FOREIGN");
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_release(semaphore, NULL));
  mortise_rw_free(rw);
  mortise_semaphore_free(semaphore);
  mortise_error_free(error);
}

int main(void) {
  server = server_start(NULL);
  client = open_client(server);
  queue = open_queue(client, 0);
  RUN(permits_are_never_exceeded);
  RUN(wrong_arguments_are_named);
  RUN(the_first_user_sets_the_number_of_permits);
  RUN(who_comes_first_is_served_first);
  RUN(more_permits_let_waiters_in);
  RUN(who_waits_for_more_than_there_is_hears_so);
  RUN(every_call_also_ends_in_an_event);
  RUN(a_wait_is_cancelled_and_those_behind_go_on);
  RUN(a_loss_is_reported);
  RUN(a_query_tells_permits);
  RUN(a_query_shows_some_of_many);
  RUN(a_query_does_not_count_the_dead);
  RUN(reentrant_has_no_effect);
  RUN(other_kinds_of_lock_are_refused);
  mortise_queue_free(queue);
  mortise_client_free(client);
  server_free(server);
  return 0;
}
