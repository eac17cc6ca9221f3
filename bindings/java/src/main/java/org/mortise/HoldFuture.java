package org.mortise;

import java.util.concurrent.CompletableFuture;

/** A notice about one lease. The future keeps the lease, and the watch keeps neither. */
final class HoldFuture<T> extends CompletableFuture<T> {
  /** Only kept; null for a {@link HoldReport}. */
  private final Lease lease;

  HoldFuture(Lease lease) {
    this.lease = lease;
  }

  /** Ends a report, because the owner or a member of the multi was closed. A lease has no loss. */
  void close() {
    if (lease == null) cancel(false);
  }
}
