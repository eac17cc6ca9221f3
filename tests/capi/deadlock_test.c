/* With the option `deadlock=fail` one wait of a deadlock ends, and no other wait does. */
#include "fixture.h"

static test_server *server;
static mortise_client *clients[2];

static mortise_lock *open_failing(mortise_client *client, const char *name) {
  mortise_options *options = options_with(MORTISE_OPTION_DEADLOCK, "fail");
  mortise_lock *lock = open_lock_with(client, name, options);
  mortise_options_free(options);
  return lock;
}

/* A thread that acquires two locks. */
typedef struct worker {
  pthread_t thread;
  mortise_lock *first;
  mortise_lock *second;
  pthread_barrier_t *both_hold;
  mortise_status status;
} worker;

static void *work(void *argument) {
  worker *self = argument;
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(self->first, patience_ms, NULL));
  pthread_barrier_wait(self->both_hold);
  self->status = mortise_lock_acquire(self->second, patience_ms, NULL);
  CHECK_NUMBER(self->status == MORTISE_OK, mortise_lock_is_held(self->second));
  if (self->status == MORTISE_OK) {
    CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(self->second, NULL));
  }
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(self->first, NULL));
  return NULL;
}

static void start(worker *self, pthread_barrier_t *both_hold, mortise_lock *first,
                  mortise_lock *second) {
  self->first = first;
  self->second = second;
  self->both_hold = both_hold;
  CHECK(pthread_create(&self->thread, NULL, work, self) == 0);
}

static mortise_status finish(worker *self) {
  CHECK(pthread_join(self->thread, NULL) == 0);
  mortise_lock_free(self->second);
  mortise_lock_free(self->first);
  return self->status;
}

/* This thread waits for the last lock of the circle, once the other one waits. */
static void the_youngest_wait_fails_and_the_other_is_granted(void) {
  mortise_lock *held = open_lock(clients[1], "stock");
  mortise_lock *wanted = open_failing(clients[1], "orders");
  mortise_error *error = mortise_error_new();
  pthread_barrier_t both_hold;
  pthread_barrier_init(&both_hold, NULL, 2);
  worker older;
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(held, patience_ms, NULL));
  start(&older, &both_hold, open_failing(clients[0], "orders"), open_failing(clients[0], "stock"));
  pthread_barrier_wait(&both_hold);
  wait_until_busy(older.second);
  CHECK_STATUS(MORTISE_DEADLOCK, mortise_lock_acquire(wanted, patience_ms, error));
  CHECK_CONTAINS(mortise_error_message(error), "\"orders\": waited ");
  CHECK_CONTAINS(mortise_error_message(error), " ms in a deadlock: process ");
  CHECK_CONTAINS(mortise_error_message(error),
                 " holds it and waits for \"stock\", which this thread holds");
  CHECK_NUMBER(0, mortise_lock_is_held(wanted));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(held, NULL));
  CHECK_STATUS(MORTISE_OK, finish(&older));
  /* The same handle can wait again, and nothing is left of the wait that ended. */
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(wanted, patience_ms, error));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(wanted, NULL));
  CHECK_NUMBER(0, server_number(server, lock_keys));
  pthread_barrier_destroy(&both_hold);
  mortise_error_free(error);
  mortise_lock_free(wanted);
  mortise_lock_free(held);
}

/* The older wait ends, because only that one has the option. */
static void a_wait_without_the_option_goes_on(void) {
  mortise_lock *held = open_lock(clients[1], "stock");
  mortise_lock *wanted = open_lock(clients[1], "orders");
  pthread_barrier_t both_hold;
  pthread_barrier_init(&both_hold, NULL, 2);
  worker older;
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(held, patience_ms, NULL));
  start(&older, &both_hold, open_failing(clients[0], "orders"), open_failing(clients[0], "stock"));
  pthread_barrier_wait(&both_hold);
  wait_until_busy(older.second);
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(wanted, patience_ms, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(wanted, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(held, NULL));
  CHECK_STATUS(MORTISE_DEADLOCK, finish(&older));
  pthread_barrier_destroy(&both_hold);
  mortise_lock_free(wanted);
  mortise_lock_free(held);
}

static void a_thread_that_waits_for_itself_fails(void) {
  mortise_lock *held = open_lock(clients[0], "own");
  mortise_lock *again = open_failing(clients[0], "own");
  mortise_error *error = mortise_error_new();
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(held, patience_ms, NULL));
  CHECK_STATUS(MORTISE_DEADLOCK, mortise_lock_acquire(again, patience_ms, error));
  CHECK_CONTAINS(mortise_error_message(error), " ms in a deadlock: this thread holds it");
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(held, NULL));
  mortise_error_free(error);
  mortise_lock_free(again);
  mortise_lock_free(held);
}

/* The multi gives its other member back. */
static void a_multi_that_waits_for_its_own_thread_fails(void) {
  mortise_lock *held = open_lock(clients[0], "z");
  mortise_lock *members[] = {open_failing(clients[0], "a"), open_failing(clients[0], "z")};
  mortise_multi *multi = mortise_multi_new(clients[0], NULL);
  for (int i = 0; i < 2; ++i) {
    CHECK_STATUS(MORTISE_OK, mortise_multi_add_lock(multi, members[i], NULL));
  }
  mortise_error *error = mortise_error_new();
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(held, patience_ms, NULL));
  CHECK_STATUS(MORTISE_DEADLOCK, mortise_multi_acquire(multi, patience_ms, error));
  CHECK_CONTAINS(mortise_error_message(error), "\"z\": waited ");
  CHECK_NUMBER(0, mortise_lock_is_held(members[0]));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(held, NULL));
  mortise_error_free(error);
  mortise_multi_free(multi);
  mortise_lock_free(members[1]);
  mortise_lock_free(members[0]);
  mortise_lock_free(held);
}

/* An event loop may unlock one lock while another of its calls waits. */
static void a_call_that_blocks_no_thread_waits_on(void) {
  mortise_queue *queue = open_queue(clients[0], 0);
  mortise_lock *held = open_lock(clients[0], "later");
  mortise_lock *again = open_failing(clients[0], "later");
  mortise_lock *own = open_failing(clients[0], "own");
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(held, patience_ms, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire_async(again, queue, 1, patience_ms, NULL));
  /* This call starts the search. */
  mortise_lock *own_again = open_failing(clients[0], "own");
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(own, patience_ms, NULL));
  CHECK_STATUS(MORTISE_DEADLOCK, mortise_lock_acquire(own_again, patience_ms, NULL));
  check_quiet(queue);
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(held, NULL));
  check_event(queue, MORTISE_EVENT_ACQUIRED, 1, MORTISE_OK);
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(again, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(own, NULL));
  mortise_lock_free(own_again);
  mortise_lock_free(own);
  mortise_lock_free(again);
  mortise_lock_free(held);
  mortise_queue_free(queue);
}

/* Unlocked locks that nobody else uses, as load. */
typedef struct load {
  pthread_t thread;
  mortise_lock *lock;
  int is_over;
} load;

static void *make_load(void *argument) {
  load *self = argument;
  while (!__atomic_load_n(&self->is_over, __ATOMIC_RELAXED)) {
    CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(self->lock, patience_ms, NULL));
    CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(self->lock, NULL));
    poll(NULL, 0, 1);
  }
  return NULL;
}

/* Both waits of a circle begin at the same time, and each client chooses the one to end. */
static void of_each_of_fifty_circles_one_wait_fails(void) {
  enum { rounds = 2, circles = 25 };
  load busy = {.lock = open_lock(clients[0], "load"), .is_over = 0};
  CHECK(pthread_create(&busy.thread, NULL, make_load, &busy) == 0);
  for (int round = 0; round < rounds; ++round) {
    worker all[circles][2];
    pthread_barrier_t both_hold[circles];
    for (int i = 0; i < circles; ++i) {
      char names[2][20];
      for (int k = 0; k < 2; ++k) snprintf(names[k], sizeof names[k], "%c%d", 'a' + k, i);
      pthread_barrier_init(&both_hold[i], NULL, 2);
      for (int k = 0; k < 2; ++k) {
        start(&all[i][k], &both_hold[i], open_failing(clients[k], names[k]),
              open_failing(clients[k], names[1 - k]));
      }
    }
    for (int i = 0; i < circles; ++i) {
      const mortise_status first = finish(&all[i][0]);
      const mortise_status second = finish(&all[i][1]);
      CHECK_STATUS(MORTISE_DEADLOCK, first == MORTISE_OK ? second : first);
      CHECK_STATUS(MORTISE_OK, first == MORTISE_OK ? first : second);
      pthread_barrier_destroy(&both_hold[i]);
    }
  }
  __atomic_store_n(&busy.is_over, 1, __ATOMIC_RELAXED);
  pthread_join(busy.thread, NULL);
  mortise_lock_free(busy.lock);
  CHECK_NUMBER(0, server_number(server, lock_keys));
}

/* Both locks of a database, until the test goes on. They are not those of the other database. */
static void *hold_both(void *argument) {
  mortise_lock **locks = argument;
  for (int i = 0; i < 2; ++i) CHECK_STATUS(MORTISE_OK, mortise_lock_try(locks[i], NULL));
  return NULL;
}

/*
 * In each database this thread or the worker holds one lock and waits for the other one, which a
 * thread holds that waits for nothing. One database with all of these would have a deadlock.
 */
static void databases_of_one_server_have_no_deadlock_in_common(void) {
  char url[256];
  snprintf(url, sizeof url, "%s?db=1", server_url(server));
  mortise_client *other = open_client_with(url, NULL);
  mortise_lock *free_later[] = {open_lock(clients[0], "stock"), open_lock(other, "orders")};
  mortise_lock *held = open_lock(other, "stock");
  mortise_lock *wanted = open_failing(other, "orders");
  pthread_t running;
  CHECK(pthread_create(&running, NULL, hold_both, free_later) == 0);
  CHECK(pthread_join(running, NULL) == 0);
  pthread_barrier_t both_hold;
  pthread_barrier_init(&both_hold, NULL, 2);
  worker older;
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(held, patience_ms, NULL));
  start(&older, &both_hold, open_failing(clients[0], "orders"), open_failing(clients[0], "stock"));
  pthread_barrier_wait(&both_hold);
  wait_until_busy(older.second);
  CHECK_STATUS(MORTISE_TIMED_OUT, mortise_lock_acquire(wanted, 4000, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(held, NULL));
  for (int i = 0; i < 2; ++i) CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(free_later[i], NULL));
  CHECK_STATUS(MORTISE_OK, finish(&older));
  pthread_barrier_destroy(&both_hold);
  for (int i = 0; i < 2; ++i) mortise_lock_free(free_later[i]);
  mortise_lock_free(wanted);
  mortise_lock_free(held);
  mortise_client_free(other);
}

int main(void) {
  server = server_start(NULL);
  for (int i = 0; i < 2; ++i) clients[i] = open_client(server);
  RUN(the_youngest_wait_fails_and_the_other_is_granted);
  RUN(a_wait_without_the_option_goes_on);
  RUN(a_thread_that_waits_for_itself_fails);
  RUN(a_multi_that_waits_for_its_own_thread_fails);
  RUN(a_call_that_blocks_no_thread_waits_on);
  RUN(of_each_of_fifty_circles_one_wait_fails);
  RUN(databases_of_one_server_have_no_deadlock_in_common);
  for (int i = 0; i < 2; ++i) mortise_client_free(clients[i]);
  server_free(server);
  return 0;
}
