package org.mortise;

import java.util.concurrent.CompletableFuture;

/**
 * What tells the loss of one lease. Who has it keeps the lease; who tells it does not keep either.
 */
final class LossFuture extends CompletableFuture<LossReason> {
  /** Only kept; null for a {@link HoldReport}. */
  private final Lease lease;

  LossFuture(Lease lease) {
    this.lease = lease;
  }
}
