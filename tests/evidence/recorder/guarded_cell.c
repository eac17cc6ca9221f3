#include "evidence/recorder/guarded_cell.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static void fail(const char* path) {
  perror(path);
  exit(1);
}

struct guarded_cells cells_open(const char* path, int count) {
  const size_t size = (size_t)count * sizeof(struct cell);
  const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0 || ftruncate(fd, (off_t)size) != 0) fail(path);
  void* cells = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (cells == MAP_FAILED) fail(path);
  return (struct guarded_cells){fd, cells};
}

static void set_lock(const struct guarded_cells* all, int number, short type) {
  struct flock lock = {.l_type = type,
                       .l_whence = SEEK_SET,
                       .l_start = (off_t)((size_t)number * sizeof(struct cell)),
                       .l_len = (off_t)sizeof(struct cell)};
  /* Of this open file. Threads have an open file each. */
  if (fcntl(all->fd, F_OFD_SETLKW, &lock) != 0) fail("the registers");
}

struct reading cell_read(const struct guarded_cells* all, int number, int64_t token) {
  struct cell* cell = &all->cells[number];
  set_lock(all, number, F_WRLCK);
  if (token > cell->highest) cell->highest = token;
  const struct reading found = {cell->fenced, cell->plain};
  set_lock(all, number, F_UNLCK);
  return found;
}

bool cell_write(const struct guarded_cells* all, int number, struct reading read, int64_t token,
                int64_t* highest) {
  struct cell* cell = &all->cells[number];
  set_lock(all, number, F_WRLCK);
  const int64_t version = ++cell->last_version;
  ++cell->plain_writes;
  if (cell->plain != read.plain) ++cell->plain_losses;
  cell->plain = version;
  const bool is_accepted = token >= cell->highest;
  *highest = is_accepted ? 0 : cell->highest;
  if (is_accepted) {
    cell->highest = token;
    ++cell->fenced_writes;
    if (cell->fenced != read.fenced) ++cell->fenced_losses;
    cell->fenced = version;
  } else {
    ++cell->fenced_refusals;
  }
  set_lock(all, number, F_UNLCK);
  return is_accepted;
}
