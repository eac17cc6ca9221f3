/*
 * The demo's supervisor. It starts workers in several languages (worker.c and its like), which
 * increment one number in a file under one lock. It kills one of them and stops another one beyond
 * its lease, each while it holds the lock. It shows the events, and judges the result by the
 * evidence (evidence.h).
 *
 * Exit status: 0 for a good result; 1 for a bad one, which is the purpose of `--unsafe`; 2 if the
 * demo could not be run; 130 after Ctrl-C.
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <inttypes.h>
#include <mortise/mortise.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "evidence.h"
#include "language.h"
#include "settings.h"
#include "store.h"
#include "workers.h"

enum { EXIT_BAD = 1, EXIT_NOT_RUN = 2, EXIT_INTERRUPTED = 130 };
enum { PAUSE_MS = 5, RATE_STEPS = 5, RATE_STEP_MS = 200, READY_MS = 60000 };

struct demo {
  struct settings settings;
  char folder[64];
  char lock[64];
  struct workers workers;
  struct story story;
  int64_t begin_ms;
  int is_terminal;
  int is_refusal_seen;
  int64_t holds_before[RATE_STEPS]; /* the count of holds one to RATE_STEPS steps ago */
  int steps;
};

static volatile sig_atomic_t is_interrupted = 0;

static void interrupt(int signal_number) {
  (void)signal_number;
  is_interrupted = 1;
}

/* ---- output -------------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void tell(const struct demo *demo, const char *format,
                                                       ...) {
  va_list arguments;
  if (demo->is_terminal) fputs("\r\033[K", stdout);
  printf("%6.1f s  ", (double)(workers_now_ms() - demo->begin_ms) / 1000);
  va_start(arguments, format);
  vprintf(format, arguments);
  va_end(arguments);
  putchar('\n');
  fflush(stdout);
}

static const char *title_of(const struct demo *demo, int index) {
  return languages[demo->workers.members[index].language].title;
}

static const char *state_of(const struct demo *demo, int index) {
  const struct story *story = &demo->story;
  if (index == story->killed) return " (dead)";
  return index == story->stopped && story->continued_ms == 0 ? " (stopped)" : "";
}

/* Every RATE_STEP_MS: on a terminal one line that changes, otherwise a line each second. */
static void show(struct demo *demo) {
  const struct workers *workers = &demo->workers;
  const int slot = demo->steps % RATE_STEPS;
  const int64_t rate = workers->holds - demo->holds_before[slot];
  char holder[96] = "";
  char by_language[WORKERS_BY_LANGUAGE_SIZE];
  demo->holds_before[slot] = workers->holds;
  demo->steps += 1;
  if (!demo->is_terminal && slot != RATE_STEPS - 1) return;
  if (workers->latest >= 0 && demo->settings.is_safe) {
    snprintf(holder, sizeof holder, "  worker %d (%s)%s, token %" PRId64, workers->latest + 1,
             title_of(demo, workers->latest), state_of(demo, workers->latest),
             workers->members[workers->latest].token);
  }
  /* Cut off at the margin, as a line that went on below could not be replaced. */
  if (demo->is_terminal) fputs("\r\033[K\033[?7l", stdout);
  workers_by_language(workers, by_language);
  printf("%6.1f s  %6" PRId64 " increments (%s)  %5" PRId64 " %s/s%s",
         (double)(workers_now_ms() - demo->begin_ms) / 1000, workers->wrote, by_language, rate,
         demo->settings.is_safe ? "handoffs" : "turns", holder);
  fputs(demo->is_terminal ? "\033[?7h" : "\n", stdout);
  fflush(stdout);
}

/* ---- faults -------------------------------------------------------------------------------- */

/* One that holds the lock and has been caught so; -1 when none was this time. */
static int catch_holder(struct demo *demo) {
  int i;
  for (i = 0; i < demo->workers.size; ++i) {
    const struct member *member = &demo->workers.members[i];
    if (member->output >= 0 && member->step == STEP_HOLDING && workers_catch(&demo->workers, i))
      return i;
  }
  return -1;
}

static const char *where_caught(const struct demo *demo) {
  return demo->settings.is_safe ? "while it holds the lock" : "between reading and writing";
}

static void kill_one(struct demo *demo) {
  struct story *story = &demo->story;
  story->killed = catch_holder(demo);
  if (story->killed < 0) return;
  story->killed_token = demo->workers.members[story->killed].token;
  story->killed_ms = workers_now_ms();
  workers_watch(&demo->workers, story->killed_token);
  workers_kill(&demo->workers, story->killed);
  tell(demo, "worker %d (%s) killed by SIGKILL %s", story->killed + 1,
       title_of(demo, story->killed), where_caught(demo));
}

static void see_recovery(struct demo *demo) {
  struct story *story = &demo->story;
  if (demo->settings.is_safe && demo->workers.watched_by < 0) return;
  story->recovered_ms = demo->settings.is_safe ? demo->workers.watched_ms : story->killed_ms;
  if (!demo->settings.is_safe) return;
  tell(demo, "worker %d (%s) holds the lock, after a stall of %.2f s", demo->workers.watched_by + 1,
       title_of(demo, demo->workers.watched_by),
       (double)(story->recovered_ms - story->killed_ms) / 1000);
}

static void stop_one(struct demo *demo) {
  struct story *story = &demo->story;
  story->stopped = catch_holder(demo);
  if (story->stopped < 0) return;
  story->stopped_token = demo->workers.members[story->stopped].token;
  story->stopped_ms = workers_now_ms();
  workers_watch(&demo->workers, story->stopped_token);
  tell(demo, "worker %d (%s) stopped by SIGSTOP %s", story->stopped + 1,
       title_of(demo, story->stopped), where_caught(demo));
}

/* After the certain end of its lease, and a write of another worker. */
static void continue_it(struct demo *demo) {
  struct story *story = &demo->story;
  struct store_value value;
  const int64_t now_ms = workers_now_ms();
  if (now_ms < story->stopped_ms + story->lease_ms * 5 / 4) return;
  if (demo->settings.is_safe &&
      (store_read(demo->folder, &value) != 0 || value.token <= story->stopped_token)) {
    return;
  }
  story->continued_ms = now_ms;
  workers_continue(&demo->workers, story->stopped);
  tell(demo, "worker %d (%s) continued by SIGCONT after %.2f s, and writes", story->stopped + 1,
       title_of(demo, story->stopped), (double)(now_ms - story->stopped_ms) / 1000);
}

static void see_refusal(struct demo *demo) {
  const struct member *member = &demo->workers.members[demo->story.stopped];
  if (member->lost_token != demo->story.stopped_token) return;
  demo->is_refusal_seen = 1;
  tell(demo, "worker %d (%s): %sits unlock returned LOST", demo->story.stopped + 1,
       title_of(demo, demo->story.stopped),
       member->refused_token == member->lost_token ? "its write was refused, and " : "");
}

/* The next thing to do, if its time has come. */
static void direct(struct demo *demo) {
  struct story *story = &demo->story;
  const int64_t elapsed_ms = workers_now_ms() - demo->begin_ms;
  const int64_t run_ms = demo->settings.run_ms;
  if (story->killed < 0) {
    if (elapsed_ms >= run_ms / 4 && elapsed_ms < run_ms) kill_one(demo);
  } else if (story->recovered_ms == 0) {
    see_recovery(demo);
  } else if (story->stopped < 0) {
    if (elapsed_ms >= run_ms / 2 && elapsed_ms < run_ms) stop_one(demo);
  } else if (story->continued_ms == 0) {
    continue_it(demo);
  } else if (demo->settings.is_safe && !demo->is_refusal_seen) {
    see_refusal(demo);
  }
}

/* ---- the run ----------------------------------------------------------------------------- */

static int fail(const char *step) {
  fprintf(stderr, "demo: %s: %s\n", step, strerror(errno));
  return EXIT_NOT_RUN;
}

/* SIGPIPE too, which comes when our output is no longer read: clean up even then. */
static void catch_signals(void) {
  static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
  struct sigaction action;
  size_t i;
  memset(&action, 0, sizeof action);
  action.sa_handler = interrupt;
  for (i = 0; i < sizeof signals / sizeof *signals; ++i) sigaction(signals[i], &action, NULL);
}

static int start_workers(struct demo *demo) {
  const struct settings *settings = &demo->settings;
  struct workers_orders orders = {0};
  char program[LANGUAGE_PATH_SIZE];
  int i;
  orders.url = settings->url;
  orders.lock = demo->lock;
  orders.folder = demo->folder;
  orders.run_ms = settings->run_ms;
  orders.lease_ms = settings->lease_ms;
  orders.pause_ms = PAUSE_MS;
  orders.is_safe = settings->is_safe;
  for (i = 0; i < settings->workers; ++i) {
    orders.language = settings->languages[i % settings->language_count];
    if (language_program(orders.language, program) != 0) return -1;
    orders.program = program;
    if (workers_add(&demo->workers, &orders) != 0) return -1;
  }
  return 0;
}

/* Some languages need a second. A worker that never gets ready shows in the result. */
static void get_ready(struct demo *demo) {
  const int64_t begin_ms = workers_now_ms();
  while (!is_interrupted && !workers_is_ready(&demo->workers) &&
         workers_now_ms() < begin_ms + READY_MS) {
    workers_listen(&demo->workers, workers_now_ms() + RATE_STEP_MS);
  }
  demo->begin_ms = workers_now_ms();
  if (is_interrupted) return;
  tell(demo, "the workers start, ready after %.1f s", (double)(demo->begin_ms - begin_ms) / 1000);
  workers_start(&demo->workers);
}

static int run(struct demo *demo) {
  /* The last wait may still be answered after the end, and a stopped worker has to write. */
  const int64_t patience_ms = 3 * demo->settings.lease_ms + 10000;
  int64_t next_ms;
  if (start_workers(demo) != 0) {
    fail("cannot start the workers");
    workers_end(&demo->workers);
    return EXIT_NOT_RUN;
  }
  get_ready(demo);
  next_ms = demo->begin_ms + RATE_STEP_MS;
  while (!is_interrupted && workers_running(&demo->workers) > 0) {
    workers_listen(&demo->workers, next_ms);
    direct(demo);
    if (workers_now_ms() >= next_ms) {
      show(demo);
      next_ms += RATE_STEP_MS;
    }
    if (workers_now_ms() > demo->begin_ms + demo->settings.run_ms + patience_ms) break;
  }
  workers_end(&demo->workers);
  if (demo->is_terminal) fputs("\r\033[K", stdout);
  if (is_interrupted) {
    puts("interrupted");
    return EXIT_INTERRUPTED;
  }
  return evidence_print(&demo->workers, &demo->story) ? 0 : EXIT_BAD;
}

/* With the server there and the folder made. */
static int run_in_folder(struct demo *demo) {
  int result = EXIT_NOT_RUN;
  snprintf(demo->folder, sizeof demo->folder, "/tmp/mortise-demo-XXXXXX");
  if (mkdtemp(demo->folder) == NULL) return fail("/tmp");
  snprintf(demo->lock, sizeof demo->lock, "demo:%s", strrchr(demo->folder, '-') + 1);
  if (workers_init(&demo->workers, demo->folder) == 0 && store_create(demo->folder) == 0) {
    result = run(demo);
  } else {
    fail(demo->folder);
  }
  if (result == EXIT_BAD && demo->settings.is_safe) {
    printf("the evidence is in %s\n", demo->folder);
  } else {
    store_remove(demo->folder);
  }
  return result;
}

static int run_with_server(struct demo *demo) {
  const struct settings *settings = &demo->settings;
  mortise_error *error = mortise_error_new();
  mortise_client *client;
  int result = EXIT_NOT_RUN;
  int i;
  /* A server that this demo has started ends soon after it. */
  setenv("MORTISE_LOCAL_IDLE_S", "5", 0);
  client = mortise_client_new(settings->url, strlen(settings->url), NULL, error);
  if (client == NULL) {
    fprintf(stderr, "demo: %s: %s\n", settings->url, mortise_error_message(error));
  } else {
    printf("Mortise %s on %s - %d processes in", mortise_version_text(), settings->url,
           settings->workers);
    for (i = 0; i < settings->language_count; ++i) {
      printf("%s %s", i == 0 ? "" : ",", languages[settings->languages[i]].title);
    }
    printf(" increment one number in a file for %.0f s, %s\n", (double)settings->run_ms / 1000,
           settings->is_safe ? "under one lock" : "WITHOUT the lock");
    fflush(stdout);
    result = run_in_folder(demo);
  }
  mortise_client_free(client);
  mortise_error_free(error);
  return result;
}

int main(int argument_count, char **arguments) {
  static struct demo demo;
  switch (settings_read(&demo.settings, argument_count, arguments)) {
    case SETTINGS_READ:
      break;
    case SETTINGS_HELP:
      return 0;
    case SETTINGS_WRONG:
      return EXIT_NOT_RUN;
  }
  demo.story.is_safe = demo.settings.is_safe;
  demo.story.lease_ms = demo.settings.lease_ms;
  demo.story.killed = -1;
  demo.story.stopped = -1;
  demo.is_terminal = isatty(STDOUT_FILENO);
  catch_signals();
  return run_with_server(&demo);
}
