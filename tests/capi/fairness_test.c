/* First come, first served at the server; and what waiters of one client may
   do among themselves. */
#include "fixture.h"

static test_server *server;

enum { crowd = 12 };

typedef struct waiter {
  pthread_t thread;
  mortise_client *client;
  mortise_lock *lock;
  int turn;
} waiter;

static int turns; /* only the holder touches it, which a race checker cannot see */

static void *wait_for_turn(void *argument) {
  waiter *self = argument;
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(self->lock, patience_ms, NULL));
  self->turn = __atomic_fetch_add(&turns, 1, __ATOMIC_RELAXED);
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(self->lock, NULL));
  return NULL;
}

static void check_order(waiter *all, const char *name) {
  char length[64];
  snprintf(length, sizeof length, "LLEN {mortise:%s}:q", name);
  mortise_client *client = open_client(server);
  mortise_lock *holder = open_lock(client, name);
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(holder, NULL));
  turns = 0;
  for (int i = 0; i < crowd; ++i) {
    CHECK(pthread_create(&all[i].thread, NULL, wait_for_turn, &all[i]) == 0);
    server_wait_for(server, length, i + 1);
  }
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(holder, NULL));
  for (int i = 0; i < crowd; ++i) {
    CHECK(pthread_join(all[i].thread, NULL) == 0);
    CHECK_NUMBER(i, all[i].turn);
  }
  mortise_lock_free(holder);
  mortise_client_free(client);
}

static void clients_are_served_in_order(void) {
  waiter all[crowd];
  for (int i = 0; i < crowd; ++i) {
    all[i].client = open_client(server);
    all[i].lock = open_lock(all[i].client, "clients");
  }
  check_order(all, "clients");
  for (int i = 0; i < crowd; ++i) {
    mortise_lock_free(all[i].lock);
    mortise_client_free(all[i].client);
  }
}

static void strict_handles_are_served_in_order(void) {
  waiter all[crowd];
  mortise_options *strict = options_with("fair", "strict");
  mortise_client *shared[3];
  for (int i = 0; i < 3; ++i) shared[i] = open_client(server);
  for (int i = 0; i < crowd; ++i) all[i].lock = open_lock_with(shared[i % 3], "strict", strict);
  check_order(all, "strict");
  for (int i = 0; i < crowd; ++i) mortise_lock_free(all[i].lock);
  for (int i = 0; i < 3; ++i) mortise_client_free(shared[i]);
  mortise_options_free(strict);
}

/* A thread that acquires and unlocks until the end of the test. */
typedef struct busy_worker {
  pthread_t thread;
  mortise_lock *lock;
  int *is_over;
  int64_t acquires;
} busy_worker;

static void *keep_busy(void *argument) {
  busy_worker *self = argument;
  while (!__atomic_load_n(self->is_over, __ATOMIC_RELAXED)) {
    CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(self->lock, patience_ms, NULL));
    CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(self->lock, NULL));
    ++self->acquires;
  }
  return NULL;
}

static void start_busy(busy_worker *self, mortise_client *client, const char *name, int *is_over) {
  self->lock = open_lock(client, name);
  self->is_over = is_over;
  self->acquires = 0;
  CHECK(pthread_create(&self->thread, NULL, keep_busy, self) == 0);
}

static int64_t finish_busy(busy_worker *self) {
  CHECK(pthread_join(self->thread, NULL) == 0);
  mortise_lock_free(self->lock);
  return self->acquires;
}

/* Without another client, waiters of one client pass the lock on without the server. */
static void a_batch_costs_the_server_little(void) {
  enum { worker_count = 4 };
  mortise_client *client = open_client(server);
  busy_worker all[worker_count];
  int is_over = 0;
  server_command(server, "CONFIG RESETSTAT");
  for (int i = 0; i < worker_count; ++i) start_busy(&all[i], client, "batch", &is_over);
  const int64_t begin = now_ms();
  while (now_ms() - begin < 300) poll(NULL, 0, 10);
  __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
  int64_t acquires = 0;
  for (int i = 0; i < worker_count; ++i) acquires += finish_busy(&all[i]);
  const char *calls = strstr(server_command(server, "INFO stats"), "total_commands_processed:");
  CHECK(calls != NULL);
  const int64_t commands = atoll(calls + strlen("total_commands_processed:"));
  fprintf(stderr, "  %lld commands for %lld acquires\n", (long long)commands, (long long)acquires);
  CHECK(commands < acquires * 2); /* each by itself would cost seven */
  mortise_client_free(client);
}

/* A busy client passes the lock on among its own, but another client's turn comes all the same. */
static void a_batch_ends_when_others_wait(void) {
  mortise_client *busy = open_client(server);
  mortise_client *guest = open_client(server);
  mortise_lock *lock = open_lock(guest, "guest");
  busy_worker all[6];
  int is_over = 0;
  for (int i = 0; i < 6; ++i) start_busy(&all[i], busy, "guest", &is_over);
  for (int i = 0; i < 50; ++i) {
    CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(lock, patience_ms, NULL));
    CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(lock, NULL));
  }
  __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < 6; ++i) finish_busy(&all[i]);
  mortise_lock_free(lock);
  mortise_client_free(busy);
  mortise_client_free(guest);
  server_wait_for_exactly(server, "EXISTS {mortise:guest} {mortise:guest}:q", 0);
}

/* Earlier waiters that gave up or died do not delay the next. */
static void leavers_are_skipped(void) {
  waiter all[3];
  mortise_client *client = open_client(server);
  mortise_lock *holder = open_lock(client, "leavers");
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(holder, NULL));
  mortise_client *leaver_client = open_client(server);
  mortise_lock *leaver = open_lock(leaver_client, "leavers");
  background call;
  start_acquire(&call, leaver, MORTISE_FOREVER);
  server_wait_for(server, "LLEN {mortise:leavers}:q", 1);
  turns = 0;
  for (int i = 0; i < 3; ++i) {
    all[i].client = open_client(server);
    all[i].lock = open_lock(all[i].client, "leavers");
    CHECK(pthread_create(&all[i].thread, NULL, wait_for_turn, &all[i]) == 0);
    server_wait_for(server, "LLEN {mortise:leavers}:q", i + 2);
  }
  mortise_client_free(leaver_client);
  CHECK_STATUS(MORTISE_CLOSED, finish_acquire(&call));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(holder, NULL));
  for (int i = 0; i < 3; ++i) {
    CHECK(pthread_join(all[i].thread, NULL) == 0);
    CHECK_NUMBER(i, all[i].turn);
    mortise_lock_free(all[i].lock);
    mortise_client_free(all[i].client);
  }
  mortise_lock_free(leaver);
  mortise_lock_free(holder);
  mortise_client_free(client);
}

int main(void) {
  server = server_start(NULL);
  RUN(clients_are_served_in_order);
  RUN(strict_handles_are_served_in_order);
  RUN(a_batch_costs_the_server_little);
  RUN(a_batch_ends_when_others_wait);
  RUN(leavers_are_skipped);
  server_free(server);
  return 0;
}
