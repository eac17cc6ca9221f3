/* A client and its server may be started in any order. */
#include "fixture.h"

static test_server *server;

/* mortise_client_new in a thread of its own. */
typedef struct opening {
  pthread_t thread;
  const char *url;
  mortise_client *client;
  mortise_error *error;
} opening;

static void *open_now(void *argument) {
  opening *self = argument;
  self->client = mortise_client_new(self->url, strlen(self->url), NULL, self->error);
  return NULL;
}

static void start_opening(opening *self, const char *url) {
  self->url = url;
  self->error = mortise_error_new();
  CHECK(pthread_create(&self->thread, NULL, open_now, self) == 0);
}

static void finish_opening(opening *self) {
  CHECK(pthread_join(self->thread, NULL) == 0);
  if (self->client == NULL) check_failed(__FILE__, __LINE__, mortise_error_message(self->error));
  mortise_error_free(self->error);
}

static void a_server_that_comes_later_is_waited_for(void) {
  char url[256];
  snprintf(url, sizeof url, "%s?command_timeout=60s", server_url(server));
  server_kill(server);
  opening early;
  start_opening(&early, url);
  poll(NULL, 0, 50); /* likely time for a failing attempt */
  server_restart(server);
  finish_opening(&early);
  CHECK_STATUS(MORTISE_OK, mortise_client_ping(early.client, NULL));
  mortise_client_free(early.client);
}

/* Until the connection is open, calls wait for it or return why it is not. */
static void a_lazy_client_connects_in_the_background(void) {
  mortise_error *error = mortise_error_new();
  mortise_info *info = mortise_info_new();
  mortise_options *options = options_with("connect", "lazy");
  set_option(options, "command_timeout", "200ms");
  server_kill(server);
  mortise_client *client = open_client_with(server_url(server), options);
  mortise_queue *queue = mortise_queue_new(client, 0, NULL);
  mortise_event *event = mortise_event_new();
  mortise_lock *lock = open_lock(client, "lazy");
  mortise_lock *other = open_lock(client, "other");
  mortise_rw *rw = mortise_rw_new(client, "rw", 2, NULL, NULL);
  CHECK_STATUS(MORTISE_UNREACHABLE, mortise_client_ping(client, error));
  CHECK_ERROR(error, MORTISE_UNREACHABLE, "redis.sock");
  CHECK_NUMBER(1, mortise_error_is_retryable(error));
  CHECK_STATUS(MORTISE_UNREACHABLE, mortise_lock_query(lock, info, NULL));
  CHECK_STATUS(MORTISE_UNREACHABLE, mortise_lock_try(lock, error));
  CHECK_ERROR(error, MORTISE_UNREACHABLE, "redis.sock");
  CHECK_STATUS(MORTISE_UNREACHABLE, mortise_lock_acquire(lock, 100, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire_async(lock, queue, 1, patience_ms, NULL));
  background call;
  start_acquire(&call, other, patience_ms);
  wait_until_busy(other);
  server_restart(server);
  CHECK_STATUS(MORTISE_OK, finish_acquire(&call));
  CHECK_STATUS(MORTISE_OK, mortise_queue_next(queue, patience_ms, event, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_event_status(event));
  CHECK_NUMBER(1, mortise_lock_is_held(lock));
  CHECK_STATUS(MORTISE_OK, mortise_client_ping(client, NULL));
  /* The scripts of this kind were not loaded when its handle was made. */
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_acquire(rw, patience_ms, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_read_unlock(rw, NULL));
  mortise_rw_free(rw);
  mortise_lock_free(lock);
  mortise_lock_free(other);
  mortise_event_free(event);
  mortise_queue_free(queue);
  mortise_client_free(client);
  mortise_options_free(options);
  mortise_info_free(info);
  mortise_error_free(error);
}

static void a_lazy_client_says_what_somebody_has_to_fix(void) {
  const char *const arguments[] = {"--requirepass", "secret", NULL};
  test_server *locked = server_start(arguments);
  mortise_error *error = mortise_error_new();
  mortise_options *options = options_with("connect", "lazy");
  mortise_client *client = open_client_with(server_url(locked), options);
  mortise_lock *lock = open_lock(client, "locked");
  CHECK_STATUS(MORTISE_REFUSED, mortise_lock_acquire(lock, 2000, error));
  CHECK_ERROR(error, MORTISE_REFUSED, "password");
  CHECK_STATUS(MORTISE_REFUSED, mortise_client_ping(client, NULL));
  mortise_lock_free(lock);
  mortise_client_free(client);
  mortise_options_free(options);
  mortise_error_free(error);
  server_free(locked);
}

static void a_lazy_client_may_be_freed_at_any_time(void) {
  char url[256];
  snprintf(url, sizeof url, "%s?connect=lazy", server_nowhere(server));
  for (int i = 0; i < 30; ++i) {
    mortise_client *client = open_client_with(i % 2 ? url : server_url(server), NULL);
    mortise_lock *lock = open_lock(client, "lazy");
    if (i % 3) poll(NULL, 0, i);
    mortise_client_free(client);
    mortise_lock_free(lock);
  }
}

int main(void) {
  server = server_start(NULL);
  RUN(a_server_that_comes_later_is_waited_for);
  RUN(a_lazy_client_connects_in_the_background);
  RUN(a_lazy_client_says_what_somebody_has_to_fix);
  RUN(a_lazy_client_may_be_freed_at_any_time);
  server_free(server);
  return 0;
}
