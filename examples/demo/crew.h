/*
 * The workers as the demo's supervisor sees them: processes that report line by line what they do
 * (the contract is in worker.c), and that can be killed or stopped at the worst moment.
 */
#ifndef DEMO_CREW_H
#define DEMO_CREW_H

#include <stdint.h>
#include <sys/types.h>

enum { CREW_MAX = 64, CREW_LINE_SIZE = 512, CREW_TALLY_SIZE = 160 };

enum member_step { STEP_IDLE, STEP_HOLDING, STEP_DONE, STEP_FAILED };

struct member {
  int language; /* an index of languages */
  pid_t process;
  int output; /* what it tells, or -1 when it has ended */
  char line[CREW_LINE_SIZE];
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
  char failure[CREW_LINE_SIZE];
};

struct crew {
  const char *folder;
  struct member members[CREW_MAX];
  int size;
  int gate[2];        /* a pipe that all read; the end of it is their start */
  int64_t holds;      /* how often somebody came to hold the lock */
  int64_t wrote;      /* how many increments were reported */
  int latest;         /* who came to hold it last; -1 before the first */
  int64_t watched;    /* a token: the first hold above it … */
  int watched_by;     /* … was this member's, -1 when there was none yet, */
  int64_t watched_ms; /* … and came at this time */
};

/* What every worker is started with: the arguments of worker.c. */
struct crew_orders {
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

int64_t crew_now_ms(void);
/* 0, or -1 with errno; crew_end in the end. */
int crew_init(struct crew *crew, const char *folder);
/* Adds one more worker, which gets ready; 0, or -1 with errno. */
int crew_add(struct crew *crew, const struct crew_orders *orders);
/* Whether each is ready or has failed already. */
int crew_is_ready(const struct crew *crew);
/* Starts all. */
void crew_start(struct crew *crew);
/* Takes in what the workers tell, waiting for it until `until_ms` at most. */
void crew_listen(struct crew *crew, int64_t until_ms);
/* Calls out for the first hold with a token above this one: crew->watched_by and watched_ms. */
void crew_watch(struct crew *crew, int64_t token);
/* Writes how many increments each language has told of, as "C 12, Lua 11"; 1 if none has none. */
int crew_tally(const struct crew *crew, char text[CREW_TALLY_SIZE]);
/* How many still run. */
int crew_running(const struct crew *crew);

/*
 * Stops a worker that holds the lock and has not written yet; 1 when that succeeded. Only the
 * supervisor can know: it keeps the store closed meanwhile, so that the worker is not stopped in
 * its compare-and-write, and then checks everything that the worker has reported and written.
 */
int crew_catch(struct crew *crew, int index);
void crew_continue(struct crew *crew, int index);
void crew_kill(struct crew *crew, int index);
/* Kills and collects all that still run. */
void crew_end(struct crew *crew);

#endif
