package org.mortise;

import java.util.concurrent.CompletableFuture;

/**
 * What tells the loss of one lease. Who has it keeps the lease; who tells it does not keep either.
 */
final class LossFuture extends CompletableFuture<LossReason> {
  private final Lease lease;

  LossFuture(Lease lease) {
    this.lease = lease;
  }

  /**
   * A loss of the owner that holds the lease.
   *
   * @param token that of the hold which was lost; it may be an earlier one
   */
  void tell(long token, LossReason reason) {
    if (token >= lease.token() && lease.isLost()) complete(reason);
  }
}
