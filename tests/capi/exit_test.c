/*
 * The locks of a process that ends. With release_at_exit they are free. After an end without exit
 * handlers they are not. The end of a forked child takes nothing from its parent (hazard 21). The
 * program runs itself, once for each way to end.
 */
#include "fixture.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static test_server *server;
static const char *self_path;

/* Enough that closing them one after the other takes longer than the test allows. */
enum { client_count = 200, longest_end_ms = 10000 };

/* ---- the processes that end --------------------------------------------------------------- */

static const char *url;
static mortise_client *client;
static mortise_lock *lock;

/* What the process ends with is no leak. */
static void *keep(void *handle) {
  static void *kept[2 * client_count];
  static int count;
  CHECK(handle != NULL && count < 2 * client_count);
  return kept[count++] = handle;
}

static mortise_client *open_releasing_client(const char *is_on) {
  mortise_options *options = options_with("release_at_exit", is_on);
  set_option(options, "lease", "10m");
  set_option(options, "command_timeout", "40s");
  mortise_client *opened = open_client_with(url, options);
  mortise_options_free(options);
  return opened;
}

static void hold_with(const char *is_on) {
  client = open_releasing_client(is_on);
  lock = open_lock(client, "held");
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
}

/* A test of a child's, which has no business with our exit handlers when it fails. */
static void expect_or_leave(int holds) {
  if (!holds) _exit(9);
}

static int end_by_return(void) {
  hold_with("on");
  mortise_rw *rw = keep(mortise_rw_new(client, "rw", 2, NULL, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_rw_write_try(rw, NULL));
  mortise_semaphore *permits = keep(mortise_semaphore_new(client, "semaphore", 9, 2, NULL, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_semaphore_try(permits, 2, NULL));
  return 0;
}

static int end_without_the_option(void) {
  hold_with("off");
  return 0;
}

static int end_by__exit(void) {
  hold_with("on");
  _exit(0);
}

/* The release is sent, although no thread has waited for the reply. */
static int end_after_an_unlock_that_was_sent(void) {
  client = open_releasing_client("off");
  mortise_options *options = options_with("release", "sent");
  lock = open_lock_with(client, "held", options);
  mortise_options_free(options);
  CHECK_STATUS(MORTISE_OK, mortise_lock_try(lock, NULL));
  CHECK_STATUS(MORTISE_OK, mortise_lock_unlock(lock, NULL));
  _exit(0);
}

static int end_by_quick_exit(void) {
  hold_with("on");
  quick_exit(0);
}

static int end_when_freed(void) {
  hold_with("on");
  mortise_client_free(client);
  mortise_lock_free(lock);
  return 0;
}

/* One without a waiter. */
static void start_thread(void *(*run)(void *), void *argument) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, run, argument) == 0);
  CHECK(pthread_detach(thread) == 0);
}

static void *wait_in_vain(void *waiter) {
  CHECK(mortise_lock_acquire(waiter, MORTISE_FOREVER, NULL) != MORTISE_OK);
  return NULL;
}

static void *take_and_give_back(void *own) {
  for (;;) {
    if (mortise_lock_acquire(own, MORTISE_FOREVER, NULL) == MORTISE_OK) {
      mortise_lock_unlock(own, NULL);
    }
  }
  return NULL;
}

static void *open_and_free(void *ignored) {
  for (;;) mortise_client_free(open_releasing_client("on"));
  return ignored;
}

static void *call_exit(void *ignored) {
  exit(3);
  return ignored;
}

/* One thread calls exit while the others go on calling. */
static int end_amid_calls(void) {
  hold_with("on");
  start_thread(wait_in_vain, keep(open_lock(client, "held")));
  for (int i = 0; i < 2; ++i) {
    start_thread(take_and_give_back, keep(open_lock(client, "busy")));
  }
  start_thread(call_exit, NULL);
  pause();
  return 9;
}

static void registered_before(void) {
  expect_or_leave(mortise_client_ping(client, NULL) == MORTISE_CLOSED);
  expect_or_leave(mortise_lock_is_held(lock) == 0);
  mortise_lock_free(lock);
  mortise_client_free(client);
}

static void registered_after(void) {
  expect_or_leave(mortise_client_ping(client, NULL) == MORTISE_OK);
  expect_or_leave(mortise_lock_is_held(lock) == 1);
}

/* What was registered before the client ends after it, as with destructors. */
static int end_with_other_handlers(void) {
  CHECK(atexit(registered_before) == 0);
  hold_with("on");
  CHECK(atexit(registered_after) == 0);
  return 0;
}

static void wait_for_child(pid_t child) {
  int wait_status = 0;
  CHECK(child > 0 && waitpid(child, &wait_status, 0) == child);
  CHECK(WIFEXITED(wait_status));
  CHECK_NUMBER(0, WEXITSTATUS(wait_status));
}

/* Children end by exit() while a thread of ours may have our list of clients locked. */
static int end_after_forks(void) {
  hold_with("on");
  start_thread(open_and_free, NULL);
  for (int i = 0; i < 30; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      exit(0);
    }
    wait_for_child(child);
  }
  CHECK_NUMBER(1, mortise_lock_is_held(lock));
  CHECK_STATUS(MORTISE_OK, mortise_lock_extend(lock, 0, NULL));
  return 0;
}

/* A child with a client of its own gives back its own, and nothing of its parent's. */
static int end_after_a_child_with_a_client(void) {
  hold_with("on");
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    mortise_lock *own = keep(open_lock(keep(open_releasing_client("on")), "child's"));
    CHECK_STATUS(MORTISE_OK, mortise_lock_try(own, NULL));
    exit(0);
  }
  wait_for_child(child);
  CHECK_STATUS(MORTISE_OK, mortise_lock_extend(lock, 0, NULL));
  mortise_lock *free_again = keep(open_lock(client, "child's"));
  CHECK_STATUS(MORTISE_OK, mortise_lock_acquire(free_again, patience_ms, NULL));
  return 0;
}

/* Prints that it holds, and ends on command. */
static int end_on_request(void) {
  char word = 0;
  for (int i = 0; i < client_count; ++i) {
    char name[16];
    snprintf(name, sizeof name, "held-%d", i);
    CHECK_STATUS(MORTISE_OK,
                 mortise_lock_try(keep(open_lock(keep(open_releasing_client("on")), name)), NULL));
  }
  CHECK(write(STDOUT_FILENO, &word, 1) == 1);
  CHECK(read(STDIN_FILENO, &word, 1) == 1);
  return 0;
}

typedef struct ending {
  const char *name;
  int (*end)(void);
  int code;           /* what it exits with */
  int64_t keys_after; /* of locks, left at the server */
} ending;

static const ending endings[] = {
    {"return", end_by_return, 0, 0},
    {"without the option", end_without_the_option, 0, 1},
    {"_exit", end_by__exit, 0, 1},
    {"an unlock that was sent", end_after_an_unlock_that_was_sent, 0, 0},
    {"quick_exit", end_by_quick_exit, 0, 1},
    {"freed", end_when_freed, 0, 0},
    {"amid calls", end_amid_calls, 3, 0},
    {"other handlers", end_with_other_handlers, 0, 0},
    {"forks", end_after_forks, 0, 0},
    {"told", end_on_request, 0, 0},
    {"a child with a client", end_after_a_child_with_a_client, 0, 0},
};

/*
 * The last one has threads in a child of a process with threads, which ThreadSanitizer cannot
 * follow; every other build has it.
 */
enum {
  all_endings = sizeof endings / sizeof endings[0],
#if defined(__SANITIZE_THREAD__)
  ending_count = all_endings - 1
#else
  ending_count = all_endings
#endif
};

/* ---- the process that looks ---------------------------------------------------------------- */

/* Starts this program to end in one way; `input` and `output` are its standard ones. */
static pid_t start(const ending *way, int input, int output) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    if (input >= 0) dup2(input, STDIN_FILENO);
    if (output >= 0) dup2(output, STDOUT_FILENO);
    alarm(60);
    /* A child of a process with threads cannot reach what these had in hand: not a leak. */
    if (way->end == end_after_forks) setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
    execl(self_path, self_path, way->name, server_url(server), (char *)NULL);
    _exit(127);
  }
  return child;
}

static void check_end(const ending *way, pid_t child) {
  int state = 0;
  CHECK(waitpid(child, &state, 0) == child);
  CHECK(WIFEXITED(state));
  CHECK_NUMBER(way->code, WEXITSTATUS(state));
}

/* Of locks alone: a semaphore's size outlives its holders. */
#define held_keys "EVAL return(#redis.call('KEYS','{mortise:*}')) 0"

static void locks_are_free_after_an_exit_and_only_then(void) {
  for (int i = 0; i < ending_count; ++i) {
    if (endings[i].end == end_on_request) continue;
    fprintf(stderr, "  %s\n", endings[i].name);
    check_end(&endings[i], start(&endings[i], -1, -1));
    server_wait_for_exactly(server, held_keys, endings[i].keys_after);
    server_command(server, "FLUSHALL");
  }
}

/* With a server that hangs, many clients together are waited for no longer than one. */
static void a_hanging_server_does_not_keep_the_process(void) {
  const ending *clean = endings;
  while (clean->end != end_on_request) ++clean;
  int to_child[2];
  int from_child[2];
  char word = 0;
  CHECK(pipe(to_child) == 0 && pipe(from_child) == 0);
  const pid_t child = start(clean, to_child[0], from_child[1]);
  CHECK(read(from_child[0], &word, 1) == 1);
  server_pause(server);
  const int64_t begin = now_ms();
  CHECK(write(to_child[1], &word, 1) == 1);
  check_end(clean, child);
  CHECK(now_ms() - begin < longest_end_ms); /* each reply would be awaited for 40 s */
  server_resume(server);
  /* What it has sent is carried out. */
  server_wait_for_exactly(server, held_keys, 0);
}

int main(int count, char **arguments) {
  for (int i = 0; i < ending_count && count == 3; ++i) {
    if (strcmp(endings[i].name, arguments[1]) != 0) continue;
    url = arguments[2];
    return endings[i].end();
  }
  self_path = arguments[0];
  server = server_start(NULL);
  RUN(locks_are_free_after_an_exit_and_only_then);
  RUN(a_hanging_server_does_not_keep_the_process);
  server_free(server);
  return 0;
}
