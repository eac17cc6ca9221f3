/* Threads that acquire locks of all kinds in one order are in no deadlock. */
#include <stdbool.h>

#include "fixture.h"

enum { threads = 10, seconds = 6, hold_ms = 250 };

static test_server *server;
static mortise_client *clients[2];
static int is_over;

typedef struct worker {
  pthread_t thread;
  mortise_lock *first;
  mortise_rw *rw;
  mortise_semaphore *semaphore;
  mortise_lock *last;
  mortise_lock *heir; /* of the hold of the last one */
  unsigned seed;
} worker;

/* A hold by id has no holder between its export and its adoption. */
static void pass_on(worker *self) {
  mortise_hold_id *id = mortise_lock_export(self->last, 0, NULL);
  CHECK(id != NULL);
  const char *text = mortise_hold_id_text(id);
  CHECK_STATUS(MORTISE_OK, mortise_lock_adopt(self->heir, text, strlen(text), NULL));
  mortise_hold_id_free(id);
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(self->heir, NULL));
}

static void use_all(worker *self) {
  const unsigned chosen = (unsigned)rand_r(&self->seed);
  const bool has_first = (chosen & 1) != 0;
  const bool has_permit = (chosen & 2) != 0;
  const bool reads = (chosen & 12) != 0;
  if (has_first) CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(self->first, patience_ms, NULL));
  CHECK_STATUS(MORTISE_OK, reads ? mortise_rw_read_acquire(self->rw, patience_ms, NULL)
                                 : mortise_rw_write_acquire(self->rw, patience_ms, NULL));
  if (has_permit) {
    const int64_t permits = 1 + (chosen >> 4) % 2;
    CHECK_STATUS(MORTISE_OK,
                 mortise_semaphore_acquire(self->semaphore, permits, patience_ms, NULL));
  }
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(self->last, patience_ms, NULL));
  poll(NULL, 0, rand_r(&self->seed) % hold_ms);
  if ((chosen & 64) != 0) {
    pass_on(self);
  } else {
    CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(self->last, NULL));
  }
  if (has_permit) CHECK_STATUS(MORTISE_OK, mortise_semaphore_release(self->semaphore, NULL));
  CHECK_STATUS(MORTISE_OK, reads ? mortise_rw_read_unlock(self->rw, NULL)
                                 : mortise_rw_write_unlock(self->rw, NULL));
  if (has_first) CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(self->first, NULL));
}

static void *work(void *argument) {
  while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) use_all(argument);
  return NULL;
}

/* Waits are longer than a second, so the clients search for deadlocks all the time. */
static void no_wait_in_one_order_fails(void) {
  static worker all[threads];
  for (int i = 0; i < threads; ++i) {
    worker *self = &all[i];
    mortise_client *client = clients[i % 2];
    self->first = open_lock(client, "first");
    self->rw = open_rw(client, "rw");
    self->semaphore = open_semaphore(client, "permits", 3);
    self->last = open_lock(client, "last");
    self->heir = open_lock(clients[(i + 1) % 2], "last");
    self->seed = (unsigned)i + 1;
    CHECK(pthread_create(&self->thread, NULL, work, self) == 0);
  }
  poll(NULL, 0, seconds * 1000);
  __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < threads; ++i) {
    worker *self = &all[i];
    pthread_join(self->thread, NULL);
    mortise_lock_free(self->heir);
    mortise_lock_free(self->last);
    mortise_semaphore_free(self->semaphore);
    mortise_rw_free(self->rw);
    mortise_lock_free(self->first);
  }
}

int main(void) {
  server = server_start(NULL);
  mortise_options *options = options_with(MORTISE_OPTION_DEADLOCK, "fail");
  set_option(options, MORTISE_OPTION_RETAIN, "500ms");
  for (int i = 0; i < 2; ++i) clients[i] = open_client_with(server_url(server), options);
  mortise_options_free(options);
  RUN(no_wait_in_one_order_fails);
  for (int i = 0; i < 2; ++i) mortise_client_free(clients[i]);
  server_free(server);
  return 0;
}
