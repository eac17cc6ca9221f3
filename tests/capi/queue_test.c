/* Asynchronous calls: exactly one event for each accepted tag, however the call ends. */
#include "fixture.h"

#include <fcntl.h>
#include <sched.h>

static test_server *server;
static mortise_client *client;

enum { many = 500 };

typedef struct record {
  int64_t kind;
  int64_t tag;
  int64_t status;
  int64_t token;
} record;

static record next_record(mortise_queue *queue) {
  record got;
  int64_t numbers[MORTISE_RECORD_FIELDS];
  int64_t count = 0;
  CHECK_STATUS(MORTISE_OK, mortise_queue_next_batch(queue, patience_ms, numbers, 1, &count, NULL));
  CHECK_NUMBER(1, count);
  got.kind = numbers[0];
  got.tag = numbers[1];
  got.status = numbers[2];
  got.token = numbers[3];
  return got;
}

static void check_next(mortise_queue *queue, int64_t kind, int64_t tag, int64_t status) {
  const record got = next_record(queue);
  CHECK_NUMBER(kind, got.kind);
  CHECK_NUMBER(tag, got.tag);
  CHECK_STATUS((mortise_status)status, (mortise_status)got.status);
}

static void a_whole_life_in_events(void) {
  mortise_queue *queue = open_queue(client, 0);
  mortise_lock *lock = open_lock(client, "life");
  mortise_lock *other = open_lock(client, "life");
  mortise_event *event = mortise_event_new();
  CHECK_NUMBER(MORTISE_EVENT_NONE, mortise_event_kind(event));
  check_quiet(queue);
  CHECK_STATUS(MORTISE_OK, mortise_lock_try_async(lock, queue, INT64_MIN, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_queue_next(queue, patience_ms, event, NULL));
  CHECK_NUMBER(MORTISE_EVENT_ACQUIRED, mortise_event_kind(event));
  CHECK_NUMBER(INT64_MIN, mortise_event_tag(event));
  CHECK_STATUS(MORTISE_OK, mortise_event_status(event));
  CHECK_NUMBER(mortise_lock_token(lock), mortise_event_token(event));
  CHECK(mortise_event_token(event) > 0);
  CHECK(mortise_event_message(event)[0] == '\0');
  CHECK(mortise_event_server_text(event)[0] == '\0');
  CHECK_NUMBER(0, mortise_event_is_ambiguous(event));
  CHECK_STATUS(MORTISE_OK, mortise_lock_try_async(other, queue, 2, NULL));
  check_next(queue, MORTISE_EVENT_ACQUIRED, 2, MORTISE_NOT_ACQUIRED);
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire_async(other, queue, 3, 20, NULL));
  check_next(queue, MORTISE_EVENT_ACQUIRED, 3, MORTISE_TIMED_OUT);
  CHECK_STATUS(MORTISE_ALREADY_HELD, mortise_lock_try_async(lock, queue, 4, NULL));
  CHECK_STATUS(MORTISE_ALREADY_HELD, mortise_lock_acquire_async(lock, queue, 4, 10, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_extend_async(lock, queue, INT64_MAX, 60000, NULL));
  check_next(queue, MORTISE_EVENT_EXTENDED, INT64_MAX, MORTISE_OK);
  CHECK(mortise_lock_valid_ms(lock) > 30000);
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire_async(other, queue, 7, MORTISE_FOREVER, NULL));
  CHECK_STATUS(MORTISE_BUSY, mortise_lock_acquire_async(other, queue, 8, 10, NULL));
  CHECK_STATUS(MORTISE_BUSY, mortise_lock_unlock_async(other, queue, 8, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock_async(lock, queue, 9, NULL));
  CHECK_NUMBER(0, mortise_lock_is_held(lock));
  int64_t tags = 0;
  for (int i = 0; i < 2; ++i) {
    const record got = next_record(queue);
    CHECK_STATUS(MORTISE_OK, (mortise_status)got.status);
    CHECK_NUMBER(got.tag == 7 ? MORTISE_EVENT_ACQUIRED : MORTISE_EVENT_UNLOCKED, got.kind);
    tags += got.tag;
  }
  CHECK_NUMBER(7 + 9, tags);
  CHECK_NUMBER(1, mortise_lock_is_held(other));
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_lock_unlock_async(lock, queue, 10, NULL));
  CHECK_STATUS(MORTISE_NOT_OWNER, mortise_lock_extend_async(lock, queue, 10, 0, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(other, NULL));
  check_quiet(queue);
  mortise_event_free(event);
  mortise_queue_free(queue);
  mortise_lock_free(lock);
  mortise_lock_free(other);
}

static void a_failure_has_its_details(void) {
  mortise_queue *queue = open_queue(client, 0);
  mortise_lock *lock = open_lock(client, "details");
  mortise_event *event = mortise_event_new();
  server_number(server, "RPUSH {mortise:details} element");
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire_async(lock, queue, 1, 1000, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_queue_next(queue, patience_ms, event, NULL));
  CHECK_STATUS(MORTISE_REFUSED, mortise_event_status(event));
  CHECK_NUMBER(MORTISE_EVENT_ACQUIRED, mortise_event_kind(event));
  CHECK_NUMBER(0, mortise_event_token(event));
  CHECK_CONTAINS(mortise_event_message(event), "another protocol");
  CHECK_CONTAINS(mortise_event_server_text(event), "FOREIGN");
  CHECK_NUMBER(0, mortise_event_is_retryable(event));
  CHECK_NUMBER(0, mortise_event_is_ambiguous(event));
  server_number(server, "DEL {mortise:details}");
  mortise_event_free(event);
  mortise_lock_free(lock);
  mortise_queue_free(queue);
}

/* Hundreds in flight, read in batches: every tag once. */
static void every_tag_comes_back_once(void) {
  mortise_queue *queue = open_queue(client, 0);
  static mortise_lock *locks[many];
  static char seen[many];
  char name[32];
  memset(seen, 0, sizeof seen);
  for (int i = 0; i < many; ++i) {
    snprintf(name, sizeof name, "many-%d", i);
    locks[i] = open_lock(client, name);
    CHECK_STATUS(MORTISE_OK, mortise_lock_acquire_async(locks[i], queue, i, patience_ms, NULL));
  }
  int64_t numbers[64 * MORTISE_RECORD_FIELDS];
  for (int64_t total = 0, count = 0; total < many; total += count) {
    CHECK_STATUS(MORTISE_OK,
                 mortise_queue_next_batch(queue, patience_ms, numbers, 64, &count, NULL));
    CHECK(count >= 1 && count <= 64);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t *one = numbers + i * MORTISE_RECORD_FIELDS;
      CHECK_NUMBER(MORTISE_EVENT_ACQUIRED, one[0]);
      CHECK_STATUS(MORTISE_OK, (mortise_status)one[2]);
      CHECK(one[1] >= 0 && one[1] < many && seen[one[1]] == 0);
      seen[one[1]] = 1;
      CHECK_NUMBER(mortise_lock_token(locks[one[1]]), one[3]);
    }
  }
  check_quiet(queue);
  for (int i = 0; i < many; ++i) mortise_lock_free(locks[i]);
  mortise_queue_free(queue);
}

/* Cancelled, freed, closed: each still has its one event. */
static void every_end_has_its_event(void) {
  mortise_queue *queue = open_queue(client, 0);
  mortise_lock *holder = open_lock(client, "ends");
  mortise_lock *cancelled = open_lock(client, "ends");
  mortise_lock *freed = open_lock(client, "ends");
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(holder, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire_async(cancelled, queue, 1, MORTISE_FOREVER, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire_async(freed, queue, 2, MORTISE_FOREVER, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_cancel(cancelled, NULL));
  check_next(queue, MORTISE_EVENT_ACQUIRED, 1, MORTISE_CANCELLED);
  mortise_lock_free(freed);
  check_next(queue, MORTISE_EVENT_ACQUIRED, 2, MORTISE_CLOSED);
  check_quiet(queue);
  mortise_lock_free(cancelled);
  mortise_lock_free(holder);
  mortise_queue_free(queue);

  mortise_client *leaving = open_client(server);
  queue = mortise_queue_new(leaving, 8, NULL);
  mortise_lock *lock = open_lock(leaving, "ends");
  holder = open_lock(client, "ends");
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(holder, patience_ms, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire_async(lock, queue, 3, MORTISE_FOREVER, NULL));
  mortise_client_free(leaving);
  check_next(queue, MORTISE_EVENT_ACQUIRED, 3, MORTISE_CLOSED);
  mortise_queue_free(queue);
  mortise_lock_free(lock);
  mortise_lock_free(holder);
}

static void capacity_is_a_bound(void) {
  mortise_queue *queue = open_queue(client, 2);
  mortise_lock *locks[3];
  mortise_error *error = mortise_error_new();
  char name[32];
  for (int i = 0; i < 3; ++i) {
    snprintf(name, sizeof name, "capacity-%d", i);
    locks[i] = open_lock(client, name);
  }
  CHECK_STATUS(MORTISE_OK, mortise_lock_try_async(locks[0], queue, 0, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_try_async(locks[1], queue, 1, NULL));
  CHECK_STATUS(MORTISE_LIMIT, mortise_lock_try_async(locks[2], queue, 2, error));
  CHECK_ERROR(error, MORTISE_LIMIT, "queue");
  CHECK_STATUS(MORTISE_LIMIT, mortise_lock_acquire_async(locks[2], queue, 2, 100, NULL));
  CHECK_STATUS(MORTISE_LIMIT, mortise_lock_watch(locks[2], queue, 2, NULL));
  next_record(queue);
  CHECK_STATUS(MORTISE_OK, mortise_lock_try_async(locks[2], queue, 2, NULL));
  CHECK_STATUS(MORTISE_LIMIT, mortise_lock_unlock_async(locks[0], queue, 3, NULL));
  CHECK_NUMBER(1, mortise_lock_is_held(locks[0]));
  next_record(queue);
  next_record(queue);
  check_quiet(queue);
  for (int i = 0; i < 3; ++i) {
    CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(locks[i], NULL));
    mortise_lock_free(locks[i]);
  }
  mortise_error_free(error);
  mortise_queue_free(queue);
}

static int is_readable(int fd, int wait_ms) {
  struct pollfd wait = {fd, POLLIN, 0};
  return poll(&wait, 1, wait_ms) == 1;
}

static void the_descriptor_is_readable_while_there_are_events(void) {
  mortise_queue *queue = open_queue(client, 0);
  mortise_lock *lock = open_lock(client, "descriptor");
  const int fd = mortise_queue_fd(queue);
  CHECK(fd >= 0);
  CHECK_NUMBER(fd, mortise_queue_fd(queue));
  CHECK(!is_readable(fd, 0));
  CHECK_STATUS(MORTISE_OK, mortise_lock_try_async(lock, queue, 1, NULL));
  CHECK(is_readable(fd, patience_ms));
  CHECK(is_readable(fd, 0));
  check_next(queue, MORTISE_EVENT_ACQUIRED, 1, MORTISE_OK);
  CHECK(!is_readable(fd, 0));
  mortise_queue_shutdown(queue);
  CHECK(is_readable(fd, patience_ms));
  mortise_lock_free(lock);
  mortise_queue_free(queue);
}

/* A watch keeps the queue, and no descriptor of it. An event loop would spin on that. */
static void the_descriptor_ends_with_the_queue(void) {
  mortise_queue *queue = open_queue(client, 0);
  mortise_lock *lock = open_lock(client, "descriptor");
  CHECK_STATUS(MORTISE_OK, mortise_lock_watch(lock, queue, 1, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_client_watch_stats(client, queue, 2, 3600000, NULL));
  const int fd = mortise_queue_fd(queue);
  CHECK(fcntl(fd, F_GETFD) >= 0);
  mortise_queue_free(queue);
  CHECK_NUMBER(-1, fcntl(fd, F_GETFD));
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(lock, patience_ms, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(lock, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_client_watch_stats(client, NULL, 0, 0, NULL));
  mortise_lock_free(lock);
}

typedef struct reader {
  mortise_queue *queue;
  mortise_status status;
} reader;

static void *read_for_ever(void *argument) {
  reader *self = argument;
  mortise_event *event = mortise_event_new();
  self->status = mortise_queue_next(self->queue, MORTISE_FOREVER, event, NULL);
  mortise_event_free(event);
  return NULL;
}

static void wake_and_shutdown_reach_readers(void) {
  mortise_queue *queue = open_queue(client, 0);
  mortise_event *event = mortise_event_new();
  reader self = {queue, MORTISE_OK};
  pthread_t thread;
  mortise_queue_wake(queue); /* without a waiter: the next one is woken */
  CHECK_STATUS(MORTISE_TIMED_OUT, mortise_queue_next(queue, MORTISE_FOREVER, event, NULL));
  CHECK(pthread_create(&thread, NULL, read_for_ever, &self) == 0);
  mortise_queue_wake(queue);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK_STATUS(MORTISE_TIMED_OUT, self.status);
  CHECK(pthread_create(&thread, NULL, read_for_ever, &self) == 0);
  mortise_queue_shutdown(queue);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK_STATUS(MORTISE_SHUT_DOWN, self.status);
  CHECK_STATUS(MORTISE_SHUT_DOWN, mortise_queue_next(queue, MORTISE_FOREVER, event, NULL));
  mortise_event_free(event);
  mortise_queue_free(queue);
}

/* Whether the thread ends. A reader that no wake-up reaches would wait without limit. */
static int ends(pthread_t thread) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += patience_ms / 1000;
  return pthread_timedjoin_np(thread, NULL, &until) == 0;
}

/* Also if both come before the readers, or before one reader has left. */
static void each_wake_up_ends_one_wait(void) {
  for (int round = 0; round < 200; ++round) {
    mortise_queue *queue = open_queue(client, 0);
    mortise_event *event = mortise_event_new();
    reader readers[2] = {{queue, MORTISE_OK}, {queue, MORTISE_OK}};
    pthread_t threads[2];
    for (int i = 0; i < 2 && round % 2 == 0; ++i) mortise_queue_wake(queue);
    for (int i = 0; i < 2; ++i) {
      CHECK(pthread_create(&threads[i], NULL, read_for_ever, &readers[i]) == 0);
    }
    for (int i = 0; i < 2 && round % 2 == 1; ++i) mortise_queue_wake(queue);
    for (int i = 0; i < 2; ++i) {
      CHECK(ends(threads[i]));
      CHECK_STATUS(MORTISE_TIMED_OUT, readers[i].status);
    }
    mortise_queue_wake(queue);
    mortise_queue_shutdown(queue);
    CHECK_STATUS(MORTISE_SHUT_DOWN, mortise_queue_next(queue, MORTISE_FOREVER, event, NULL));
    mortise_event_free(event);
    mortise_queue_free(queue);
  }
}

static void *read_to_the_end(void *argument) {
  mortise_queue *queue = argument;
  mortise_event *event = mortise_event_new();
  CHECK_STATUS(MORTISE_SHUT_DOWN, mortise_queue_next(queue, MORTISE_FOREVER, event, NULL));
  mortise_queue_free(queue);
  mortise_event_free(event);
  return NULL;
}

/* On one processor the reader often comes before the other thread at each step. */
static void stay_on_one_processor(int is_on) {
  static cpu_set_t before;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  if (is_on) CHECK(sched_getaffinity(0, sizeof before, &before) == 0);
  CHECK(sched_setaffinity(0, sizeof one, is_on ? &one : &before) == 0);
}

/* The thread that shuts down does not know when the reader has noticed. */
static void a_reader_frees_the_queue_at_its_end(void) {
  stay_on_one_processor(1);
  mortise_client *there = open_client(server);
  for (int round = 0; round < 10000; ++round) {
    mortise_queue *queue = mortise_queue_new(there, 0, NULL);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, read_to_the_end, queue) == 0);
    if (round % 2 == 0) sched_yield();
    mortise_queue_shutdown(queue);
    CHECK(pthread_join(thread, NULL) == 0);
  }
  mortise_client_free(there);
  stay_on_one_processor(0);
}

static void *read_one_and_free(void *argument) {
  mortise_queue *queue = argument;
  mortise_event *event = mortise_event_new();
  CHECK_STATUS(MORTISE_OK, mortise_queue_next(queue, patience_ms, event, NULL));
  mortise_queue_shutdown(queue);
  mortise_event_free(event);
  return read_to_the_end(queue);
}

/* The event comes before the call that it is of has returned. */
static void a_reader_frees_the_queue_during_a_call(void) {
  stay_on_one_processor(1);
  mortise_options *options = options_with("reentrant", "on");
  mortise_lock *lock = open_lock_with(client, "again", options);
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(lock, patience_ms, NULL));
  for (int round = 0; round < 2000; ++round) {
    mortise_queue *queue = open_queue(client, 0);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, read_one_and_free, queue) == 0);
    if (round % 2 == 0) sched_yield();
    CHECK_STATUS(MORTISE_OK, mortise_lock_acquire_async(lock, queue, 1, patience_ms, NULL));
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(lock, NULL));
  }
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(lock, NULL));
  mortise_lock_free(lock);
  mortise_options_free(options);
  stay_on_one_processor(0);
}

static void *wait_and_free(void *argument) {
  mortise_queue *queue = argument;
  mortise_event *event = mortise_event_new();
  CHECK_STATUS(MORTISE_TIMED_OUT, mortise_queue_next(queue, MORTISE_FOREVER, event, NULL));
  mortise_queue_free(queue);
  mortise_event_free(event);
  return NULL;
}

/* ThreadSanitizer sees whether the free is behind the wake-up. */
static void a_reader_frees_the_queue_after_a_wake_up(void) {
  for (int round = 0; round < 300; ++round) {
    mortise_queue *queue = open_queue(client, 0);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, wait_and_free, queue) == 0);
    mortise_queue_wake(queue);
    CHECK(pthread_join(thread, NULL) == 0);
  }
}

static void shutdown_drains(void) {
  mortise_queue *queue = open_queue(client, 0);
  mortise_lock *holder = open_lock(client, "drain");
  mortise_lock *waiter = open_lock(client, "drain");
  mortise_lock *third = open_lock(client, "drain-third");
  mortise_event *event = mortise_event_new();
  CHECK_STATUS(MORTISE_OK, mortise_lock_try_async(holder, queue, 1, NULL));
  CHECK(is_readable(mortise_queue_fd(queue), patience_ms));
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire_async(waiter, queue, 2, MORTISE_FOREVER, NULL));
  mortise_queue_shutdown(queue);
  CHECK_STATUS(MORTISE_SHUT_DOWN, mortise_lock_try_async(third, queue, 3, NULL));
  CHECK_STATUS(MORTISE_SHUT_DOWN, mortise_lock_acquire_async(third, queue, 3, 10, NULL));
  CHECK_STATUS(MORTISE_SHUT_DOWN, mortise_lock_unlock_async(holder, queue, 3, NULL));
  CHECK_STATUS(MORTISE_SHUT_DOWN, mortise_lock_extend_async(holder, queue, 3, 0, NULL));
  CHECK_STATUS(MORTISE_SHUT_DOWN, mortise_lock_watch(holder, queue, 3, NULL));
  check_next(queue, MORTISE_EVENT_ACQUIRED, 1, MORTISE_OK);
  const record second = next_record(queue);
  CHECK_NUMBER(2, second.tag);
  CHECK_STATUS(MORTISE_CANCELLED, (mortise_status)second.status);
  CHECK_STATUS(MORTISE_SHUT_DOWN, mortise_queue_next(queue, patience_ms, event, NULL));
  mortise_queue_shutdown(queue);
  CHECK_STATUS(MORTISE_SHUT_DOWN, mortise_queue_next(queue, 0, event, NULL));
  CHECK_NUMBER(1, mortise_lock_is_held(holder));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(holder, NULL));
  mortise_event_free(event);
  mortise_queue_free(queue);
  mortise_lock_free(holder);
  mortise_lock_free(waiter);
  mortise_lock_free(third);
}

static void a_queue_freed_with_calls_open_harms_nobody(void) {
  mortise_queue *queue = open_queue(client, 0);
  mortise_lock *holder = open_lock(client, "orphan");
  mortise_lock *waiter = open_lock(client, "orphan");
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(holder, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire_async(waiter, queue, 1, MORTISE_FOREVER, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_watch(holder, queue, 2, NULL));
  mortise_queue_free(queue);
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(holder, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(waiter, patience_ms, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(waiter, NULL));
  mortise_lock_free(holder);
  mortise_lock_free(waiter);
}

int main(void) {
  server = server_start(NULL);
  client = open_client(server);
  RUN(a_whole_life_in_events);
  RUN(a_failure_has_its_details);
  RUN(every_tag_comes_back_once);
  RUN(every_end_has_its_event);
  RUN(capacity_is_a_bound);
  RUN(the_descriptor_is_readable_while_there_are_events);
  RUN(the_descriptor_ends_with_the_queue);
  RUN(wake_and_shutdown_reach_readers);
  RUN(each_wake_up_ends_one_wait);
  RUN(a_reader_frees_the_queue_at_its_end);
  RUN(a_reader_frees_the_queue_during_a_call);
  RUN(a_reader_frees_the_queue_after_a_wake_up);
  RUN(shutdown_drains);
  RUN(a_queue_freed_with_calls_open_harms_nobody);
  mortise_client_free(client);
  server_free(server);
  return 0;
}
