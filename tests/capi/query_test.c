/* What the server knows of a lock. */
#include "fixture.h"

#include <unistd.h>

static test_server *server;
static mortise_client *client;

static void a_new_info_is_empty(void) {
  mortise_info *info = mortise_info_new();
  const mortise_info *both[] = {info, NULL};
  for (int i = 0; i < 2; ++i) {
    CHECK_NUMBER(0, mortise_info_is_held(both[i]));
    CHECK_NUMBER(0, mortise_info_is_mine(both[i]));
    CHECK_NUMBER(-1, mortise_info_time_left_ms(both[i]));
    CHECK_NUMBER(0, mortise_info_latest_token(both[i]));
    CHECK_NUMBER(0, mortise_info_waiter_count(both[i]));
    CHECK_NUMBER(0, mortise_info_entry_count(both[i]));
    const int64_t indexes[] = {0, 1, -1, INT64_MAX, INT64_MIN};
    for (int k = 0; k < 5; ++k) {
      CHECK(strcmp(mortise_info_entry_owner(both[i], indexes[k]), "") == 0);
      CHECK(strcmp(mortise_info_entry_host(both[i], indexes[k]), "") == 0);
      CHECK(strcmp(mortise_info_entry_label(both[i], indexes[k]), "") == 0);
      CHECK_NUMBER(0, mortise_info_entry_pid(both[i], indexes[k]));
    }
  }
  mortise_info_free(info);
}

static void check_entry_is_ours(const mortise_info *info, int64_t index, const char *label) {
  char host[256];
  CHECK(gethostname(host, sizeof host) == 0);
  CHECK_CONTAINS(mortise_info_entry_owner(info, index), "m1:");
  CHECK(strncmp(mortise_info_entry_host(info, index), host, 16) == 0);
  CHECK_NUMBER(getpid(), mortise_info_entry_pid(info, index));
  CHECK(strcmp(mortise_info_entry_label(info, index), label) == 0);
}

static void holder_and_free_lock_are_reported(void) {
  mortise_info *info = mortise_info_new();
  mortise_options *options = options_with("label", "night shift: \xc3\xa9*100% {a}:b");
  mortise_lock *lock = open_lock_with(client, "query", options);
  mortise_lock *other = open_lock(client, "query");
  CHECK_STATUS(MORTISE_OK, mortise_lock_query(lock, info, NULL));
  CHECK_NUMBER(0, mortise_info_is_held(info));
  CHECK_NUMBER(-1, mortise_info_time_left_ms(info));
  CHECK_NUMBER(0, mortise_info_entry_count(info));
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_query(lock, info, NULL));
  CHECK_NUMBER(1, mortise_info_is_held(info));
  CHECK_NUMBER(1, mortise_info_is_mine(info));
  CHECK(mortise_info_time_left_ms(info) > 10000 && mortise_info_time_left_ms(info) < 20000);
  CHECK(mortise_info_latest_token(info) >= mortise_lock_token(lock));
  CHECK_NUMBER(0, mortise_info_waiter_count(info));
  CHECK_NUMBER(1, mortise_info_entry_count(info));
  check_entry_is_ours(info, 0, "night shift: \xc3\xa9*100% {a}:b");
  CHECK(strcmp(mortise_info_entry_owner(info, 1), "") == 0);
  CHECK_STATUS(MORTISE_OK, mortise_lock_query(other, info, NULL));
  CHECK_NUMBER(1, mortise_info_is_held(info));
  CHECK_NUMBER(0, mortise_info_is_mine(info));
  mortise_lock_free(lock);
  mortise_lock_free(other);
  mortise_options_free(options);
  mortise_info_free(info);
}

/* As long as a label may be, with the marks of an owner token in it. */
static void the_longest_label_is_complete(void) {
  char label[MORTISE_MAX_LABEL_LEN + 1];
  for (int i = 0; i < MORTISE_MAX_LABEL_LEN; ++i) label[i] = "0123456789:* "[i % 13];
  label[MORTISE_MAX_LABEL_LEN - 1] = '*';
  label[MORTISE_MAX_LABEL_LEN] = '\0';
  mortise_info *info = mortise_info_new();
  mortise_options *options = options_with("label", label);
  set_option(options, "fair", "strict");
  mortise_lock *holder = open_lock_with(client, "label", options);
  mortise_lock *waiter = open_lock_with(client, "label", options);
  background call;
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(holder, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_query(holder, info, NULL));
  CHECK_NUMBER(1, mortise_info_is_mine(info));
  check_entry_is_ours(info, 0, label);
  start_acquire(&call, waiter, patience_ms);
  server_wait_for_exactly(server, "LLEN {mortise:label}:q", 1);
  CHECK_STATUS(MORTISE_OK, mortise_lock_query(holder, info, NULL));
  CHECK_NUMBER(1, mortise_info_is_mine(info));
  check_entry_is_ours(info, 0, label);
  check_entry_is_ours(info, 1, label);
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(holder, NULL));
  CHECK_STATUS(MORTISE_OK, finish_acquire(&call));
  mortise_lock_free(waiter);
  mortise_lock_free(holder);
  mortise_options_free(options);
  mortise_info_free(info);
}

/* A successor by local pass holds by the same claim at the server, but it is not
   the same handle. */
static void mine_is_the_handles(void) {
  mortise_info *info = mortise_info_new();
  mortise_lock *first = open_lock(client, "mine");
  mortise_lock *second = open_lock(client, "mine");
  background call;
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(first, NULL));
  start_acquire(&call, second, patience_ms);
  wait_until_busy(second);
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(first, NULL));
  CHECK_STATUS(MORTISE_OK, finish_acquire(&call));
  CHECK_STATUS(MORTISE_OK, mortise_lock_query(first, info, NULL));
  CHECK_NUMBER(1, mortise_info_is_held(info));
  CHECK_NUMBER(0, mortise_info_is_mine(info));
  CHECK_STATUS(MORTISE_OK, mortise_lock_query(second, info, NULL));
  CHECK_NUMBER(1, mortise_info_is_mine(info));
  mortise_lock_free(first);
  mortise_lock_free(second);
  mortise_info_free(info);
}

enum { crowd = 20 };

/* `fair=strict` handles wait at the server each for itself, in their order. */
static void waiters_are_listed_in_their_order(void) {
  mortise_info *info = mortise_info_new();
  mortise_options *options = options_with("fair", "strict");
  mortise_lock *holder = open_lock(client, "crowd");
  mortise_lock *waiters[crowd];
  background calls[crowd];
  char label[32];
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(holder, NULL));
  for (int i = 0; i < crowd; ++i) {
    snprintf(label, sizeof label, "waiter %d", i);
    set_option(options, "label", label);
    waiters[i] = open_lock_with(client, "crowd", options);
    start_acquire(&calls[i], waiters[i], MORTISE_FOREVER);
    server_wait_for(server, "LLEN {mortise:crowd}:q", i + 1);
  }
  CHECK_STATUS(MORTISE_OK, mortise_lock_query(holder, info, NULL));
  CHECK_NUMBER(1, mortise_info_is_mine(info));
  CHECK_NUMBER(crowd, mortise_info_waiter_count(info));
  CHECK_NUMBER(17, mortise_info_entry_count(info));
  check_entry_is_ours(info, 0, "");
  for (int i = 0; i < 16; ++i) {
    snprintf(label, sizeof label, "waiter %d", i);
    check_entry_is_ours(info, i + 1, label);
  }
  for (int i = 0; i < crowd; ++i) {
    CHECK_STATUS(MORTISE_OK, mortise_lock_cancel(waiters[i], NULL));
    CHECK_STATUS(MORTISE_CANCELLED, finish_acquire(&calls[i]));
    mortise_lock_free(waiters[i]);
  }
  mortise_lock_free(holder);
  mortise_options_free(options);
  mortise_info_free(info);
}

static void a_strange_holder_is_reported_as_it_is(void) {
  mortise_info *info = mortise_info_new();
  mortise_lock *lock = open_lock(client, "strange");
  CHECK_CONTAINS(server_command(server, "SET {mortise:strange} somebody PX 60000"), "OK");
  CHECK_STATUS(MORTISE_OK, mortise_lock_query(lock, info, NULL));
  CHECK_NUMBER(1, mortise_info_is_held(info));
  CHECK_NUMBER(0, mortise_info_is_mine(info));
  CHECK(strcmp(mortise_info_entry_owner(info, 0), "somebody") == 0);
  CHECK(strcmp(mortise_info_entry_host(info, 0), "") == 0);
  CHECK_NUMBER(0, mortise_info_entry_pid(info, 0));
  CHECK_STATUS(MORTISE_NOT_ACQUIRED, mortise_lock_try(lock, NULL));
  server_number(server, "DEL {mortise:strange}");
  mortise_lock_free(lock);
  mortise_info_free(info);
}

int main(void) {
  server = server_start(NULL);
  client = open_client(server);
  RUN(a_new_info_is_empty);
  RUN(holder_and_free_lock_are_reported);
  RUN(the_longest_label_is_complete);
  RUN(mine_is_the_handles);
  RUN(waiters_are_listed_in_their_order);
  RUN(a_strange_holder_is_reported_as_it_is);
  mortise_client_free(client);
  server_free(server);
  return 0;
}
