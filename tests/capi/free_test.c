/*
 * Whatever is freed, and in whatever order, by two threads at once: finalizers do that. Each round
 * makes one of everything, with holds, waiting calls, watches and unread events, and two threads
 * free all of it. That nothing is used after it was freed is what the sanitizers see.
 */
#include "fixture.h"

static test_server *server;
static const char taken[] = "taken"; /* by a client that is not freed */

enum { shuffles = 150, handles = 12 };

typedef void (*free_function)(void *);

typedef struct thing {
  void *object;
  free_function free;
} thing;

static void free_client(void *object) { mortise_client_free(object); }
static void free_lock(void *object) { mortise_lock_free(object); }
static void free_rw(void *object) { mortise_rw_free(object); }
static void free_semaphore(void *object) { mortise_semaphore_free(object); }
static void free_multi(void *object) { mortise_multi_free(object); }
static void free_queue(void *object) { mortise_queue_free(object); }
static void free_event(void *object) { mortise_event_free(object); }
static void free_options(void *object) { mortise_options_free(object); }
static void free_error(void *object) { mortise_error_free(object); }

enum {
  client_thing,
  holding_thing,
  waiting_thing,
  second_waiting_thing, /* of the same name, so that both are of one gate */
  unlocking_thing,
  reading_thing,
  semaphore_thing,
  member_thing,
  awaited_member_thing,
  multi_thing,
  waiting_multi_thing,
  queue_thing,
  event_thing,
  options_thing,
  error_thing,
  things
};

static void put(thing *all, int which, void *object, free_function release) {
  CHECK(object != NULL);
  all[which].object = object;
  all[which].free = release;
}

static mortise_lock *put_lock(thing *all, int which, const char *name) {
  mortise_lock *lock = open_lock_with(all[client_thing].object, name, all[options_thing].object);
  put(all, which, lock, free_lock);
  return lock;
}

static mortise_multi *put_multi(thing *all, int which, mortise_lock *member) {
  mortise_multi *multi = mortise_multi_new(all[client_thing].object, NULL);
  put(all, which, multi, free_multi);
  CHECK_STATUS(MORTISE_OK, mortise_multi_add_lock(multi, member, NULL));
  return multi;
}

/* Holds, waits and watches of every kind, on names of their own. */
static void make_all(thing *all) {
  static int made;
  char name[32], member[32];
  snprintf(name, sizeof name, "free-%d", ++made);
  snprintf(member, sizeof member, "member-%d", made);
  put(all, options_thing, options_with("lease", "5s"), free_options);
  put(all, error_thing, mortise_error_new(), free_error);
  put(all, client_thing, open_client(server), free_client);
  mortise_client *client = all[client_thing].object;
  mortise_queue *queue = mortise_queue_new(client, 0, NULL);
  put(all, queue_thing, queue, free_queue);

  mortise_lock *lock = put_lock(all, holding_thing, name);
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(lock, patience_ms, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_watch(lock, queue, 1, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_extend_async(lock, queue, 2, 0, NULL));

  for (int which = waiting_thing; which <= second_waiting_thing; ++which) {
    lock = put_lock(all, which, taken);
    CHECK_STATUS(MORTISE_OK, mortise_lock_watch(lock, queue, 3, NULL));
    CHECK_STATUS(MORTISE_OK, mortise_lock_acquire_async(lock, queue, 4, MORTISE_FOREVER, NULL));
  }
  mortise_rw *rw = mortise_rw_new(client, name + 1, strlen(name) - 1, NULL, NULL);
  put(all, reading_thing, rw, free_rw);
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_acquire(rw, patience_ms, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_upgrade_async(rw, queue, 5, NULL));
  mortise_semaphore *permits =
      mortise_semaphore_new(client, name + 2, strlen(name) - 2, 3, NULL, NULL);
  put(all, semaphore_thing, permits, free_semaphore);
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_acquire(permits, 2, patience_ms, NULL));

  lock = put_lock(all, member_thing, member);
  mortise_multi *multi = put_multi(all, multi_thing, lock);
  CHECK_STATUS(MORTISE_OK, mortise_multi_acquire(multi, patience_ms, NULL));
  lock = put_lock(all, awaited_member_thing, taken);
  multi = put_multi(all, waiting_multi_thing, lock);
  CHECK_STATUS(MORTISE_OK, mortise_multi_acquire_async(multi, queue, 6, MORTISE_FOREVER, NULL));

  member[0] = 'u';
  lock = put_lock(all, unlocking_thing, member);
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(lock, patience_ms, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock_async(lock, queue, 7, NULL));

  mortise_event *event = mortise_event_new();
  put(all, event_thing, event, free_event);
  CHECK_STATUS(MORTISE_OK, mortise_queue_next(queue, patience_ms, event, NULL));
  CHECK_STATUS(MORTISE_BUSY,
               mortise_lock_unlock(all[waiting_thing].object, all[error_thing].object));
}

/* What one of the two threads frees, in this order. */
typedef struct share {
  pthread_barrier_t *begin;
  thing list[things];
  int count;
} share;

static void *free_share(void *argument) {
  share *mine = argument;
  pthread_barrier_wait(mine->begin);
  for (int i = 0; i < mine->count; ++i) mine->list[i].free(mine->list[i].object);
  return NULL;
}

static void free_by_two(share *shares) {
  pthread_barrier_t begin;
  pthread_t thread;
  CHECK(pthread_barrier_init(&begin, NULL, 2) == 0);
  shares[0].begin = shares[1].begin = &begin;
  CHECK(pthread_create(&thread, NULL, free_share, &shares[1]) == 0);
  free_share(&shares[0]);
  CHECK(pthread_join(thread, NULL) == 0);
  pthread_barrier_destroy(&begin);
}

static void give(share *to, thing *what) {
  to->list[to->count++] = *what;
  what->object = NULL;
}

static void free_rest(thing *all) {
  for (int i = 0; i < things; ++i) {
    if (all[i].object != NULL) all[i].free(all[i].object);
  }
}

/* Each two at the same moment, with all others still there. */
static void each_pair(void) {
  for (int first = 0; first < things; ++first) {
    for (int second = 0; second < things; ++second) {
      if (first == second) continue;
      thing all[things];
      share shares[2] = {{.count = 0}, {.count = 0}};
      make_all(all);
      give(&shares[0], &all[first]);
      give(&shares[1], &all[second]);
      free_by_two(shares);
      free_rest(all);
    }
  }
}

/* All of it, dealt to the two in an order that differs each time. */
static void all_in_any_order(void) {
  unsigned seed = 1;
  for (int round = 0; round < shuffles; ++round) {
    thing all[things];
    share shares[2] = {{.count = 0}, {.count = 0}};
    make_all(all);
    for (int left = things; left > 0; --left) {
      int which = rand_r(&seed) % left;
      for (int i = 0; i <= which; ++i) {
        if (all[i].object == NULL) ++which;
      }
      give(&shares[rand_r(&seed) % 2], &all[which]);
    }
    free_by_two(shares);
  }
}

/* One thread frees the client, the other one many handles that hold: what a collector does. */
static void many_handles_and_their_client(void) {
  for (int round = 0; round < shuffles; ++round) {
    share shares[2] = {{.count = 0}, {.count = 0}};
    mortise_client *client = open_client(server);
    for (int i = 0; i < handles; ++i) {
      char name[32];
      snprintf(name, sizeof name, "many-%d-%d", round, i);
      mortise_lock *lock = open_lock(client, name);
      CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(lock, patience_ms, NULL));
      thing made = {lock, free_lock};
      give(&shares[1], &made);
    }
    thing made = {client, free_client};
    give(&shares[0], &made);
    free_by_two(shares);
  }
}

int main(void) {
  server = server_start(NULL);
  mortise_client *other = open_client(server);
  mortise_lock *held = open_lock(other, taken);
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(held, patience_ms, NULL));
  RUN(each_pair);
  RUN(all_in_any_order);
  RUN(many_handles_and_their_client);
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(held, NULL));
  mortise_lock_free(held);
  mortise_client_free(other);
  server_free(server);
  return 0;
}
