/* What most C tests begin with: a client, a handle, a call in a thread of its own, the time. */
#ifndef MORTISE_TESTS_FIXTURE_H
#define MORTISE_TESTS_FIXTURE_H

#include "check.h"

#include <poll.h>
#include <pthread.h>
#include <time.h>

#include "server.h"

/* Far longer than anything takes, so that only a hang hits it. */
enum { patience_ms = 20000 };

/* Asks the server how many keys of locks and queues there are. */
#define lock_keys "EVAL return(#redis.call('KEYS','{mortise:*')) 0"

static inline int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_BOOTTIME, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static inline mortise_client *open_client_with(const char *url, const mortise_options *options) {
  mortise_error *error = mortise_error_new();
  mortise_client *client = mortise_client_new(url, strlen(url), options, error);
  if (client == NULL) check_failed(__FILE__, __LINE__, mortise_error_message(error));
  mortise_error_free(error);
  return client;
}

static inline mortise_client *open_client(const test_server *server) {
  return open_client_with(server_url(server), NULL);
}

static inline mortise_lock *open_lock_with(mortise_client *client, const char *name,
                                           const mortise_options *options) {
  mortise_error *error = mortise_error_new();
  mortise_lock *lock = mortise_lock_new(client, name, strlen(name), options, error);
  if (lock == NULL) check_failed(__FILE__, __LINE__, mortise_error_message(error));
  mortise_error_free(error);
  return lock;
}

static inline mortise_lock *open_lock(mortise_client *client, const char *name) {
  return open_lock_with(client, name, NULL);
}

static inline mortise_rw *open_rw_with(mortise_client *client, const char *name,
                                       const mortise_options *options) {
  mortise_rw *rw = mortise_rw_new(client, name, strlen(name), options, NULL);
  CHECK(rw != NULL);
  return rw;
}

static inline mortise_rw *open_rw(mortise_client *client, const char *name) {
  return open_rw_with(client, name, NULL);
}

static inline mortise_semaphore *open_semaphore(mortise_client *client, const char *name,
                                                int64_t permits) {
  mortise_semaphore *semaphore =
      mortise_semaphore_new(client, name, strlen(name), permits, NULL, NULL);
  CHECK(semaphore != NULL);
  return semaphore;
}

static inline mortise_queue *open_queue(mortise_client *client, int64_t capacity) {
  mortise_queue *queue = mortise_queue_new(client, capacity, NULL);
  CHECK(queue != NULL);
  return queue;
}

/* The next event, which is left in `event`, has this kind, tag and status. */
static inline void check_next_event(mortise_queue *queue, mortise_event *event, mortise_kind kind,
                                    int64_t tag, mortise_status status) {
  CHECK_STATUS(MORTISE_OK, mortise_queue_next(queue, patience_ms, event, NULL));
  CHECK_NUMBER(kind, mortise_event_kind(event));
  CHECK_NUMBER(tag, mortise_event_tag(event));
  CHECK_STATUS(status, mortise_event_status(event));
}

static inline void check_event(mortise_queue *queue, mortise_kind kind, int64_t tag,
                               mortise_status status) {
  mortise_event *event = mortise_event_new();
  check_next_event(queue, event, kind, tag, status);
  mortise_event_free(event);
}

static inline void check_quiet(mortise_queue *queue) {
  mortise_event *event = mortise_event_new();
  CHECK_STATUS(MORTISE_TIMED_OUT, mortise_queue_next(queue, 0, event, NULL));
  mortise_event_free(event);
}

/* Options with one setting given as text. */
static inline mortise_options *options_with(const char *key, const char *value) {
  mortise_options *options = mortise_options_new();
  CHECK(options != NULL);
  CHECK_STATUS(MORTISE_OK,
               mortise_options_set(options, key, strlen(key), value, strlen(value), NULL));
  return options;
}

static inline void set_option(mortise_options *options, const char *key, const char *value) {
  CHECK_STATUS(MORTISE_OK,
               mortise_options_set(options, key, strlen(key), value, strlen(value), NULL));
}

/* An acquire in a thread of its own. */
typedef struct background {
  pthread_t thread;
  mortise_lock *lock;
  int64_t timeout_ms;
  mortise_status status;
  int64_t token;
  int64_t took_ms;
} background;

static inline void *background_acquire(void *argument) {
  background *call = argument;
  const int64_t begin = now_ms();
  call->status = mortise_lock_acquire(call->lock, call->timeout_ms, NULL);
  call->token = call->status == MORTISE_OK ? mortise_lock_token(call->lock) : 0;
  call->took_ms = now_ms() - begin;
  return NULL;
}

static inline void start_acquire(background *call, mortise_lock *lock, int64_t timeout_ms) {
  call->lock = lock;
  call->timeout_ms = timeout_ms;
  CHECK(pthread_create(&call->thread, NULL, background_acquire, call) == 0);
}

static inline mortise_status finish_acquire(background *call) {
  CHECK(pthread_join(call->thread, NULL) == 0);
  return call->status;
}

/* Until another thread's acquire on this handle has begun: then the handle is busy. */
static inline void wait_until_busy(mortise_lock *lock) {
  const int64_t begin = now_ms();
  while (mortise_lock_extend(lock, 0, NULL) != MORTISE_BUSY) {
    CHECK(now_ms() - begin < patience_ms);
    poll(NULL, 0, 1);
  }
}

/*
 * Until the client knows the state of its server. It needs two replies in a row, because the first
 * may have been read while its connection was taken down.
 */
static inline void wait_for_ping(mortise_client *client, mortise_status expected) {
  const int64_t begin = now_ms();
  for (int in_a_row = 0; in_a_row < 2;) {
    in_a_row = mortise_client_ping(client, NULL) == expected ? in_a_row + 1 : 0;
    CHECK(now_ms() - begin < patience_ms);
    if (in_a_row == 0) poll(NULL, 0, 1);
  }
}

/* A client whose calls give up after this long. It waits for the server however slow
   that is now. */
static inline mortise_client *open_quick_client(const test_server *server, int64_t timeout_ms) {
  mortise_options *options = mortise_options_new();
  CHECK_STATUS(MORTISE_OK, mortise_options_set_command_timeout_ms(options, timeout_ms, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_options_set(options, "connect", 7, "lazy", 4, NULL));
  mortise_client *client = open_client_with(server_url(server), options);
  mortise_options_free(options);
  wait_for_ping(client, MORTISE_OK);
  return client;
}

/* Until this handle no longer holds by its own reckoning. */
static inline void wait_until_not_held(mortise_lock *lock) {
  const int64_t begin = now_ms();
  while (mortise_lock_is_held(lock) == 1) {
    CHECK(now_ms() - begin < patience_ms);
    poll(NULL, 0, 1);
  }
}

#endif
