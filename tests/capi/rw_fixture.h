/* What the tests of read-write locks begin with: a server, a client, a queue, and waits on it. */
#ifndef MORTISE_TESTS_RW_FIXTURE_H
#define MORTISE_TESTS_RW_FIXTURE_H

#include "fixture.h"

static test_server *server;
static mortise_client *client;
static mortise_queue *queue;

static inline void open_all(void) {
  server = server_start(NULL);
  client = open_client(server);
  queue = mortise_queue_new(client, 0, NULL);
  CHECK(queue != NULL);
}

static inline void close_all(void) {
  mortise_queue_free(queue);
  mortise_client_free(client);
  server_free(server);
}

static inline mortise_rw *open_rw(const char *name, const mortise_options *options) {
  mortise_rw *rw = mortise_rw_new(client, name, strlen(name), options, NULL);
  CHECK(rw != NULL);
  return rw;
}

static inline mortise_rw *open_reentrant(const char *name) {
  mortise_options *options = options_with("reentrant", "on");
  mortise_rw *rw = open_rw(name, options);
  mortise_options_free(options);
  return rw;
}

/* The next event has this kind, tag and status. */
static inline void check_event(mortise_event_kind kind, int64_t tag, mortise_status status) {
  mortise_event *event = mortise_event_new();
  CHECK_STATUS(MORTISE_OK, mortise_queue_next(queue, patience_ms, event, NULL));
  CHECK_NUMBER(kind, mortise_event_get_kind(event));
  CHECK_NUMBER(tag, mortise_event_tag(event));
  CHECK_STATUS(status, mortise_event_status(event));
  mortise_event_free(event);
}

static inline void check_quiet(void) {
  mortise_event *event = mortise_event_new();
  CHECK_STATUS(MORTISE_TIMED_OUT, mortise_queue_next(queue, 0, event, NULL));
  mortise_event_free(event);
}

/* The handles wait at the server in the order of these calls. */
static inline void wait_to_read(mortise_rw *rw, int64_t tag, const char *length, int64_t place) {
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_acquire_async(rw, queue, tag, MORTISE_FOREVER, NULL));
  server_wait_for_exactly(server, length, place);
}

static inline void wait_to_write(mortise_rw *rw, int64_t tag, const char *length, int64_t place) {
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_acquire_async(rw, queue, tag, MORTISE_FOREVER, NULL));
  server_wait_for_exactly(server, length, place);
}

#endif
