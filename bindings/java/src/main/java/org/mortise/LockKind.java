package org.mortise;

/** The kind of a wait or a hold that a {@link LockListener} receives. */
public enum LockKind {
  /** A mutex. */
  MUTEX,
  /** A read-write lock, for reading. */
  READ,
  /** A read-write lock, for writing. */
  WRITE,
  /** Permits of a semaphore. */
  SEMAPHORE,
  /** All members of a {@link Multi}. */
  MULTI
}
