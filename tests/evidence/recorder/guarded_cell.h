/* What the locks guard, in a file that all recorders map: per name a register that checks fencing
   tokens, and one that does not. Both count lost updates, which are writes to a register that has
   changed since the writer read it. */
#ifndef MORTISE_TESTS_GUARDED_CELL_H
#define MORTISE_TESTS_GUARDED_CELL_H

#include <stdbool.h>
#include <stdint.h>

/* tests/evidence/run_slice reads it, too. */
struct cell {
  int64_t highest;       /* the highest token that the fenced register has seen */
  int64_t fenced, plain; /* versions */
  int64_t last_version;
  int64_t fenced_writes, fenced_refusals, fenced_losses;
  int64_t plain_writes, plain_losses;
};

/* The cells as one client sees them. A lock of the kernel guards each cell, and ends with a process
   that is killed. */
struct guarded_cells {
  int fd;
  struct cell* cells;
};

/* The versions of both registers that a client has read. */
struct reading {
  int64_t fenced, plain;
};

/* Ends the program if the file cannot be used. */
struct guarded_cells cells_open(const char* path, int count);
/* The read carries the token, too. Otherwise an earlier holder could write after it. */
struct reading cell_read(const struct guarded_cells* all, int number, int64_t token);
/* Writes to both registers. Whether the fenced one accepts it; `highest` receives the token that
   refuses it, otherwise 0. */
bool cell_write(const struct guarded_cells* all, int number, struct reading read, int64_t token,
                int64_t* highest);

#endif
