#include "evidence/recorder/guarded_cell.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static fenced_value value_of(int64_t token, int64_t version) {
  return (fenced_value)(uint64_t)token << 64 | (uint64_t)version;
}
static int64_t token_in(fenced_value value) { return (int64_t)(value >> 64); }
static int64_t version_in(fenced_value value) { return (int64_t)value; }

/* In one instruction, because a process may be killed at any other point. */
static bool replace(struct cell* cell, fenced_value* seen, fenced_value next) {
  const fenced_value found = __sync_val_compare_and_swap(&cell->fenced, *seen, next);
  const bool is_replaced = found == *seen;
  *seen = found;
  return is_replaced;
}

static fenced_value load(struct cell* cell) {
  return __sync_val_compare_and_swap(&cell->fenced, 0, 0);
}

static void count(int64_t* number) { __atomic_add_fetch(number, 1, __ATOMIC_SEQ_CST); }

struct cell* cells_open(const char* path, int number) {
  const size_t size = (size_t)number * sizeof(struct cell);
  const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  void* cells = MAP_FAILED;
  if (fd >= 0 && ftruncate(fd, (off_t)size) == 0) {
    cells = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  if (cells == MAP_FAILED) {
    perror(path);
    exit(1);
  }
  close(fd);
  return cells;
}

struct reading cell_read(struct cell* cell, int64_t token) {
  fenced_value seen = load(cell);
  while (token > token_in(seen) && !replace(cell, &seen, value_of(token, version_in(seen)))) {
  }
  return (struct reading){version_in(seen), __atomic_load_n(&cell->plain, __ATOMIC_SEQ_CST)};
}

bool cell_write(struct cell* cell, struct reading read, int64_t token, int64_t* highest) {
  const int64_t version = __atomic_add_fetch(&cell->last_version, 1, __ATOMIC_SEQ_CST);
  count(&cell->plain_writes);
  if (__atomic_exchange_n(&cell->plain, version, __ATOMIC_SEQ_CST) != read.plain) {
    count(&cell->plain_losses);
  }
  *highest = 0;
  fenced_value seen = load(cell);
  do {
    if (token < token_in(seen)) {
      count(&cell->fenced_refusals);
      *highest = token_in(seen);
      return false;
    }
  } while (!replace(cell, &seen, value_of(token, version)));
  count(&cell->fenced_writes);
  if (version_in(seen) != read.fenced) count(&cell->fenced_losses);
  return true;
}
