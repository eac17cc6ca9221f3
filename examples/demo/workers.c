#define _POSIX_C_SOURCE 200809L

#include "workers.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "language.h"
#include "store.h"

extern char **environ;

int64_t workers_now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int workers_init(struct workers *workers, const char *folder) {
  int i;
  memset(workers, 0, sizeof *workers);
  workers->folder = folder;
  workers->latest = -1;
  workers_watch(workers, INT64_MAX);
  if (pipe(workers->gate) != 0) return -1;
  for (i = 0; i < 2; ++i) fcntl(workers->gate[i], F_SETFD, FD_CLOEXEC);
  return 0;
}

/* ---- starting ---------------------------------------------------------------------------- */

static int start_process(const struct workers_orders *orders, int gate, int output,
                         pid_t *process) {
  char numbers[3][24];
  /* posix_spawn does not change them, but its parameter is not const. */
  union {
    const char *constant[9];
    char *plain[9];
  } arguments;
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  int error;
  snprintf(numbers[0], sizeof numbers[0], "%" PRId64, orders->run_ms);
  snprintf(numbers[1], sizeof numbers[1], "%" PRId64, orders->lease_ms);
  snprintf(numbers[2], sizeof numbers[2], "%" PRId64, orders->pause_ms);
  arguments.constant[0] = orders->program;
  arguments.constant[1] = orders->url;
  arguments.constant[2] = orders->lock;
  arguments.constant[3] = orders->folder;
  arguments.constant[4] = numbers[0];
  arguments.constant[5] = numbers[1];
  arguments.constant[6] = numbers[2];
  arguments.constant[7] = orders->is_safe ? "safe" : "unsafe";
  arguments.constant[8] = NULL;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, gate, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawnattr_init(&attributes);
  /*
   * A process group for each: Ctrl-C reaches the supervisor alone, which cleans up. If the
   * supervisor is killed, the kernel ends a stopped worker, because its group is an orphan then.
   */
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  error = posix_spawn(process, orders->program, &actions, &attributes, arguments.plain, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  errno = error;
  return error == 0 ? 0 : -1;
}

int workers_add(struct workers *workers, const struct workers_orders *orders) {
  struct member *member = &workers->members[workers->size];
  int ends[2];
  int i;
  int result;
  if (pipe(ends) != 0) return -1;
  for (i = 0; i < 2; ++i) fcntl(ends[i], F_SETFD, FD_CLOEXEC);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  memset(member, 0, sizeof *member);
  member->language = orders->language;
  member->exit_status = -1;
  member->output = ends[0];
  result = start_process(orders, workers->gate[0], ends[1], &member->process);
  close(ends[1]);
  if (result == 0) {
    workers->size += 1;
  } else {
    int error = errno;
    close(ends[0]);
    errno = error;
  }
  return result;
}

int workers_is_ready(const struct workers *workers) {
  int i;
  for (i = 0; i < workers->size; ++i) {
    if (!workers->members[i].is_ready && workers->members[i].output >= 0) return 0;
  }
  return 1;
}

void workers_start(struct workers *workers) {
  int i;
  for (i = 0; i < 2; ++i) {
    if (workers->gate[i] >= 0) close(workers->gate[i]);
    workers->gate[i] = -1;
  }
}

/* ---- listening --------------------------------------------------------------------------- */

static void take_hold(struct workers *workers, int index, int64_t token) {
  workers->members[index].step = STEP_HOLDING;
  workers->members[index].token = token;
  workers->holds += 1;
  workers->latest = index;
  if (workers->watched_by < 0 && token > workers->watched) {
    workers->watched_by = index;
    workers->watched_ms = workers_now_ms();
  }
}

static void take_line(struct workers *workers, int index) {
  struct member *member = &workers->members[index];
  const char *line = member->line;
  int64_t first = 0;
  int64_t second = 0;
  int64_t third = 0;
  if (strcmp(line, "ready") == 0) {
    member->is_ready = 1;
  } else if (sscanf(line, "held %" SCNd64, &first) == 1) {
    take_hold(workers, index, first);
  } else if (sscanf(line, "wrote %" SCNd64 " %" SCNd64, &first, &second) == 2) {
    member->step = STEP_IDLE;
    member->wrote += 1;
    workers->wrote += 1;
  } else if (sscanf(line, "refused %" SCNd64 " %" SCNd64 " %" SCNd64, &first, &second, &third) ==
             3) {
    member->step = STEP_IDLE;
    member->refused += 1;
    member->refused_token = second;
    member->refused_highest = third;
  } else if (sscanf(line, "lost %" SCNd64, &first) == 1) {
    member->lost_token = first;
  } else if (sscanf(line, "done %" SCNd64, &first) == 1) {
    member->step = STEP_DONE;
    member->done_count = first;
  } else if (strncmp(line, "free ", 5) != 0) {
    /* `failed TEXT`, or something that is not in the contract. */
    member->step = STEP_FAILED;
    memcpy(member->failure, member->line, member->line_length + 1);
  }
}

static void take_bytes(struct workers *workers, int index, const char *bytes, size_t count) {
  struct member *member = &workers->members[index];
  size_t i;
  for (i = 0; i < count; ++i) {
    if (bytes[i] == '\n') {
      member->line[member->line_length] = '\0';
      take_line(workers, index);
      member->line_length = 0;
    } else if (member->line_length + 1 < sizeof member->line) {
      member->line[member->line_length++] = bytes[i];
    }
  }
}

static void collect(struct member *member) {
  close(member->output);
  member->output = -1;
  while (waitpid(member->process, &member->exit_status, 0) < 0 && errno == EINTR) {
  }
}

/* All reports of the worker so far. */
static void drain(struct workers *workers, int index) {
  struct member *member = &workers->members[index];
  char bytes[4096];
  while (member->output >= 0) {
    ssize_t count = read(member->output, bytes, sizeof bytes);
    if (count > 0) {
      take_bytes(workers, index, bytes, (size_t)count);
    } else if (count == 0) {
      collect(member);
    } else if (errno != EINTR) {
      return;
    }
  }
}

void workers_listen(struct workers *workers, int64_t until_ms) {
  struct pollfd polled[WORKERS_MAX];
  int i;
  int64_t left_ms = until_ms - workers_now_ms();
  for (i = 0; i < workers->size; ++i) {
    polled[i].fd = workers->members[i].output;
    polled[i].events = POLLIN;
    polled[i].revents = 0;
  }
  if (poll(polled, (nfds_t)workers->size, left_ms > 0 ? (int)left_ms : 0) <= 0) return;
  for (i = 0; i < workers->size; ++i) {
    if (polled[i].revents != 0) drain(workers, i);
  }
}

void workers_watch(struct workers *workers, int64_t token) {
  workers->watched = token;
  workers->watched_by = -1;
  workers->watched_ms = 0;
}

int workers_by_language(const struct workers *workers, char text[WORKERS_BY_LANGUAGE_SIZE]) {
  int64_t wrote[LANGUAGE_COUNT] = {0};
  int count[LANGUAGE_COUNT] = {0};
  int has_each = 1;
  size_t length = 0;
  int i;
  for (i = 0; i < workers->size; ++i) {
    wrote[workers->members[i].language] += workers->members[i].wrote;
    count[workers->members[i].language] += 1;
  }
  text[0] = '\0';
  for (i = 0; i < LANGUAGE_COUNT && length < WORKERS_BY_LANGUAGE_SIZE; ++i) {
    if (count[i] == 0) continue;
    has_each = has_each && wrote[i] > 0;
    length += (size_t)snprintf(text + length, WORKERS_BY_LANGUAGE_SIZE - length, "%s%s %" PRId64,
                               length == 0 ? "" : ", ", languages[i].title, wrote[i]);
  }
  return has_each;
}

int workers_running(const struct workers *workers) {
  int i;
  int running = 0;
  for (i = 0; i < workers->size; ++i) running += workers->members[i].output >= 0;
  return running;
}

/* ---- faults ------------------------------------------------------------------------------ */

struct attempt_count {
  long process;
  int64_t attempts;
};

static void count_attempt(const struct store_record *record, void *context) {
  struct attempt_count *count = context;
  count->attempts += record->process == count->process;
}

/* Whether it has reported all of its writes. */
static int has_reported_all(const struct workers *workers, const struct member *member) {
  struct attempt_count count = {0, 0};
  count.process = (long)member->process;
  if (store_each_record(workers->folder, count_attempt, &count) != 0) return 0;
  return count.attempts == member->wrote + member->refused;
}

int workers_catch(struct workers *workers, int index) {
  struct member *member = &workers->members[index];
  int is_caught = 0;
  int status = 0;
  int store = store_close(workers->folder);
  if (store < 0) return 0;
  if (kill(member->process, SIGSTOP) == 0) {
    pid_t stopped;
    do {
      stopped = waitpid(member->process, &status, WUNTRACED);
    } while (stopped < 0 && errno == EINTR);
    if (stopped == member->process && WIFSTOPPED(status)) {
      drain(workers, index);
      is_caught = member->step == STEP_HOLDING && has_reported_all(workers, member);
      if (!is_caught) workers_continue(workers, index);
    } else {
      /* It has ended by itself just now; `collect` finds nothing left to wait for. */
      member->exit_status = status;
    }
  }
  store_open(store);
  return is_caught;
}

void workers_continue(struct workers *workers, int index) {
  kill(workers->members[index].process, SIGCONT);
}

void workers_kill(struct workers *workers, int index) {
  struct member *member = &workers->members[index];
  member->is_killed = 1;
  kill(member->process, SIGKILL);
  drain(workers, index);
}

void workers_end(struct workers *workers) {
  int i;
  workers_start(workers);
  for (i = 0; i < workers->size; ++i) {
    if (workers->members[i].output < 0) continue;
    kill(workers->members[i].process, SIGKILL);
    collect(&workers->members[i]);
  }
}
