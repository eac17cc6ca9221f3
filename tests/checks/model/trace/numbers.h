/* Reads the numbers that `traces` makes of a trace, and reports the result. Included by the header
   of each model that replays traces. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static int events;

static void refuse(int line, const char* format, ...) {
  va_list values;
  printf("refused at event %d: ", line + 1);
  va_start(values, format);
  vprintf(format, values);
  va_end(values);
  printf("\n");
  exit(1);
}

static FILE* open_numbers(void) {
  const char* const name = getenv("REPLAY_TRACE");
  FILE* const from = name ? fopen(name, "r") : NULL;
  if (!from) {
    printf("unreadable: REPLAY_TRACE names no file\n");
    exit(3);
  }
  return from;
}

static int next_number(FILE* from) {
  int number;
  if (fscanf(from, "%d", &number) != 1) {
    printf("unreadable: a number is missing\n");
    exit(3);
  }
  return number;
}

static void read_numbers(FILE* from, int* into, int count) {
  for (int i = 0; i < count; ++i) into[i] = next_number(from);
}

static void same(int line, const char* what, int in_model, int in_trace) {
  if (in_model != in_trace) {
    refuse(line, "%s is %d in the model and %d in the trace", what, in_model, in_trace);
  }
}

static void accept_trace(void) {
  printf("accepted: %d events\n", events);
  exit(0);
}
