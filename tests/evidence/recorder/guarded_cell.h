/* What the locks guard, in a file that all recorders map: per name a register that checks fencing
   tokens, and one that does not. Both count lost updates, which are writes to a register that has
   changed since the writer read it. */
#ifndef MORTISE_TESTS_GUARDED_CELL_H
#define MORTISE_TESTS_GUARDED_CELL_H

#include <stdbool.h>
#include <stdint.h>

__extension__ typedef unsigned __int128 fenced_value;

/* tests/evidence/run_slice reads it, too. */
struct cell {
  fenced_value fenced; /* the highest token that it has seen, and the version */
  int64_t plain;       /* the version */
  int64_t last_version;
  int64_t fenced_writes, fenced_refusals, fenced_losses;
  int64_t plain_writes, plain_losses;
  int64_t unused;
};

/* The versions of both registers that a client has read. */
struct reading {
  int64_t fenced, plain;
};

/* Ends the program if the file cannot be used. */
struct cell* cells_open(const char* path, int count);
/* The read carries the token, too. Otherwise an earlier holder could write after it. */
struct reading cell_read(struct cell* cell, int64_t token);
/* Writes to both registers. Whether the fenced one accepts it; `highest` receives the token that
   refuses it, otherwise 0. */
bool cell_write(struct cell* cell, struct reading read, int64_t token, int64_t* highest);

#endif
