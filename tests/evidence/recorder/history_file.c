#include "evidence/recorder/history_file.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void fail(const char* path) {
  perror(path);
  exit(1);
}

void lines_add(struct lines* lines, const char* format, ...) {
  const size_t room = sizeof lines->text - lines->length;
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(lines->text + lines->length, room, format, arguments);
  va_end(arguments);
  if (length < 0 || (size_t)length >= room) fail("a line is too long");
  lines->length += (size_t)length;
}

int history_open(const char* path) {
  const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) fail(path);
  return fd;
}

void history_write(int fd, const struct lines* lines) {
  /* A write that is cut short would leave a line that is none. */
  if (write(fd, lines->text, lines->length) != (ssize_t)lines->length) fail("the history");
}

int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_BOOTTIME, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
