package org.mortise;

import java.util.concurrent.CompletableFuture;

/**
 * One acquire of an owner, which takes one at a time. When nobody wants it any more, the owner is
 * free only after what it may have been granted is given back: then it is over.
 */
abstract class Pending {
  /** That of a thread which sees to its end by itself. */
  static final Pending IN_A_CALL =
      new Pending() {
        @Override
        boolean isGivenUp() {
          return false;
        }
      };

  private final CompletableFuture<Void> over = new CompletableFuture<>();

  /** Whether its user no longer waits for it. */
  abstract boolean isGivenUp();

  /** Whether its user has the lease, although it has not left its turn yet. */
  boolean isTold() {
    return false;
  }

  /** Ends the wait of one that is given up, where that has not been done; may be called again. */
  void end() {}

  CompletableFuture<Void> over() {
    return over;
  }
}
