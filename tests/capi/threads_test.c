/* Many threads on few handles: every call ends, with a status that fits, and no two
   hold at once. */
#include "fixture.h"

static test_server *server;
static mortise_client *clients[2];

enum { workers = 8, rounds = 300, free_rounds = 60 };

/*
 * A counter that only a holder may touch: it is right at the end only if holds never overlap. Reads
 * and writes are atomic each, because a race checker cannot see the order of two clients through a
 * server. Together they are not atomic, so overlapping holds would lose entries.
 */
typedef struct ledger {
  const char *name;
  int64_t total;
  int64_t highest_token;
} ledger;

typedef struct worker {
  pthread_t thread;
  mortise_lock *lock;
  ledger *book;
  int64_t entries;
  unsigned seed;
} worker;

static void make_entry(worker *self) {
  ledger *book = self->book;
  const int64_t token = mortise_lock_token(self->lock);
  const int64_t seen = __atomic_load_n(&book->total, __ATOMIC_RELAXED);
  CHECK(token > __atomic_load_n(&book->highest_token, __ATOMIC_RELAXED));
  __atomic_store_n(&book->highest_token, token, __ATOMIC_RELAXED);
  __atomic_store_n(&book->total, seen + 1, __ATOMIC_RELAXED);
  ++self->entries;
}

static void *work_with_own_handle(void *argument) {
  worker *self = argument;
  for (int i = 0; i < rounds; ++i) {
    const mortise_status status = rand_r(&self->seed) % 4 == 0
                                      ? mortise_lock_try(self->lock, NULL)
                                      : mortise_lock_acquire(self->lock, patience_ms, NULL);
    if (status == MORTISE_NOT_ACQUIRED) continue;
    CHECK_STATUS(MORTISE_OK, status);
    make_entry(self);
    CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(self->lock, NULL));
  }
  return NULL;
}

static void holds_never_overlap(void) {
  ledger book = {"ledger", 0, 0};
  worker all[workers];
  int64_t entries = 0;
  for (int i = 0; i < workers; ++i) {
    all[i].lock = open_lock(clients[i % 2], book.name);
    all[i].book = &book;
    all[i].entries = 0;
    all[i].seed = (unsigned)i + 1;
    CHECK(pthread_create(&all[i].thread, NULL, work_with_own_handle, &all[i]) == 0);
  }
  for (int i = 0; i < workers; ++i) {
    CHECK(pthread_join(all[i].thread, NULL) == 0);
    entries += all[i].entries;
    mortise_lock_free(all[i].lock);
  }
  CHECK_NUMBER(entries, book.total);
  CHECK(entries > rounds);
}

/* All threads on one handle: one of them wins each round, and the others get the reason. */
static void *work_with_one_handle(void *argument) {
  worker *self = argument;
  for (int i = 0; i < rounds; ++i) {
    const mortise_status status = mortise_lock_acquire(self->lock, 1000, NULL);
    if (status == MORTISE_OK) {
      make_entry(self);
      CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(self->lock, NULL));
      continue;
    }
    CHECK(status == MORTISE_ALREADY_HELD || status == MORTISE_BUSY);
    (void)mortise_lock_is_held(self->lock);
    (void)mortise_lock_valid_ms(self->lock);
    (void)mortise_lock_token(self->lock);
  }
  return NULL;
}

static void one_handle_has_one_hold(void) {
  ledger book = {"one", 0, 0};
  mortise_lock *lock = open_lock(clients[0], book.name);
  worker all[workers];
  int64_t entries = 0;
  for (int i = 0; i < workers; ++i) {
    all[i].lock = lock;
    all[i].book = &book;
    all[i].entries = 0;
    CHECK(pthread_create(&all[i].thread, NULL, work_with_one_handle, &all[i]) == 0);
  }
  for (int i = 0; i < workers; ++i) {
    CHECK(pthread_join(all[i].thread, NULL) == 0);
    entries += all[i].entries;
  }
  CHECK_NUMBER(entries, book.total);
  CHECK(entries > 0);
  mortise_lock_free(lock);
}

/* Grant and cancel race: the acquire returns which of them won, and nothing remains. */
static void cancel_races_with_the_grant(void) {
  mortise_lock *holder = open_lock(clients[0], "race");
  mortise_lock *waiter = open_lock(clients[1], "race");
  int granted = 0, cancelled = 0;
  for (int i = 0; i < rounds; ++i) {
    background call;
    CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(holder, patience_ms, NULL));
    start_acquire(&call, waiter, MORTISE_FOREVER);
    wait_until_busy(waiter);
    if (i % 2) CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(holder, NULL));
    const mortise_status code = mortise_lock_cancel(waiter, NULL);
    if (i % 2 == 0) CHECK_STATUS(MORTISE_OK, code); /* no release has let it in */
    if (i % 2 == 0) CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(holder, NULL));
    const mortise_status status = finish_acquire(&call);
    /* The two calls return the same outcome. */
    CHECK_STATUS(status == MORTISE_OK ? MORTISE_NOT_WAITING : MORTISE_OK, code);
    if (status == MORTISE_OK) {
      ++granted;
      CHECK_NUMBER(1, mortise_lock_is_held(waiter));
      CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(waiter, NULL));
    } else {
      CHECK_STATUS(MORTISE_CANCELLED, status);
      ++cancelled;
      CHECK_NUMBER(0, mortise_lock_is_held(waiter));
    }
  }
  fprintf(stderr, "  %d granted, %d cancelled\n", granted, cancelled);
  mortise_lock_free(holder);
  mortise_lock_free(waiter);
  server_wait_for_exactly(server, "EXISTS {mortise:race} {mortise:race}:q", 0);
}

static void freeing_races_with_everything(void) {
  mortise_lock *holder = open_lock(clients[0], "free-race");
  for (int i = 0; i < free_rounds; ++i) {
    mortise_client *client = open_client(server);
    mortise_lock *first = open_lock(client, "free-race");
    mortise_lock *second = open_lock(client, "free-race");
    background calls[2];
    CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(holder, patience_ms, NULL));
    start_acquire(&calls[0], first, MORTISE_FOREVER);
    start_acquire(&calls[1], second, MORTISE_FOREVER);
    wait_until_busy(first);
    wait_until_busy(second);
    if (i % 3 == 0) mortise_lock_free(first);
    if (i % 2) CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(holder, NULL));
    mortise_client_free(client);
    if (i % 2 == 0) CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(holder, NULL));
    for (int k = 0; k < 2; ++k) {
      const mortise_status status = finish_acquire(&calls[k]);
      /* One may have been let in before its client was freed. Otherwise the holder still holds
         it. */
      if (i % 2 == 0 || status != MORTISE_OK) CHECK_STATUS(MORTISE_CLOSED, status);
    }
    if (i % 3 != 0) mortise_lock_free(first);
    mortise_lock_free(second);
  }
  mortise_lock_free(holder);
  server_wait_for_exactly(server, "EXISTS {mortise:free-race} {mortise:free-race}:q", 0);
}

/* Readers of one queue share its events: each is given to one of them. */
typedef struct reader {
  pthread_t thread;
  mortise_queue *queue;
  int64_t events;
} reader;

static void *read_until_shut_down(void *argument) {
  reader *self = argument;
  mortise_event *event = mortise_event_new();
  while (mortise_queue_next(self->queue, MORTISE_FOREVER, event, NULL) == MORTISE_OK) {
    CHECK_NUMBER(MORTISE_EVENT_ACQUIRED, mortise_event_kind(event));
    ++self->events;
  }
  mortise_event_free(event);
  return NULL;
}

static void readers_share_a_queue(void) {
  mortise_queue *queue = mortise_queue_new(clients[0], 0, NULL);
  mortise_lock *locks[rounds];
  reader readers[4];
  int64_t events = 0;
  char name[32];
  for (int i = 0; i < 4; ++i) {
    readers[i].queue = queue;
    readers[i].events = 0;
    CHECK(pthread_create(&readers[i].thread, NULL, read_until_shut_down, &readers[i]) == 0);
  }
  for (int i = 0; i < rounds; ++i) {
    snprintf(name, sizeof name, "shared-%d", i % 50);
    locks[i] = open_lock(clients[i % 2], name);
    CHECK_STATUS(MORTISE_OK, mortise_lock_acquire_async(locks[i], queue, i, MORTISE_FOREVER, NULL));
  }
  mortise_queue_shutdown(queue);
  const int64_t begin = now_ms();
  for (int i = 0; i < 4; ++i) {
    CHECK(pthread_join(readers[i].thread, NULL) == 0);
    events += readers[i].events;
  }
  CHECK(now_ms() - begin < 4000); /* all of them learn of the end */
  CHECK_NUMBER(rounds, events);
  for (int i = 0; i < rounds; ++i) mortise_lock_free(locks[i]);
  mortise_queue_free(queue);
}

int main(void) {
  server = server_start(NULL);
  for (int i = 0; i < 2; ++i) clients[i] = open_client(server);
  RUN(holds_never_overlap);
  RUN(one_handle_has_one_hold);
  RUN(cancel_races_with_the_grant);
  RUN(freeing_races_with_everything);
  RUN(readers_share_a_queue);
  for (int i = 0; i < 2; ++i) mortise_client_free(clients[i]);
  server_free(server);
  return 0;
}
