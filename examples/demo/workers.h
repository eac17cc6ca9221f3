/*
 * The workers for the demo's supervisor: processes that report each step in a line (the contract is
 * in worker.c), and that can be killed or stopped at the worst moment.
 */
#ifndef DEMO_WORKERS_H
#define DEMO_WORKERS_H

#include <stdint.h>
#include <sys/types.h>

enum { WORKERS_MAX = 64, WORKERS_LINE_SIZE = 512, WORKERS_BY_LANGUAGE_SIZE = 160 };

enum member_step { STEP_IDLE, STEP_HOLDING, STEP_DONE, STEP_FAILED };

struct member {
  int language; /* an index of languages */
  pid_t process;
  int output; /* its reports, or -1 after its end */
  char line[WORKERS_LINE_SIZE];
  size_t line_length;
  int is_ready;
  enum member_step step;
  int64_t token; /* of its latest hold */
  int64_t wrote;
  int64_t refused;
  int64_t refused_token;
  int64_t refused_highest;
  int64_t lost_token;
  int64_t done_count;
  int is_killed;
  int exit_status; /* as waitpid gives it; -1 while it runs */
  char failure[WORKERS_LINE_SIZE];
};

struct workers {
  const char *folder;
  struct member members[WORKERS_MAX];
  int size;
  int gate[2];        /* a pipe that all read; the end of it is their start */
  int64_t holds;      /* how often a worker came to hold the lock */
  int64_t wrote;      /* how many increments were reported */
  int latest;         /* the last worker that came to hold it; -1 before the first */
  int64_t watched;    /* a token: the first hold above it … */
  int watched_by;     /* … was this member's, -1 when there was none yet, */
  int64_t watched_ms; /* … and came at this time */
};

/* What every worker is started with: the arguments of worker.c. */
struct workers_orders {
  int language;
  const char *program;
  const char *url;
  const char *lock;
  const char *folder;
  int64_t run_ms;
  int64_t lease_ms;
  int64_t pause_ms;
  int is_safe;
};

int64_t workers_now_ms(void);
/* 0, or -1 with errno; workers_end in the end. */
int workers_init(struct workers *workers, const char *folder);
/* Adds one more worker, which gets ready; 0, or -1 with errno. */
int workers_add(struct workers *workers, const struct workers_orders *orders);
/* Whether each is ready or has failed already. */
int workers_is_ready(const struct workers *workers);
/* Starts all. */
void workers_start(struct workers *workers);
/* Reads the reports of the workers, and waits for them until `until_ms` at most. */
void workers_listen(struct workers *workers, int64_t until_ms);
/* Calls out for the first hold with a token above this one: workers->watched_by and watched_ms. */
void workers_watch(struct workers *workers, int64_t token);
/* Writes how many increments each language has reported, as "C 12, Lua 11". Returns 1 if each
   has some. */
int workers_by_language(const struct workers *workers, char text[WORKERS_BY_LANGUAGE_SIZE]);
/* How many still run. */
int workers_running(const struct workers *workers);

/*
 * Stops a worker that holds the lock and has not written yet; 1 on success. The supervisor keeps
 * the store closed meanwhile, so that the worker is not stopped in its compare-and-write. Then it
 * checks all reports and writes of the worker.
 */
int workers_catch(struct workers *workers, int index);
void workers_continue(struct workers *workers, int index);
void workers_kill(struct workers *workers, int index);
/* Kills and collects all that still run. */
void workers_end(struct workers *workers);

#endif
