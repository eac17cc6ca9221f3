/* The blocking functions of a handle: what each does, and every status that its comment names. */
#include "fixture.h"

static test_server *server;
static mortise_client *client; /* gives up after 3 s, the default */
static mortise_client *quick;  /* after 300 ms */

enum { quick_ms = 1000 };

/* A handle whose hold the server has forgotten. */
static mortise_lock *open_lost(const char *name) {
  char command[128];
  mortise_lock *lock = open_lock(client, name);
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  snprintf(command, sizeof command, "DEL {mortise:%s}", name);
  CHECK_NUMBER(1, server_number(server, command));
  return lock;
}

static void try_takes_what_is_free(void) {
  mortise_lock *first = open_lock(client, "try");
  mortise_lock *second = open_lock(client, "try");
  mortise_lock *foreign = open_lock(quick, "try");
  CHECK_NUMBER(0, mortise_lock_token(first));
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(first, NULL));
  CHECK_NUMBER(1, mortise_lock_is_held(first));
  CHECK(mortise_lock_valid_ms(first) > 0 && mortise_lock_valid_ms(first) <= 30000);
  CHECK(mortise_lock_token(first) > 0 && mortise_lock_token(first) < INT64_C(1) << 53);
  CHECK_STATUS(MORTISE_NOT_ACQUIRED, mortise_lock_try(second, NULL));
  CHECK_STATUS(MORTISE_NOT_ACQUIRED, mortise_lock_try(foreign, NULL));
  CHECK_STATUS(MORTISE_NOT_ACQUIRED, mortise_lock_acquire(foreign, 0, NULL));
  CHECK_STATUS(MORTISE_ALREADY_HELD, mortise_lock_try(first, NULL));
  CHECK_STATUS(MORTISE_ALREADY_HELD, mortise_lock_acquire(first, 1000, NULL));
  CHECK_NUMBER(0, mortise_lock_is_held(second));
  CHECK_NUMBER(0, mortise_lock_valid_ms(second));
  CHECK_NUMBER(0, mortise_lock_token(second));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(first, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(foreign, NULL));
  CHECK(mortise_lock_token(foreign) > mortise_lock_token(first));
  mortise_lock_free(first);
  mortise_lock_free(second);
  mortise_lock_free(foreign);
  server_wait_for_exactly(server, "EXISTS {mortise:try}", 0);
}

static void acquire_waits_for_its_turn(void) {
  mortise_lock *holder = open_lock(client, "turn");
  mortise_lock *same_client = open_lock(client, "turn");
  mortise_lock *other_client = open_lock(quick, "turn");
  background first, second;
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(holder, MORTISE_MAX_MS, NULL));
  const int64_t token = mortise_lock_token(holder);
  start_acquire(&first, other_client, MORTISE_FOREVER);
  server_wait_for(server, "LLEN {mortise:turn}:q", 1);
  start_acquire(&second, same_client, patience_ms);
  wait_until_busy(same_client);
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(holder, NULL));
  /* One of them has it now, and the other gets it when that one is done. */
  const int64_t begin = now_ms();
  while (!mortise_lock_is_held(same_client) && !mortise_lock_is_held(other_client)) {
    CHECK(now_ms() - begin < patience_ms);
    poll(NULL, 0, 1);
  }
  mortise_lock *winner = mortise_lock_is_held(same_client) ? same_client : other_client;
  mortise_lock *next = winner == same_client ? other_client : same_client;
  background *won = winner == same_client ? &second : &first;
  background *waiting = winner == same_client ? &first : &second;
  CHECK_STATUS(MORTISE_OK, finish_acquire(won));
  CHECK(mortise_lock_token(winner) > token);
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(winner, NULL));
  CHECK_STATUS(MORTISE_OK, finish_acquire(waiting));
  CHECK(mortise_lock_token(next) > mortise_lock_token(winner));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(next, NULL));
  mortise_lock_free(holder);
  mortise_lock_free(same_client);
  mortise_lock_free(other_client);
}

static void acquire_times_out_and_leaves_nothing(void) {
  mortise_lock *holder = open_lock(client, "late");
  mortise_lock *same_client = open_lock(client, "late");
  mortise_lock *other_client = open_lock(quick, "late");
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(holder, NULL));
  CHECK_STATUS(MORTISE_TIMED_OUT, mortise_lock_acquire(same_client, 30, NULL));
  int64_t begin = now_ms();
  CHECK_STATUS(MORTISE_TIMED_OUT, mortise_lock_acquire(other_client, 1000, NULL));
  CHECK(now_ms() - begin >= 999 && now_ms() - begin < 5000);
  CHECK_NUMBER(0, mortise_lock_is_held(other_client));
  server_wait_for_exactly(server, "EXISTS {mortise:late}:q", 0);
  CHECK_NUMBER(1, mortise_lock_is_held(holder));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(holder, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(other_client, patience_ms, NULL));
  mortise_lock_free(holder);
  mortise_lock_free(same_client);
  mortise_lock_free(other_client);
}

static void cancel_ends_a_wait_only(void) {
  mortise_lock *holder = open_lock(client, "cancel");
  mortise_lock *waiter = open_lock(quick, "cancel");
  background call;
  CHECK_STATUS(MORTISE_NOT_WAITING, mortise_lock_cancel(waiter, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(holder, NULL));
  CHECK_STATUS(MORTISE_NOT_WAITING, mortise_lock_cancel(holder, NULL));
  CHECK_NUMBER(1, mortise_lock_is_held(holder));
  start_acquire(&call, waiter, MORTISE_FOREVER);
  server_wait_for(server, "LLEN {mortise:cancel}:q", 1);
  CHECK_STATUS(MORTISE_OK, mortise_lock_cancel(waiter, NULL));
  CHECK_STATUS(MORTISE_CANCELLED, finish_acquire(&call));
  server_wait_for_exactly(server, "EXISTS {mortise:cancel}:q", 0);
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(holder, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(waiter, patience_ms, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(waiter, NULL));
  mortise_lock_free(holder);
  mortise_lock_free(waiter);
}

static void a_handle_at_work_is_busy(void) {
  mortise_lock *holder = open_lock(client, "busy");
  mortise_lock *waiter = open_lock(client, "busy");
  background call;
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(holder, NULL));
  start_acquire(&call, waiter, MORTISE_FOREVER);
  wait_until_busy(waiter);
  CHECK_STATUS(MORTISE_BUSY, mortise_lock_try(waiter, NULL));
  CHECK_STATUS(MORTISE_BUSY, mortise_lock_acquire(waiter, 10, NULL));
  CHECK_STATUS(MORTISE_BUSY, mortise_lock_unlock(waiter, NULL));
  CHECK_STATUS(MORTISE_BUSY, mortise_lock_extend(waiter, 1000, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_cancel(waiter, NULL));
  CHECK_STATUS(MORTISE_CANCELLED, finish_acquire(&call));
  mortise_lock_free(holder);
  mortise_lock_free(waiter);
}

static void freeing_ends_a_wait(void) {
  mortise_lock *holder = open_lock(client, "freed");
  mortise_client *leaving = open_client(server);
  mortise_lock *of_leaving = open_lock(leaving, "freed");
  mortise_lock *waiter = open_lock(quick, "freed");
  background first, second;
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(holder, NULL));
  start_acquire(&first, of_leaving, MORTISE_FOREVER);
  start_acquire(&second, waiter, MORTISE_FOREVER);
  server_wait_for(server, "LLEN {mortise:freed}:q", 2);
  mortise_client_free(leaving);
  CHECK_STATUS(MORTISE_CLOSED, finish_acquire(&first));
  mortise_lock_free(waiter);
  CHECK_STATUS(MORTISE_CLOSED, finish_acquire(&second));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(holder, NULL));
  mortise_lock_free(of_leaving);
  mortise_lock_free(holder);
  server_wait_for_exactly(server, "EXISTS {mortise:freed} {mortise:freed}:q", 0);
}

static void unlock_without_a_hold_says_so(void) {
  mortise_lock *lock = open_lock(client, "unlock");
  mortise_lock *other = open_lock(client, "unlock");
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_lock_unlock(lock, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_lock_unlock(other, NULL));
  CHECK_NUMBER(1, mortise_lock_is_held(lock));
  const int64_t token = mortise_lock_token(lock);
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(lock, NULL));
  CHECK_NUMBER(0, mortise_lock_is_held(lock));
  CHECK_NUMBER(0, mortise_lock_valid_ms(lock));
  CHECK_NUMBER(token, mortise_lock_token(lock));
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_lock_unlock(lock, NULL));
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_lock_extend(lock, 0, NULL));
  mortise_lock_free(lock);
  mortise_lock_free(other);
}

static void a_lost_hold_is_lost_for_ever(void) {
  mortise_error *error = mortise_error_new();
  mortise_lock *lock = open_lost("lost-unlock");
  CHECK_STATUS(MORTISE_LOST, mortise_lock_unlock(lock, error));
  CHECK_ERROR(error, MORTISE_LOST, "");
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_lock_unlock(lock, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  mortise_lock_free(lock);

  lock = open_lost("lost-extend");
  const int64_t token = mortise_lock_token(lock);
  CHECK_STATUS(MORTISE_LOST, mortise_lock_extend(lock, 0, NULL));
  CHECK_NUMBER(0, mortise_lock_is_held(lock));
  CHECK_NUMBER(0, mortise_lock_valid_ms(lock));
  CHECK_NUMBER(token, mortise_lock_token(lock));
  CHECK_NUMBER(0, server_number(server, "EXISTS {mortise:lost-extend}"));
  CHECK_STATUS(MORTISE_LOST, mortise_lock_extend(lock, 1000, NULL));
  CHECK_STATUS(MORTISE_LOST, mortise_lock_unlock(lock, NULL));
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_lock_unlock(lock, NULL));
  mortise_lock_free(lock);
  mortise_error_free(error);
}

static void extend_lengthens_and_never_shortens(void) {
  mortise_options *options = options_with("lease", "10s");
  set_option(options, "renewal", "off");
  mortise_lock *lock = open_lock_with(client, "extend", options);
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  const int64_t token = mortise_lock_token(lock);
  CHECK_STATUS(MORTISE_OK, mortise_lock_extend(lock, 60000, NULL));
  CHECK(mortise_lock_valid_ms(lock) > 50000 && mortise_lock_valid_ms(lock) <= 60000);
  CHECK(server_number(server, "PTTL {mortise:extend}") >= 60000);
  CHECK_STATUS(MORTISE_OK, mortise_lock_extend(lock, MORTISE_MIN_LEASE_MS, NULL));
  CHECK(mortise_lock_valid_ms(lock) > 50000);
  CHECK(server_number(server, "PTTL {mortise:extend}") > 50000);
  CHECK_STATUS(MORTISE_OK, mortise_lock_extend(lock, 0, NULL));
  CHECK_NUMBER(token, mortise_lock_token(lock));
  CHECK_STATUS(MORTISE_OK, mortise_lock_extend(lock, MORTISE_MAX_MS, NULL));
  CHECK(mortise_lock_valid_ms(lock) > MORTISE_MAX_MS - 60000);
  const mortise_status bad = MORTISE_INVALID_ARGUMENT;
  CHECK_STATUS(bad, mortise_lock_extend(lock, MORTISE_MIN_LEASE_MS - 1, NULL));
  CHECK_STATUS(bad, mortise_lock_extend(lock, -1, NULL));
  CHECK_STATUS(bad, mortise_lock_extend(lock, MORTISE_MAX_MS + 1, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(lock, NULL));
  mortise_lock_free(lock);
  mortise_options_free(options);
}

static void a_hanging_server_makes_it_unknown(void) {
  mortise_lock *idle = open_lock(quick, "hang-idle");
  mortise_lock *held = open_lock(quick, "hang-held");
  mortise_lock *extended = open_lock(quick, "hang-extended");
  mortise_info *info = mortise_info_new();
  const int64_t begin = now_ms();
  for (int call = 0; call < 4; ++call) {
    if (call == 0) CHECK_STATUS(MORTISE_OK, mortise_lock_try(extended, NULL));
    if (call == 1) CHECK_STATUS(MORTISE_OK, mortise_lock_try(held, NULL));
    server_pause(server);
    /* Each of these is sent, and no reply comes. */
    if (call == 0) CHECK_STATUS(MORTISE_UNKNOWN, mortise_lock_extend(extended, 60000, NULL));
    if (call == 1) CHECK_STATUS(MORTISE_UNKNOWN, mortise_lock_unlock(held, NULL));
    if (call == 2) CHECK_STATUS(MORTISE_UNKNOWN, mortise_lock_query(idle, info, NULL));
    if (call == 3) CHECK_STATUS(MORTISE_UNKNOWN, mortise_lock_try(idle, NULL));
    if (call == 0) CHECK_NUMBER(1, mortise_lock_is_held(extended));
    if (call == 0) CHECK(mortise_lock_valid_ms(extended) <= 30000);
    CHECK_NUMBER(0, mortise_lock_is_held(held));
    server_resume(server);
    wait_for_ping(quick, MORTISE_OK);
  }
  CHECK(now_ms() - begin < patience_ms);
  server_wait_for_exactly(server, "EXISTS {mortise:hang-held} {mortise:hang-idle}", 0);
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(idle, patience_ms, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(idle, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(extended, NULL));
  mortise_info_free(info);
  mortise_lock_free(idle);
  mortise_lock_free(held);
  mortise_lock_free(extended);
}

static void a_hanging_server_does_not_stop_a_cancel(void) {
  mortise_lock *lock = open_lock(client, "hang-cancel");
  background call;
  server_pause(server);
  start_acquire(&call, lock, MORTISE_FOREVER);
  wait_until_busy(lock);
  CHECK_STATUS(MORTISE_OK, mortise_lock_cancel(lock, NULL));
  CHECK_STATUS(MORTISE_CANCELLED, finish_acquire(&call));
  server_resume(server);
  server_wait_for_exactly(server, "EXISTS {mortise:hang-cancel} {mortise:hang-cancel}:q", 0);
  mortise_lock_free(lock);
}

static void an_absent_server_is_unreachable(void) {
  test_server *other = server_start(NULL);
  mortise_client *lonely = open_quick_client(other, quick_ms);
  mortise_lock *idle = open_lock(lonely, "absent");
  mortise_lock *held = open_lock(lonely, "absent-held");
  mortise_info *info = mortise_info_new();
  mortise_error *error = mortise_error_new();
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(held, NULL));
  server_kill(other);
  /* The first call may notice that the connection has ended. Afterwards there is none. */
  wait_for_ping(lonely, MORTISE_UNREACHABLE);
  const int64_t begin = now_ms();
  CHECK_STATUS(MORTISE_UNREACHABLE, mortise_client_ping(lonely, error));
  CHECK_ERROR(error, MORTISE_UNREACHABLE, "");
  CHECK_NUMBER(1, mortise_error_is_retryable(error));
  CHECK_NUMBER(0, mortise_error_is_ambiguous(error));
  CHECK_STATUS(MORTISE_UNREACHABLE, mortise_lock_try(idle, error));
  CHECK_STATUS(MORTISE_UNREACHABLE, mortise_lock_acquire(idle, 100, NULL));
  CHECK_STATUS(MORTISE_UNREACHABLE, mortise_lock_extend(held, 0, NULL));
  CHECK_STATUS(MORTISE_UNREACHABLE, mortise_lock_query(idle, info, NULL));
  CHECK_STATUS(MORTISE_UNREACHABLE, mortise_lock_unlock(held, NULL));
  CHECK(now_ms() - begin < patience_ms / 2);
  CHECK_NUMBER(0, mortise_lock_is_held(held));
  server_restart(other);
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(idle, patience_ms, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(idle, NULL));
  mortise_error_free(error);
  mortise_info_free(info);
  mortise_lock_free(idle);
  mortise_lock_free(held);
  mortise_client_free(lonely);
  server_free(other);
}

static void a_refusal_is_reported_by_each(void) {
  mortise_lock *idle = open_lock(quick, "refused");
  mortise_lock *held = open_lock(quick, "refused-held");
  mortise_error *error = mortise_error_new();
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(held, NULL));
  CHECK_CONTAINS(server_command(server, "REPLICAOF 127.0.0.1 1"), "OK");
  /* Until the time of each is up the client looks for the master. */
  CHECK_STATUS(MORTISE_REFUSED, mortise_lock_try(idle, error));
  CHECK_ERROR(error, MORTISE_REFUSED, "read-only replica");
  CHECK_NUMBER(1, mortise_error_is_retryable(error));
  CHECK_STATUS(MORTISE_REFUSED, mortise_client_ping(quick, error));
  CHECK_STATUS(MORTISE_REFUSED, mortise_lock_extend(held, 0, error));
  CHECK_NUMBER(0, mortise_error_is_ambiguous(error));
  CHECK_NUMBER(1, mortise_lock_is_held(held));
  CHECK_STATUS(MORTISE_REFUSED, mortise_lock_unlock(held, error));
  CHECK_NUMBER(0, mortise_lock_is_held(held));
  CHECK_CONTAINS(server_command(server, "REPLICAOF NO ONE"), "OK");
  mortise_error_free(error);
  mortise_lock_free(idle);
  mortise_lock_free(held);
  server_command(server, "DEL {mortise:refused-held}");
}

/* A hundred rounds by two clients and four handles: never two at once, and the tokens rise. */
static void tokens_rise_and_holds_never_overlap(void) {
  mortise_lock *locks[4];
  int64_t highest = 0;
  for (int i = 0; i < 4; ++i) locks[i] = open_lock(i % 2 ? client : quick, "rounds");
  for (int round = 0; round < 100; ++round) {
    mortise_lock *lock = locks[round % 4];
    CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(lock, patience_ms, NULL));
    for (int i = 0; i < 4; ++i) CHECK_NUMBER(i == round % 4, mortise_lock_is_held(locks[i]));
    CHECK(mortise_lock_token(lock) > highest);
    highest = mortise_lock_token(lock);
    CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(lock, NULL));
  }
  for (int i = 0; i < 4; ++i) mortise_lock_free(locks[i]);
}

int main(void) {
  server = server_start(NULL);
  client = open_client(server);
  quick = open_quick_client(server, quick_ms);
  RUN(try_takes_what_is_free);
  RUN(acquire_waits_for_its_turn);
  RUN(acquire_times_out_and_leaves_nothing);
  RUN(cancel_ends_a_wait_only);
  RUN(a_handle_at_work_is_busy);
  RUN(freeing_ends_a_wait);
  RUN(unlock_without_a_hold_says_so);
  RUN(a_lost_hold_is_lost_for_ever);
  RUN(extend_lengthens_and_never_shortens);
  RUN(a_hanging_server_makes_it_unknown);
  RUN(a_hanging_server_does_not_stop_a_cancel);
  RUN(an_absent_server_is_unreachable);
  RUN(a_refusal_is_reported_by_each);
  RUN(tokens_rise_and_holds_never_overlap);
  mortise_client_free(quick);
  mortise_client_free(client);
  server_free(server);
  return 0;
}
