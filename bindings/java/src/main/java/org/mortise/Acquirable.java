package org.mortise;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A lock or permits that can be acquired, as a lease. An acquire without success returns an empty
 * {@link Optional}. Every other failure is a {@link MortiseException}, thrown or in the future.
 *
 * <p>Futures are completed on the client's callback executor. Completing a future by hand, by
 * {@code cancel} or {@code orTimeout}, ends the wait. A grant that wins the race is released.
 * Completing a dependent future, as {@code thenApply} makes it, does not end the wait.
 *
 * <p>A grant to a canceled or interrupted acquire is released in the background. Until then the
 * next acquire of its owner waits for this release, within its own time. Other calls of the owner
 * behave as if it held nothing.
 */
public sealed interface Acquirable permits Mode, LeasingOwner {
  /**
   * Acquires if it is free, within the client's command timeout.
   *
   * @return the lease, or empty when another owner holds it
   */
  Optional<Lease> tryAcquire();

  /**
   * Acquires, waiting for its turn in the order of arrival.
   *
   * @param timeout how long to wait; at most 366 days, rounded up to milliseconds
   * @return the lease, or empty when the timeout passed first
   * @throws InterruptedException at once if this thread is interrupted, even if the server does not
   *     reply; then nothing is held
   */
  Optional<Lease> tryAcquire(Duration timeout) throws InterruptedException;

  /**
   * Acquires, waiting for its turn for as long as necessary.
   *
   * @return the lease
   * @throws InterruptedException at once if this thread is interrupted, even if the server does not
   *     reply; then nothing is held
   */
  Lease acquire() throws InterruptedException;

  /**
   * As {@link #tryAcquire()}, without blocking.
   *
   * @return completed with the lease, or with empty when another owner holds it
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
