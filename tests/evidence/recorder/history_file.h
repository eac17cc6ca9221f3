/* The history of a recorder. */
#ifndef MORTISE_TESTS_HISTORY_FILE_H
#define MORTISE_TESTS_HISTORY_FILE_H

#include <stddef.h>
#include <stdint.h>

enum { line_size = 512, most_members = 4 };

/* The lines of one call, which are written at once. */
struct lines {
  char text[line_size * most_members];
  size_t length;
};

/* printf into the lines, and what ends a line. */
void lines_add(struct lines* lines, const char* format, ...) __attribute__((format(printf, 2, 3)));

/* Both end the program if the file cannot be used. */
int history_open(const char* path);
void history_write(int fd, const struct lines* lines);

/* CLOCK_BOOTTIME in nanoseconds. */
int64_t now_ns(void);

#endif
