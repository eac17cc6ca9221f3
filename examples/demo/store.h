/*
 * The resource that the demo protects: a number in an ordinary file, with the fencing token of the
 * last write. It is a fenced store: it refuses a write whose token is lower than the highest that
 * the file has seen. Only that makes a lease safe (rule 3 of mortise.h).
 *
 *   FOLDER/number   one line: the number and the token, each padded to 20 characters
 *   FOLDER/writes   one line for every attempt to write, in their true order:
 *                   "wrote PROCESS NUMBER TOKEN" or "refused PROCESS NUMBER TOKEN HIGHEST"
 *
 * The compare-and-write itself is one instant under a record lock (fcntl, F_SETLKW) on the whole of
 * FOLDER/number: the kind of file lock that all languages of the demo have. It makes the comparison
 * and the log exact, and protects nothing else. Mortise alone decides which worker may increment,
 * because the number is read before and outside of it.
 */
#ifndef DEMO_STORE_H
#define DEMO_STORE_H

#include <stdint.h>

enum { STORE_PATH_SIZE = 512, STORE_LINE_SIZE = 160 };

enum store_result { STORE_WROTE, STORE_REFUSED, STORE_FAILED };

struct store_value {
  int64_t number;
  int64_t token;
};

/* One line of FOLDER/writes. */
struct store_record {
  int is_refused;
  long process;
  int64_t number;
  int64_t token;
  int64_t highest; /* only when refused */
};

/* 0, or -1 with errno, like all functions of this file that return int. */
int store_create(const char *folder);
void store_remove(const char *folder);
int store_read(const char *folder, struct store_value *value);
/* With `is_fenced` a token lower than that in the file is refused, and `*highest` has the
   reason. */
enum store_result store_write(const char *folder, const struct store_value *value, int is_fenced,
                              int64_t *highest);

/* Keeps everybody out of the compare-and-write until store_open; returns a descriptor or -1. */
int store_close(const char *folder);
void store_open(int descriptor);

/* Calls `visit` for each attempt to write, in their order. */
int store_each_record(const char *folder, void (*visit)(const struct store_record *, void *),
                      void *context);

#endif
