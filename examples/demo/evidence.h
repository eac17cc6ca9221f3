/* The result of the demo, from the file, the log of writes and the reports of the workers. */
#ifndef DEMO_EVIDENCE_H
#define DEMO_EVIDENCE_H

#include <stdint.h>

#include "workers.h"

/* What the supervisor did; times are of workers_now_ms, 0 for what did not happen. */
struct story {
  int is_safe;
  int64_t lease_ms;
  int killed; /* which worker, -1 for none */
  int64_t killed_token;
  int64_t killed_ms;
  int64_t recovered_ms; /* when a worker held the lock after that */
  int stopped;
  int64_t stopped_token;
  int64_t stopped_ms;
  int64_t continued_ms;
};

/* Prints each finding and the result. Returns 1 if all is well, 0 otherwise. */
int evidence_print(const struct workers *workers, const struct story *story);

#endif
