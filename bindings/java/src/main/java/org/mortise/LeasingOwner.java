package org.mortise;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongBinaryOperator;

/** An owner that acquires in one way only. */
abstract sealed class LeasingOwner extends Owner implements Acquirable
    permits Mutex, Semaphore, Multi {
  LeasingOwner(MortiseClient client, Name name, MortiseOptions options, OwnerCalls calls,
      LongBinaryOperator make) {
    super(client, name, options, calls, make);
  }

  abstract Mode mode();

  @Override
  public Optional<Lease> tryAcquire() {
    return mode().tryAcquire();
  }

  @Override
  public Optional<Lease> tryAcquire(Duration timeout) throws InterruptedException {
    return mode().tryAcquire(timeout);
  }

  @Override
  public Lease acquire() throws InterruptedException {
    return mode().acquire();
  }

  @Override
  public CompletableFuture<Optional<Lease>> tryAcquireAsync() {
    return mode().tryAcquireAsync();
  }

  @Override
  public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration timeout) {
    return mode().tryAcquireAsync(timeout);
  }

  @Override
  public CompletableFuture<Lease> acquireAsync() {
    return mode().acquireAsync();
  }
}
