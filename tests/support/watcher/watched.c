/*
 * watched [--tolerance MS] COMMAND…: runs a test, and watches how long the machine keeps threads
 * from running meanwhile. A test that fails is repeated, at most twice, if a thread woke up later
 * than due by more than the tolerance, 150 ms unless given. Without such a stall a failure is
 * final, and so is a crash or the report of a sanitizer. Each repetition is a line of the file that
 * MORTISE_TEST_REPEATS names.
 *
 * On each processor a thread sleeps for 20 ms and again. The longest delay is the stall.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { most_repeats = 2, sleep_ms = 20, default_tolerance_ms = 150, not_started = 127 };
static const int64_t ns_per_ms = 1000000;

static _Atomic int64_t longest_stall_ns;

/* One for each processor. It has looked once more whenever it woke up. */
static struct watcher {
  int processor;
  int64_t started_ns;
  _Atomic long looks;
} watchers[CPU_SETSIZE];
static int watcher_count;

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 * ns_per_ms + now.tv_nsec;
}

static void nap(void) {
  const struct timespec pause = {0, sleep_ms * ns_per_ms};
  nanosleep(&pause, NULL);
}

/* No time goes unwatched: each sleep is measured from the end of the one before, the first one
 * from before the thread was there. */
static void *watch(void *argument) {
  struct watcher *const self = argument;
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(self->processor, &only);
  sched_setaffinity(0, sizeof only, &only); /* otherwise it watches a processor */
  for (int64_t last = self->started_ns;;) {
    nap();
    const int64_t now = now_ns();
    const int64_t stall = now - last - sleep_ms * ns_per_ms;
    last = now;
    int64_t longest = atomic_load(&longest_stall_ns);
    while (stall > longest && !atomic_compare_exchange_weak(&longest_stall_ns, &longest, stall)) {
    }
    atomic_fetch_add(&self->looks, 1);
  }
  return NULL;
}

static void start_watching(void) {
  cpu_set_t usable;
  if (sched_getaffinity(0, sizeof usable, &usable) != 0) return;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    pthread_t thread;
    struct watcher *const next = &watchers[watcher_count];
    if (!CPU_ISSET(i, &usable)) continue;
    next->processor = i;
    next->started_ns = now_ns();
    if (pthread_create(&thread, NULL, watch, next) != 0) continue;
    pthread_detach(thread);
    ++watcher_count;
  }
}

/* Until now: a watcher that is late itself has noted its stall when it has looked twice. */
static int64_t longest_stall_ms(void) {
  for (int i = 0; i < watcher_count; ++i) {
    const long before = atomic_load(&watchers[i].looks);
    while (atomic_load(&watchers[i].looks) < before + 2) nap();
  }
  return atomic_load(&longest_stall_ns) / ns_per_ms;
}

/* The status of the command's end, from waitpid(). */
static int run(char **command) {
  const pid_t watcher = getpid();
  const pid_t child = fork();
  if (child < 0) {
    fprintf(stderr, "watched: cannot fork: %s\n", strerror(errno));
    exit(not_started);
  }
  if (child == 0) {
    /* A test that takes too long is killed by its watcher's end. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != watcher) _exit(not_started);
    execvp(command[0], command);
    fprintf(stderr, "watched: cannot run %s: %s\n", command[0], strerror(errno));
    _exit(not_started);
  }
  int state = 0;
  while (waitpid(child, &state, 0) < 0 && errno == EINTR) {
  }
  return state;
}

static int exit_code(int state) {
  if (WIFEXITED(state)) return WEXITSTATUS(state);
  fprintf(stderr, "watched: ended by signal %d, %s\n", WTERMSIG(state), strsignal(WTERMSIG(state)));
  return 128 + WTERMSIG(state);
}

/* A stall explains a failed comparison, but no crash. 66 and 23 are the exit codes of sanitizers;
 * AddressSanitizer gets the first one below. */
static bool is_crash(int state) {
  return WIFSIGNALED(state) || WEXITSTATUS(state) == 66 || WEXITSTATUS(state) == 23;
}

static void report_repeat(char **command, long long stall_ms, long long tolerance_ms) {
  char line[512];
  const char *slash = strrchr(command[0], '/');
  const int length = snprintf(
      line, sizeof line, "repeated: %s %s, after a stall of %lld ms; it bears %lld ms\n",
      slash ? slash + 1 : command[0], command[1] ? command[1] : "", stall_ms, tolerance_ms);
  fputs(line, stderr);
  const char *path = getenv("MORTISE_TEST_REPEATS");
  const int file = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666) : -1;
  if (file < 0) return;
  const size_t size = (size_t)length < sizeof line ? (size_t)length : sizeof line - 1;
  if (write(file, line, size) < 0) fprintf(stderr, "watched: %s: %s\n", path, strerror(errno));
  close(file);
}

int main(int count, char **arguments) {
  char **command = arguments + 1;
  long tolerance_ms = default_tolerance_ms;
  if (count > 2 && strcmp(command[0], "--tolerance") == 0) {
    tolerance_ms = strtol(command[1], NULL, 10);
    command += 2;
  }
  if (command[0] == NULL || tolerance_ms <= 0) {
    fprintf(stderr, "usage: watched [--tolerance MS] COMMAND…\n");
    return 2;
  }
  setenv("ASAN_OPTIONS", "exitcode=66", 0);
  setenv("UBSAN_OPTIONS", "exitcode=66", 0);
  start_watching();
  for (int repeats = 0;; ++repeats) {
    atomic_store(&longest_stall_ns, 0);
    const int state = run(command);
    const int code = exit_code(state);
    if (code == 0 || code == 77 || code == not_started || is_crash(state)) return code;
    if (repeats == most_repeats) return code;
    const int64_t stall_ms = longest_stall_ms();
    if (stall_ms <= tolerance_ms) return code;
    report_repeat(command, stall_ms, tolerance_ms);
  }
}
