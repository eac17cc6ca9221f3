/* What the demo came to, judged by the file, by the log of writes and by what the workers told. */
#ifndef DEMO_VERDICT_H
#define DEMO_VERDICT_H

#include <stdint.h>

#include "workers.h"

/* What the supervisor did; times are of workers_now_ms, 0 for what did not happen. */
struct story {
  int is_safe;
  int64_t lease_ms;
  int killed; /* which worker, -1 for none */
  int64_t killed_token;
  int64_t killed_ms;
  int64_t recovered_ms; /* when somebody held the lock after that */
  int stopped;
  int64_t stopped_token;
  int64_t stopped_ms;
  int64_t continued_ms;
};

/* Prints each finding and the severity; 1 when all is well, else 0. */
int verdict_print(const struct workers *workers, const struct story *story);

#endif
