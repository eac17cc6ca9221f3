/* The sticky way to cancel: an interrupted handle acquires nothing, whether or not it had begun to
 * wait. */
#include "fixture.h"

static test_server *server;
static mortise_client *client;

/* Every kind of handle on one name, as acquires that can be called alike. */
typedef struct subject {
  const char *what;
  void *handle;
  mortise_status (*acquire)(void *handle, int64_t timeout_ms, mortise_error *error);
  mortise_status (*try_now)(void *handle, mortise_error *error);
  mortise_status (*acquire_async)(void *handle, mortise_queue *queue, mortise_error *error);
  mortise_status (*interrupt)(void *handle, int32_t is_on, mortise_error *error);
  mortise_status (*unlock)(void *handle, mortise_error *error);
} subject;

#define FORMS(KIND, HOW, END, ...)                                                               \
  static mortise_status KIND##_acquire(void *handle, int64_t timeout_ms, mortise_error *error) { \
    return mortise_##HOW##acquire(handle, __VA_ARGS__ timeout_ms, error);                        \
  }                                                                                              \
  static mortise_status KIND##_try(void *handle, mortise_error *error) {                         \
    return mortise_##HOW##try(handle, __VA_ARGS__ error);                                        \
  }                                                                                              \
  static mortise_status KIND##_async(void *handle, mortise_queue *queue, mortise_error *error) { \
    return mortise_##HOW##acquire_async(handle, queue, 7, __VA_ARGS__ MORTISE_FOREVER, error);   \
  }                                                                                              \
  static mortise_status KIND##_unlock(void *handle, mortise_error *error) {                      \
    return mortise_##END(handle, error);                                                         \
  }
FORMS(mutex, lock_, lock_unlock, )
FORMS(reader, rw_read_, rw_read_unlock, )
FORMS(writer, rw_write_, rw_write_unlock, )
FORMS(permits, semaphore_, semaphore_release, 2, )
FORMS(multi, multi_, multi_unlock, )

static mortise_status interrupt_lock(void *lock, int32_t is_on, mortise_error *error) {
  return mortise_lock_interrupt(lock, is_on, error);
}
static mortise_status interrupt_rw(void *rw, int32_t is_on, mortise_error *error) {
  return mortise_rw_interrupt(rw, is_on, error);
}
static mortise_status interrupt_semaphore(void *semaphore, int32_t is_on, mortise_error *error) {
  return mortise_semaphore_interrupt(semaphore, is_on, error);
}
static mortise_status interrupt_multi(void *multi, int32_t is_on, mortise_error *error) {
  return mortise_multi_interrupt(multi, is_on, error);
}

enum { subject_count = 5 };
static subject subjects[subject_count];
/* Other owners that hold all locks of the subjects. */
static mortise_lock *lock_in_the_way, *member_in_the_way, *members[2];
static mortise_rw *rw_in_the_way;
static mortise_semaphore *semaphore_in_the_way;

static void *made(void *handle) {
  CHECK(handle != NULL);
  return handle;
}

static void make_subjects(void) {
  subject *const next = subjects;
  next[0] = (subject){"mutex",       made(mortise_lock_new(client, "m", 1, NULL, NULL)),
                      mutex_acquire, mutex_try,
                      mutex_async,   interrupt_lock,
                      mutex_unlock};
  next[1] = (subject){"reader",       made(mortise_rw_new(client, "r", 1, NULL, NULL)),
                      reader_acquire, reader_try,
                      reader_async,   interrupt_rw,
                      reader_unlock};
  next[2] = (subject){"writer",       made(mortise_rw_new(client, "r", 1, NULL, NULL)),
                      writer_acquire, writer_try,
                      writer_async,   interrupt_rw,
                      writer_unlock};
  next[3] = (subject){"permits",       made(mortise_semaphore_new(client, "s", 1, 2, NULL, NULL)),
                      permits_acquire, permits_try,
                      permits_async,   interrupt_semaphore,
                      permits_unlock};
  next[4] = (subject){"multi",       made(mortise_multi_new(client, NULL)),
                      multi_acquire, multi_try,
                      multi_async,   interrupt_multi,
                      multi_unlock};
  mortise_multi *multi = next[4].handle;
  members[0] = open_lock(client, "a");
  members[1] = open_lock(client, "b");
  CHECK_STATUS(MORTISE_OK, mortise_multi_add_lock(multi, members[0], NULL));
  CHECK_STATUS(MORTISE_OK, mortise_multi_add_lock(multi, members[1], NULL));
  lock_in_the_way = open_lock(client, "m");
  member_in_the_way = open_lock(client, "b");
  rw_in_the_way = made(mortise_rw_new(client, "r", 1, NULL, NULL));
  semaphore_in_the_way = made(mortise_semaphore_new(client, "s", 1, 2, NULL, NULL));
}

static void stand_in_the_way(void) {
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock_in_the_way, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(member_in_the_way, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_try(rw_in_the_way, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_try(semaphore_in_the_way, 1, NULL));
}

static void get_out_of_the_way(void) {
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(lock_in_the_way, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(member_in_the_way, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_unlock(rw_in_the_way, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_release(semaphore_in_the_way, NULL));
}

static void an_interrupted_handle_acquires_nothing_until_it_is_let(void) {
  mortise_queue *queue = mortise_queue_new(client, 4, NULL);
  mortise_event *event = mortise_event_new();
  mortise_error *error = mortise_error_new();
  for (int i = 0; i < subject_count; ++i) {
    const subject *s = &subjects[i];
    fprintf(stderr, "  %s\n", s->what);
    for (int again = 0; again < 2; ++again) {
      CHECK_STATUS(MORTISE_OK, s->interrupt(s->handle, 1, NULL));
      CHECK_STATUS(MORTISE_CANCELLED, s->acquire(s->handle, MORTISE_FOREVER, error));
      CHECK_ERROR(error, MORTISE_CANCELLED, "interrupted");
      CHECK_STATUS(MORTISE_CANCELLED, s->acquire(s->handle, 0, NULL));
      CHECK_STATUS(MORTISE_CANCELLED, s->try_now(s->handle, NULL));
      CHECK_STATUS(MORTISE_CANCELLED, s->acquire_async(s->handle, queue, NULL));
    }
    CHECK_STATUS(MORTISE_TIMED_OUT, mortise_queue_next(queue, 0, event, NULL));
    CHECK_STATUS(MORTISE_OK, s->interrupt(s->handle, 0, NULL));
    CHECK_STATUS(MORTISE_OK, s->acquire(s->handle, patience_ms, NULL));
    /* What it has it keeps. */
    CHECK_STATUS(MORTISE_OK, s->interrupt(s->handle, 1, NULL));
    CHECK_STATUS(MORTISE_CANCELLED, s->try_now(s->handle, NULL));
    CHECK_STATUS(MORTISE_OK, s->unlock(s->handle, NULL));
    CHECK_STATUS(MORTISE_OK, s->interrupt(s->handle, 0, NULL));
    CHECK_STATUS(MORTISE_INVALID_ARGUMENT, s->interrupt(s->handle, 2, error));
    CHECK_ERROR(error, MORTISE_INVALID_ARGUMENT, "is_on");
    CHECK_STATUS(MORTISE_INVALID_ARGUMENT, s->interrupt(NULL, 1, NULL));
  }
  mortise_error_free(error);
  mortise_event_free(event);
  mortise_queue_free(queue);
}

static void a_wait_ends_when_it_is_interrupted(void) {
  mortise_queue *queue = mortise_queue_new(client, 4, NULL);
  mortise_event *event = mortise_event_new();
  stand_in_the_way();
  for (int i = 0; i < subject_count; ++i) {
    const subject *s = &subjects[i];
    CHECK_STATUS(MORTISE_OK, s->acquire_async(s->handle, queue, NULL));
    CHECK_STATUS(MORTISE_OK, s->interrupt(s->handle, 1, NULL));
    CHECK_STATUS(MORTISE_OK, mortise_queue_next(queue, patience_ms, event, NULL));
    CHECK_STATUS(MORTISE_CANCELLED, mortise_event_status(event));
    CHECK_STATUS(MORTISE_OK, s->interrupt(s->handle, 0, NULL));
  }
  get_out_of_the_way();
  mortise_event_free(event);
  mortise_queue_free(queue);
}

/* A member that may not acquire stands in the way of its multi, and nothing of it stays. */
static void an_interrupted_member_ends_its_multi(void) {
  mortise_multi *multi = mortise_multi_new(client, NULL);
  mortise_lock *first = open_lock(client, "1");
  mortise_lock *second = open_lock(client, "2");
  mortise_error *error = mortise_error_new();
  CHECK_STATUS(MORTISE_OK, mortise_multi_add_lock(multi, first, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_multi_add_lock(multi, second, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_interrupt(second, 1, NULL));
  CHECK_STATUS(MORTISE_CANCELLED, mortise_multi_acquire(multi, patience_ms, error));
  CHECK_ERROR(error, MORTISE_CANCELLED, "\"2\"");
  CHECK_NUMBER(0, mortise_lock_is_held(first));
  mortise_multi_free(multi);
  mortise_lock_free(first);
  mortise_lock_free(second);
  mortise_error_free(error);
}

typedef struct racer {
  const subject *of;
  pthread_barrier_t *start;
  mortise_status status;
} racer;

static void *race(void *argument) {
  racer *self = argument;
  pthread_barrier_wait(self->start);
  self->status = self->of->acquire(self->of->handle, MORTISE_FOREVER, NULL);
  return NULL;
}

/* The acquire ends, whether the cancel comes before it, in its middle or while it waits. A
   cancel that came too early would leave it waiting endlessly. */
static void no_interrupt_comes_too_early(void) {
  enum { rounds = 100 };
  stand_in_the_way();
  for (int round = 0; round < rounds; ++round) {
    pthread_barrier_t start;
    CHECK(pthread_barrier_init(&start, NULL, 2) == 0);
    racer other = {&subjects[round % subject_count], &start, MORTISE_OK};
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, race, &other) == 0);
    pthread_barrier_wait(&start);
    for (volatile int spin = 0; spin < round * 200; ++spin) continue;
    CHECK_STATUS(MORTISE_OK, other.of->interrupt(other.of->handle, 1, NULL));
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_STATUS(MORTISE_CANCELLED, other.status);
    CHECK_STATUS(MORTISE_OK, other.of->interrupt(other.of->handle, 0, NULL));
    CHECK(pthread_barrier_destroy(&start) == 0);
  }
  get_out_of_the_way();
}

static void a_freed_client_is_closed(void) {
  mortise_client_free(client);
  for (int i = 0; i < subject_count; ++i) {
    CHECK_STATUS(MORTISE_CLOSED, subjects[i].interrupt(subjects[i].handle, 1, NULL));
  }
}

int main(void) {
  server = server_start(NULL);
  client = open_client(server);
  make_subjects();
  RUN(an_interrupted_handle_acquires_nothing_until_it_is_let);
  RUN(a_wait_ends_when_it_is_interrupted);
  RUN(an_interrupted_member_ends_its_multi);
  RUN(no_interrupt_comes_too_early);
  RUN(a_freed_client_is_closed);
  mortise_lock_free(members[0]);
  mortise_lock_free(members[1]);
  server_free(server);
  return 0;
}
