#include "evidence/recorder/history_file.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
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

int64_t* register_open(const char* path, int names) {
  const size_t size = (size_t)names * sizeof(int64_t);
  const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0 || ftruncate(fd, (off_t)size) != 0) fail(path);
  void* cells = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (cells == MAP_FAILED) fail(path);
  close(fd);
  return cells;
}

bool register_write(int64_t* cell, int64_t token, int64_t* highest) {
  int64_t seen = __atomic_load_n(cell, __ATOMIC_SEQ_CST);
  while (token >= seen) {
    if (__atomic_compare_exchange_n(cell, &seen, token, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST)) {
      *highest = 0;
      return true;
    }
  }
  *highest = seen;
  return false;
}
