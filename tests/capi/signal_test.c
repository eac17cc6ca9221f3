/* What a signal handler may call, wherever it has interrupted the program (hazard 22). */
#include "fixture.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static test_server *server;
static mortise_client *client;
static mortise_queue *woken;

enum { signal_count = 1000, reader_count = 3, event_count = 1000 };

static atomic_int handled;
static atomic_int broken_promises;

static void expect_in_handler(int holds) {
  if (!holds) ++broken_promises;
}

/* All functions that docs/threading.md calls async-signal-safe. */
static void on_signal(int number) {
  (void)number;
  const int before = errno;
  errno = 4711;
  mortise_queue_wake(woken);
  expect_in_handler(errno == 4711);
  expect_in_handler(mortise_version() == MORTISE_VERSION_NUMBER);
  expect_in_handler(mortise_version_text()[0] != '\0');
  expect_in_handler(mortise_check_abi(MORTISE_VERSION_MAJOR, MORTISE_VERSION_MINOR) == MORTISE_OK);
  expect_in_handler(mortise_get_api(MORTISE_ABI_MAJOR) != NULL);
  expect_in_handler(strcmp(mortise_status_text(MORTISE_TIMED_OUT), "timed out") == 0);
  errno = before;
  ++handled;
}

/* glibc has the field, but no name for it. */
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* A signal to `thread` (0: to whichever the kernel chooses) each millisecond. */
static timer_t start_signals(pid_t thread) {
  timer_t timer;
  struct sigevent event;
  memset(&event, 0, sizeof event);
  event.sigev_notify = thread != 0 ? SIGEV_THREAD_ID : SIGEV_SIGNAL;
  event.sigev_signo = SIGUSR1;
  event.sigev_notify_thread_id = thread;
  CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
  const struct itimerspec each_ms = {{0, 1000000}, {0, 1000000}};
  atomic_store(&handled, 0);
  CHECK(timer_settime(timer, 0, &each_ms, NULL) == 0);
  return timer;
}

static void stop_signals(timer_t timer) {
  CHECK(timer_delete(timer) == 0);
  CHECK_NUMBER(0, atomic_load(&broken_promises));
}

static void open_woken_queue(void) {
  woken = mortise_queue_new(client, 0, NULL);
  CHECK(woken != NULL);
}

/* The handler interrupts the thread inside the queue, with whatever mutex it holds there. */
static void a_wake_may_interrupt_the_queue_itself(void) {
  open_woken_queue();
  mortise_event *event = mortise_event_new();
  const timer_t timer = start_signals((pid_t)syscall(SYS_gettid));
  int64_t wakes = 0;
  while (atomic_load(&handled) < signal_count) {
    CHECK_STATUS(MORTISE_TIMED_OUT, mortise_queue_next(woken, 0, event, NULL));
    if (atomic_load(&handled) % 2 == 0) continue;
    /* Only a wake ends this one. */
    CHECK_STATUS(MORTISE_TIMED_OUT, mortise_queue_next(woken, MORTISE_FOREVER, event, NULL));
    ++wakes;
  }
  CHECK(wakes > 0);
  stop_signals(timer);
  mortise_event_free(event);
  mortise_queue_free(woken);
}

/* The same while the thread reads the socket for its asynchronous calls. */
static void a_wake_may_interrupt_whoever_reads_the_answers(void) {
  open_woken_queue();
  mortise_event *event = mortise_event_new();
  mortise_lock *lock = open_lock(client, "read");
  const timer_t timer = start_signals((pid_t)syscall(SYS_gettid));
  for (int64_t tag = 0; tag < event_count || atomic_load(&handled) < signal_count; ++tag) {
    CHECK_STATUS(MORTISE_OK, tag % 2 == 0 ? mortise_lock_try_async(lock, woken, tag, NULL)
                                          : mortise_lock_unlock_async(lock, woken, tag, NULL));
    mortise_status status = MORTISE_TIMED_OUT;
    while (status == MORTISE_TIMED_OUT) {
      status = mortise_queue_next(woken, MORTISE_FOREVER, event, NULL);
    }
    CHECK_STATUS(MORTISE_OK, status);
    CHECK_NUMBER(tag, mortise_event_tag(event));
    CHECK_STATUS(MORTISE_OK, mortise_event_status(event));
  }
  stop_signals(timer);
  mortise_lock_free(lock);
  mortise_event_free(event);
  mortise_queue_free(woken);
}

typedef struct reader {
  pthread_t thread;
  int64_t events;
  int64_t wakes;
} reader;

static void *read_until_shut_down(void *argument) {
  reader *self = argument;
  mortise_event *event = mortise_event_new();
  for (;;) {
    const mortise_status status = mortise_queue_next(woken, MORTISE_FOREVER, event, NULL);
    if (status == MORTISE_SHUT_DOWN) break;
    if (status == MORTISE_TIMED_OUT) {
      ++self->wakes;
    } else {
      CHECK_STATUS(MORTISE_OK, status);
      ++self->events;
    }
  }
  mortise_event_free(event);
  return NULL;
}

/* Signals hit any thread, several read, and neither an event nor the end is missed by anybody. */
static void wakes_take_nothing_from_readers(void) {
  open_woken_queue();
  mortise_lock *lock = open_lock(client, "readers");
  reader readers[reader_count];
  memset(readers, 0, sizeof readers);
  for (int i = 0; i < reader_count; ++i) {
    CHECK(pthread_create(&readers[i].thread, NULL, read_until_shut_down, &readers[i]) == 0);
  }
  const timer_t timer = start_signals(0);
  int64_t accepted = 0;
  while (accepted < event_count || atomic_load(&handled) < signal_count) {
    const mortise_status status = accepted % 2 == 0
                                      ? mortise_lock_try_async(lock, woken, accepted, NULL)
                                      : mortise_lock_unlock_async(lock, woken, accepted, NULL);
    if (status == MORTISE_BUSY) continue; /* the one before has not ended */
    CHECK_STATUS(MORTISE_OK, status);
    ++accepted;
  }
  stop_signals(timer);
  mortise_queue_shutdown(woken);
  int64_t events = 0;
  int64_t wakes = 0;
  for (int i = 0; i < reader_count; ++i) {
    CHECK(pthread_join(readers[i].thread, NULL) == 0);
    events += readers[i].events;
    wakes += readers[i].wakes;
  }
  CHECK_NUMBER(accepted, events);
  CHECK(wakes > 0);
  mortise_lock_free(lock);
  mortise_queue_free(woken);
}

int main(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
  alarm(200); /* a handler that waits for what it has interrupted never ends */
  server = server_start(NULL);
  client = open_client(server);
  RUN(a_wake_may_interrupt_the_queue_itself);
  RUN(a_wake_may_interrupt_whoever_reads_the_answers);
  RUN(wakes_take_nothing_from_readers);
  mortise_client_free(client);
  server_free(server);
  return 0;
}
