/* What the demo was asked for on its command line. */
#ifndef DEMO_SETTINGS_H
#define DEMO_SETTINGS_H

#include <stdint.h>

#include "language.h"

struct settings {
  int is_safe;
  int workers;
  int64_t run_ms;
  int64_t lease_ms;
  const char *url;
  int languages[LANGUAGE_COUNT]; /* those that take part, as indices */
  int language_count;
};

enum settings_result { SETTINGS_READ, SETTINGS_HELP, SETTINGS_WRONG };

/* Prints the faults itself, and the help. */
enum settings_result settings_read(struct settings *settings, int count, char **arguments);

#endif
