/* After fork() the child's handles are inert, and nothing it does touches the parent (hazard 21). */
#include "fixture.h"

#include <sys/wait.h>
#include <unistd.h>

static test_server *server;
static mortise_client *client;

/* Runs a check in a forked child, which must end well and in time. */
static void in_child(void (*check)(void *), void *argument) {
  const pid_t pid = fork();
  CHECK(pid >= 0);
  if (pid == 0) {
    alarm(20);
    check(argument);
    _exit(0);
  }
  int state = 0;
  CHECK(waitpid(pid, &state, 0) == pid);
  CHECK(WIFEXITED(state));
  CHECK_NUMBER(0, WEXITSTATUS(state));
}

/*
 * The last check starts threads in a child of a process that has threads, which ThreadSanitizer
 * cannot follow ("not supported"); every other build makes it.
 */
#if defined(__SANITIZE_THREAD__)
enum { check_count = 4 };
#else
enum { check_count = 5 };
#endif

typedef struct handles {
  mortise_client *client;
  mortise_lock *held;
  mortise_lock *idle;
  mortise_queue *queue;
} handles;

static void every_call_says_forked(void *argument) {
  const handles *all = argument;
  const mortise_status forked = MORTISE_FORKED;
  mortise_error *error = mortise_error_new();
  mortise_info *info = mortise_info_new();
  mortise_event *event = mortise_event_new();
  int64_t numbers[MORTISE_RECORD_FIELDS];
  int64_t count = 0;
  CHECK_STATUS(forked, mortise_client_ping(all->client, error));
  CHECK_ERROR(error, forked, "fork");
  CHECK(mortise_lock_new(all->client, "new", 3, NULL, error) == NULL);
  CHECK_ERROR(error, forked, "fork");
  CHECK(mortise_queue_new(all->client, 0, error) == NULL);
  CHECK_ERROR(error, forked, "fork");
  CHECK_STATUS(forked, mortise_lock_try(all->idle, NULL));
  CHECK_STATUS(forked, mortise_lock_acquire(all->idle, MORTISE_FOREVER, NULL));
  CHECK_STATUS(forked, mortise_lock_unlock(all->held, NULL));
  CHECK_STATUS(forked, mortise_lock_extend(all->held, 0, NULL));
  CHECK_STATUS(forked, mortise_lock_cancel(all->idle, NULL));
  CHECK_STATUS(forked, mortise_lock_query(all->held, info, NULL));
  CHECK_STATUS(forked, mortise_lock_try_async(all->idle, all->queue, 1, NULL));
  CHECK_STATUS(forked, mortise_lock_acquire_async(all->idle, all->queue, 1, 10, NULL));
  CHECK_STATUS(forked, mortise_lock_unlock_async(all->held, all->queue, 1, NULL));
  CHECK_STATUS(forked, mortise_lock_extend_async(all->held, all->queue, 1, 0, NULL));
  CHECK_STATUS(forked, mortise_lock_watch(all->held, all->queue, 1, NULL));
  CHECK_STATUS(forked, mortise_queue_next(all->queue, MORTISE_FOREVER, event, NULL));
  CHECK_STATUS(forked,
               mortise_queue_next_batch(all->queue, MORTISE_FOREVER, numbers, 1, &count, NULL));
  CHECK_NUMBER(-1, mortise_queue_fd(all->queue));
  CHECK_NUMBER(0, mortise_lock_is_held(all->held));
  CHECK_NUMBER(0, mortise_lock_valid_ms(all->held));
  mortise_queue_wake(all->queue);
  mortise_queue_shutdown(all->queue);
  mortise_event_free(event);
  mortise_info_free(info);
  mortise_error_free(error);
}

static void everything_can_be_freed(void *argument) {
  const handles *all = argument;
  mortise_lock_free(all->held);
  mortise_lock_free(all->idle);
  mortise_queue_free(all->queue);
  mortise_client_free(all->client);
}

static void everything_can_be_freed_client_first(void *argument) {
  const handles *all = argument;
  mortise_client_free(all->client);
  mortise_queue_free(all->queue);
  mortise_lock_free(all->idle);
  mortise_lock_free(all->held);
}

static void a_client_of_its_own_works(void *argument) {
  (void)argument;
  mortise_client *own = open_client(server);
  mortise_lock *lock = open_lock(own, "fork-held");
  CHECK_STATUS(MORTISE_NOT_ACQUIRED, mortise_lock_try(lock, NULL));
  mortise_lock *other = open_lock(own, "fork-other");
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(other, patience_ms, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(other, NULL));
  mortise_client_free(own);
  mortise_lock_free(lock);
  mortise_lock_free(other);
}

static void exit_runs_all_destructors(void *argument) {
  (void)argument;
  exit(0);
}

/* The parent's hold, connection and queue go on as if nothing had happened. */
static void check_parent(const handles *all, int64_t tag) {
  mortise_event *event = mortise_event_new();
  CHECK_NUMBER(1, mortise_lock_is_held(all->held));
  CHECK_STATUS(MORTISE_OK, mortise_client_ping(all->client, NULL));
  CHECK_NUMBER(1, server_number(server, "EXISTS {mortise:fork-held}"));
  CHECK_STATUS(MORTISE_OK, mortise_lock_extend_async(all->held, all->queue, tag, 0, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_queue_next(all->queue, patience_ms, event, NULL));
  CHECK_NUMBER(tag, mortise_event_tag(event));
  CHECK_STATUS(MORTISE_OK, mortise_event_status(event));
  mortise_event_free(event);
}

static void children_are_inert(void) {
  handles all;
  all.client = client;
  all.held = open_lock(client, "fork-held");
  all.idle = open_lock(client, "fork-idle");
  all.queue = mortise_queue_new(client, 16, NULL);
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(all.held, patience_ms, NULL));
  void (*const checks[])(void *) = {every_call_says_forked, everything_can_be_freed,
                                    everything_can_be_freed_client_first, exit_runs_all_destructors,
                                    a_client_of_its_own_works};
  for (int i = 0; i < check_count; ++i) {
    in_child(checks[i], &all);
    check_parent(&all, i);
  }
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(all.held, NULL));
  mortise_queue_free(all.queue);
  mortise_lock_free(all.held);
  mortise_lock_free(all.idle);
}

static void frees_and_is_told(void *argument) {
  mortise_lock *lock = argument;
  CHECK_STATUS(MORTISE_FORKED, mortise_lock_acquire(lock, 1000, NULL));
  mortise_lock_free(lock);
}

/* Forks while other threads are inside the library: their mutexes may be held in the child. */
static void a_fork_amid_calls_is_harmless(void) {
  mortise_lock *holder = open_lock(client, "amid");
  mortise_lock *waiter = open_lock(client, "amid");
  background call;
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(holder, NULL));
  for (int i = 0; i < 50; ++i) {
    start_acquire(&call, waiter, i % 2 ? MORTISE_FOREVER : 5);
    in_child(frees_and_is_told, i % 3 ? waiter : holder);
    while (i % 2 && mortise_lock_cancel(waiter, NULL) != MORTISE_OK) poll(NULL, 0, 1);
    CHECK_STATUS(i % 2 ? MORTISE_CANCELLED : MORTISE_TIMED_OUT, finish_acquire(&call));
  }
  CHECK_NUMBER(1, mortise_lock_is_held(holder));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(holder, NULL));
  mortise_lock_free(holder);
  mortise_lock_free(waiter);
}

int main(void) {
  server = server_start(NULL);
  client = open_client(server);
  RUN(children_are_inert);
  RUN(a_fork_amid_calls_is_harmless);
  mortise_client_free(client);
  server_free(server);
  return 0;
}
