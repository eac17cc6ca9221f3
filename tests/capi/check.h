/*
 * Assertions for the C tests. A failed one prints place and values, and ends the program, because
 * later failures would add nothing. Include this first.
 */
#ifndef MORTISE_TESTS_CHECK_H
#define MORTISE_TESTS_CHECK_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mortise/mortise.h"

static inline void check_failed(const char *file, int line, const char *what) {
  fprintf(stderr, "%s:%d: failed: %s\n", file, line, what);
  fflush(stderr);
  exit(1);
}

static inline void check_number(const char *file, int line, const char *what, int64_t expected,
                                int64_t got) {
  if (expected == got) return;
  fprintf(stderr, "%s:%d: %s is %lld, not %lld\n", file, line, what, (long long)got,
          (long long)expected);
  exit(1);
}

static inline void check_status(const char *file, int line, const char *what,
                                mortise_status expected, mortise_status got) {
  if (expected == got) return;
  fprintf(stderr, "%s:%d: %s says \"%s\" (%d), not \"%s\" (%d)\n", file, line, what,
          mortise_status_text(got), (int)got, mortise_status_text(expected), (int)expected);
  exit(1);
}

static inline void check_contains(const char *file, int line, const char *text, const char *part) {
  if (text != NULL && strstr(text, part) != NULL) return;
  fprintf(stderr, "%s:%d: \"%s\" does not contain \"%s\"\n", file, line, text ? text : "(NULL)",
          part);
  exit(1);
}

/* A message is one line, names the trouble and is not empty. */
static inline void check_error(const char *file, int line, const mortise_error *error,
                               mortise_status expected, const char *part) {
  check_status(file, line, "the error", expected, mortise_error_status(error));
  const char *message = mortise_error_message(error);
  if (message[0] == '\0' || strchr(message, '\n') != NULL) {
    fprintf(stderr, "%s:%d: not one line of text: \"%s\"\n", file, line, message);
    exit(1);
  }
  check_contains(file, line, message, part);
}

#define CHECK(condition) ((condition) ? (void)0 : check_failed(__FILE__, __LINE__, #condition))
#define CHECK_NUMBER(expected, got) check_number(__FILE__, __LINE__, #got, (expected), (got))
#define CHECK_STATUS(expected, got) check_status(__FILE__, __LINE__, #got, (expected), (got))
#define CHECK_CONTAINS(text, part) check_contains(__FILE__, __LINE__, (text), (part))
#define CHECK_ERROR(error, expected, part) \
  check_error(__FILE__, __LINE__, (error), (expected), (part))
#define RUN(test) (fprintf(stderr, "%s\n", #test), test())

#endif
