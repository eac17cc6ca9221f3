package org.mortise;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * What can be acquired, as a lease. Not acquired is an empty {@link Optional}; every other failure
 * is a {@link MortiseException}, thrown or in the future.
 *
 * <p>Futures are completed on the client's callback executor. Completing one by hand, by {@code
 * cancel} or {@code orTimeout}, ends the wait, and a grant that wins the race is given back.
 * Completing one that depends on it, as {@code thenApply} makes them, does not.
 *
 * <p>What was granted to an acquire that was cancelled or interrupted is given back in the
 * background. Until that is done the next acquire of its owner waits for it, within its own time,
 * and its other calls answer as for an owner that holds nothing.
 */
public interface Acquirable {
  /**
   * Acquires if it is free, within the client's command timeout.
   *
   * @return the lease, or empty when somebody else holds it
   */
  Optional<Lease> tryAcquire();

  /**
   * Acquires, waiting for its turn in the order of arrival.
   *
   * @param timeout how long to wait; at most 366 days, rounded up to milliseconds
   * @return the lease, or empty when the timeout passed first
   * @throws InterruptedException at once if this thread is interrupted, also when the server does
   *     not answer; then nothing is held
   */
  Optional<Lease> tryAcquire(Duration timeout) throws InterruptedException;

  /**
   * Acquires, waiting for its turn as long as it takes.
   *
   * @return the lease
   * @throws InterruptedException at once if this thread is interrupted, also when the server does
   *     not answer; then nothing is held
   */
  Lease acquire() throws InterruptedException;

  /**
   * As {@link #tryAcquire()}, without blocking.
   *
   * @return completed with the lease, or with empty when somebody else holds it
   */
  CompletableFuture<Optional<Lease>> tryAcquireAsync();

  /**
   * As {@link #tryAcquire(Duration)}, without blocking.
   *
   * @param timeout how long to wait
   * @return completed with the lease, or with empty when the timeout passed first
   */
  CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration timeout);

  /**
   * As {@link #acquire()}, without blocking.
   *
   * @return completed with the lease
   */
  CompletableFuture<Lease> acquireAsync();
}
