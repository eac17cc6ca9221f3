#define _POSIX_C_SOURCE 200809L

#include "crew.h"

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

int64_t crew_now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int crew_init(struct crew *crew, const char *folder) {
  int i;
  memset(crew, 0, sizeof *crew);
  crew->folder = folder;
  crew->latest = -1;
  crew_watch(crew, INT64_MAX);
  if (pipe(crew->gate) != 0) return -1;
  for (i = 0; i < 2; ++i) fcntl(crew->gate[i], F_SETFD, FD_CLOEXEC);
  return 0;
}

/* ---- starting ---------------------------------------------------------------------------- */

static int start_process(const struct crew_orders *orders, int gate, int output, pid_t *process) {
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
   * A process group for each: Ctrl-C reaches the supervisor alone, which cleans up; and should the
   * supervisor be killed, the kernel ends a stopped worker, because its group is an orphan then.
   */
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  error = posix_spawn(process, orders->program, &actions, &attributes, arguments.plain, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  errno = error;
  return error == 0 ? 0 : -1;
}

int crew_add(struct crew *crew, const struct crew_orders *orders) {
  struct member *member = &crew->members[crew->size];
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
  result = start_process(orders, crew->gate[0], ends[1], &member->process);
  close(ends[1]);
  if (result == 0) {
    crew->size += 1;
  } else {
    int error = errno;
    close(ends[0]);
    errno = error;
  }
  return result;
}

int crew_is_ready(const struct crew *crew) {
  int i;
  for (i = 0; i < crew->size; ++i) {
    if (!crew->members[i].is_ready && crew->members[i].output >= 0) return 0;
  }
  return 1;
}

void crew_start(struct crew *crew) {
  int i;
  for (i = 0; i < 2; ++i) {
    if (crew->gate[i] >= 0) close(crew->gate[i]);
    crew->gate[i] = -1;
  }
}

/* ---- listening --------------------------------------------------------------------------- */

static void take_hold(struct crew *crew, int index, int64_t token) {
  crew->members[index].step = STEP_HOLDING;
  crew->members[index].token = token;
  crew->holds += 1;
  crew->latest = index;
  if (crew->watched_by < 0 && token > crew->watched) {
    crew->watched_by = index;
    crew->watched_ms = crew_now_ms();
  }
}

static void take_line(struct crew *crew, int index) {
  struct member *member = &crew->members[index];
  const char *line = member->line;
  int64_t first = 0;
  int64_t second = 0;
  int64_t third = 0;
  if (strcmp(line, "ready") == 0) {
    member->is_ready = 1;
  } else if (sscanf(line, "held %" SCNd64, &first) == 1) {
    take_hold(crew, index, first);
  } else if (sscanf(line, "wrote %" SCNd64 " %" SCNd64, &first, &second) == 2) {
    member->step = STEP_IDLE;
    member->wrote += 1;
    crew->wrote += 1;
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

static void take_bytes(struct crew *crew, int index, const char *bytes, size_t count) {
  struct member *member = &crew->members[index];
  size_t i;
  for (i = 0; i < count; ++i) {
    if (bytes[i] == '\n') {
      member->line[member->line_length] = '\0';
      take_line(crew, index);
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

/* Everything that the worker has told by now. */
static void drain(struct crew *crew, int index) {
  struct member *member = &crew->members[index];
  char bytes[4096];
  while (member->output >= 0) {
    ssize_t count = read(member->output, bytes, sizeof bytes);
    if (count > 0) {
      take_bytes(crew, index, bytes, (size_t)count);
    } else if (count == 0) {
      collect(member);
    } else if (errno != EINTR) {
      return;
    }
  }
}

void crew_listen(struct crew *crew, int64_t until_ms) {
  struct pollfd polled[CREW_MAX];
  int i;
  int64_t left_ms = until_ms - crew_now_ms();
  for (i = 0; i < crew->size; ++i) {
    polled[i].fd = crew->members[i].output;
    polled[i].events = POLLIN;
    polled[i].revents = 0;
  }
  if (poll(polled, (nfds_t)crew->size, left_ms > 0 ? (int)left_ms : 0) <= 0) return;
  for (i = 0; i < crew->size; ++i) {
    if (polled[i].revents != 0) drain(crew, i);
  }
}

void crew_watch(struct crew *crew, int64_t token) {
  crew->watched = token;
  crew->watched_by = -1;
  crew->watched_ms = 0;
}

int crew_tally(const struct crew *crew, char text[CREW_TALLY_SIZE]) {
  int64_t wrote[LANGUAGE_COUNT] = {0};
  int workers[LANGUAGE_COUNT] = {0};
  int has_each = 1;
  size_t length = 0;
  int i;
  for (i = 0; i < crew->size; ++i) {
    wrote[crew->members[i].language] += crew->members[i].wrote;
    workers[crew->members[i].language] += 1;
  }
  text[0] = '\0';
  for (i = 0; i < LANGUAGE_COUNT && length < CREW_TALLY_SIZE; ++i) {
    if (workers[i] == 0) continue;
    has_each = has_each && wrote[i] > 0;
    length += (size_t)snprintf(text + length, CREW_TALLY_SIZE - length, "%s%s %" PRId64,
                               length == 0 ? "" : ", ", languages[i].title, wrote[i]);
  }
  return has_each;
}

int crew_running(const struct crew *crew) {
  int i;
  int running = 0;
  for (i = 0; i < crew->size; ++i) running += crew->members[i].output >= 0;
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

/* Whether all that it has written it has also told. */
static int has_told_all(const struct crew *crew, const struct member *member) {
  struct attempt_count count = {0, 0};
  count.process = (long)member->process;
  if (store_each_record(crew->folder, count_attempt, &count) != 0) return 0;
  return count.attempts == member->wrote + member->refused;
}

int crew_catch(struct crew *crew, int index) {
  struct member *member = &crew->members[index];
  int is_caught = 0;
  int status = 0;
  int store = store_close(crew->folder);
  if (store < 0) return 0;
  if (kill(member->process, SIGSTOP) == 0) {
    pid_t stopped;
    do {
      stopped = waitpid(member->process, &status, WUNTRACED);
    } while (stopped < 0 && errno == EINTR);
    if (stopped == member->process && WIFSTOPPED(status)) {
      drain(crew, index);
      is_caught = member->step == STEP_HOLDING && has_told_all(crew, member);
      if (!is_caught) crew_continue(crew, index);
    } else {
      /* It has ended by itself just now; `collect` finds nothing left to wait for. */
      member->exit_status = status;
    }
  }
  store_open(store);
  return is_caught;
}

void crew_continue(struct crew *crew, int index) { kill(crew->members[index].process, SIGCONT); }

void crew_kill(struct crew *crew, int index) {
  struct member *member = &crew->members[index];
  member->is_killed = 1;
  kill(member->process, SIGKILL);
  drain(crew, index);
}

void crew_end(struct crew *crew) {
  int i;
  crew_start(crew);
  for (i = 0; i < crew->size; ++i) {
    if (crew->members[i].output < 0) continue;
    kill(crew->members[i].process, SIGKILL);
    collect(&crew->members[i]);
  }
}
