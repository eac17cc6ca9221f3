/* After fork() the child's handles are inert, and nothing it does touches the
   parent (hazard 21). */
#include "fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static test_server *server;
static mortise_client *client;

/* Like an emulator or a sandbox that takes it for mere advice: returns success and does nothing. */
static int madvise_lies;

int madvise(void *address, size_t length, int advice) {
  if (advice == MADV_WIPEONFORK && madvise_lies) return 0;
  return (int)syscall(SYS_madvise, address, length, advice);
}

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
  struct pollfd readable = {mortise_queue_fd(all->queue), POLLIN, 0};
  CHECK(poll(&readable, 1, 0) == 0);
  CHECK_STATUS(MORTISE_TIMED_OUT, mortise_queue_next(all->queue, 0, event, NULL));
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
  CHECK(mortise_queue_fd(all.queue) >= 0); /* from here on events are signaled there */
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

static void frees_and_gets_the_status(void *argument) {
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
    in_child(frees_and_gets_the_status, i % 3 ? waiter : holder);
    while (i % 2 && mortise_lock_cancel(waiter, NULL) != MORTISE_OK) poll(NULL, 0, 1);
    CHECK_STATUS(i % 2 ? MORTISE_CANCELLED : MORTISE_TIMED_OUT, finish_acquire(&call));
  }
  CHECK_NUMBER(1, mortise_lock_is_held(holder));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(holder, NULL));
  mortise_lock_free(holder);
  mortise_lock_free(waiter);
}

/* This program again, as another process, which can be killed. Its stdin and stdout are pipes. */
typedef struct process {
  pid_t pid;
  int to, from;
} process;

static process run_again(const char *role, const char *url) {
  int in[2], out[2];
  CHECK(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
  process self = {fork(), in[1], out[0]};
  CHECK(self.pid >= 0);
  if (self.pid == 0) {
    dup2(in[0], 0);
    dup2(out[1], 1);
    execl("/proc/self/exe", "fork_test", role, url, NULL);
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  return self;
}

static void wait_for_byte(int descriptor) {
  char byte;
  CHECK(read(descriptor, &byte, 1) == 1);
}

/* Waits for a lock, forks a child that outlives it, and is killed. */
static int wait_and_fork(const char *url) {
  mortise_client *own = mortise_client_new(url, strlen(url), NULL, NULL);
  mortise_queue *queue = mortise_queue_new(own, 0, NULL);
  mortise_lock *lock = open_lock(own, "orphan");
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire_async(lock, queue, 1, MORTISE_FOREVER, NULL));
  wait_for_byte(0);
  if (fork() == 0) {
    char byte;
    CHECK(write(1, "c", 1) == 1);
    _exit(read(0, &byte, 1) == 0 ? 0 : 1); /* until the test closes the pipe */
  }
  for (;;) pause();
}

static void a_child_does_not_keep_its_dead_parent_alive(void) {
  const char *listeners = "EVAL return(#redis.call('PUBSUB','CHANNELS','mortise:inbox:*')) 0";
  mortise_lock *held = open_lock(client, "orphan");
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(held, NULL));
  CHECK_NUMBER(1, server_number(server, listeners));
  process parent = run_again("wait and fork", server_url(server));
  server_wait_for(server, "LLEN {mortise:orphan}:q", 1);
  CHECK_NUMBER(2, server_number(server, listeners));
  CHECK(write(parent.to, "f", 1) == 1);
  wait_for_byte(parent.from); /* from the child, which is there now */
  CHECK(kill(parent.pid, SIGKILL) == 0);
  CHECK(waitpid(parent.pid, NULL, 0) == parent.pid);
  server_wait_for_exactly(server, listeners, 1);
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(held, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(held, patience_ms, NULL));
  close(parent.to);
  close(parent.from);
  mortise_lock_free(held);
}

/* The whole test once more, with only libc to report a fork. */
static void libc_alone_is_enough(void) {
  process again = run_again("madvise lies", "");
  int state = 0;
  CHECK(waitpid(again.pid, &state, 0) == again.pid);
  CHECK(WIFEXITED(state));
  CHECK_NUMBER(0, WEXITSTATUS(state));
  close(again.to);
  close(again.from);
}

int main(int count, char **arguments) {
  if (count > 2 && strcmp(arguments[1], "wait and fork") == 0) return wait_and_fork(arguments[2]);
  madvise_lies = count > 1;
  server = server_start(NULL);
  client = open_client(server);
  RUN(children_are_inert);
  RUN(a_fork_amid_calls_is_harmless);
  RUN(a_child_does_not_keep_its_dead_parent_alive);
  if (!madvise_lies) RUN(libc_alone_is_enough);
  mortise_client_free(client);
  server_free(server);
  return 0;
}
