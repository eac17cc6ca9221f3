package org.mortise;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.LongToIntFunction;

/** One way in which an owner acquires: a mutex has one, a read-write lock two. */
final class Mode implements Acquirable {
  /** The native functions of this way. */
  record Calls(
      LongToIntFunction tryNow,
      OwnerCalls.Start tryLater,
      OwnerCalls.Wait acquireLater,
      LongToIntFunction unlockNow,
      OwnerCalls.Start unlockLater) {}

  private final Owner owner;
  private final Calls calls;

  Mode(Owner owner, Calls calls) {
    this.owner = owner;
    this.calls = calls;
  }

  // ---- for the Lock adapters: without leases ---------------------------------------------------

  boolean tryNow() {
    return isAcquired(tryCode());
  }

  /** Waits as long as it takes. */
  void lock() {
    if (acquiresAtOnce()) return;
    owner.core().checkMayWait();
    requireAcquired(Threads.join(waitFor(Times.FOREVER)).code());
  }

  /**
   * Whether it was free, and now is ours: this thread asks by itself, which needs no other to wake it.
   * A wait goes over the queue, where closing and interrupts end it, and where it costs no carrier of
   * virtual threads.
   */
  private boolean acquiresAtOnce() {
    if (Threads.mustNotBlock() || !owner.hasOwnLease()) return false;
    try {
      return owner.call(calls.tryNow) == Status.OK.code();
    } catch (MortiseException said) {
      return false; // What is final is said again by the call that waits.
    }
  }

  /** Waits; when interrupted, a grant that won the race is given back. */
  boolean await(long timeoutMillis) throws InterruptedException {
    if (Thread.interrupted()) throw new InterruptedException();
    // A server that does not answer may take longer than a timeout.
    if (timeoutMillis == Times.FOREVER && acquiresAtOnce()) return true;
    owner.core().checkMayWait();
    CompletableFuture<Event> end = waitFor(timeoutMillis);
    try {
      return isAcquired(Threads.get(end).code());
    } catch (InterruptedException interrupted) {
      owner.cancelQuietly();
      if (endsGranted(end)) unlockQuietly();
      throw interrupted;
    }
  }

  /** Ends the hold, and says how: OK, LOST or NOT_OWNER. */
  int unlock() {
    if (!Threads.mustNotBlock()) return owner.call(calls.unlockNow);
    return Threads.join(unlockLater()).code();
  }

  /** As {@link #unlock}. When the queue is too full for its event, a helper makes the call. */
  CompletableFuture<Event> unlockLater() {
    CompletableFuture<Event> end = owner.start(calls.unlockLater);
    if (!isRefused(end, Status.LIMIT)) return end;
    return Threads.help(() -> new Event(owner.call(calls.unlockNow), 0));
  }

  /** Whether the call was not even begun, and for this reason. */
  private static boolean isRefused(CompletableFuture<Event> end, Status why) {
    if (!end.isCompletedExceptionally()) return false;
    return end.handle((event, failure) -> failure instanceof MortiseException said && said.status() == why)
        .join();
  }

  void requireAcquired(int code) {
    if (code != Status.OK.code()) throw MortiseException.ofOutcome(code, owner.ownName());
  }

  private static boolean endsGranted(CompletableFuture<Event> end) {
    try {
      return Threads.join(end).isOk();
    } catch (MortiseException failed) {
      return false;
    }
  }

  private void unlockQuietly() {
    try {
      unlock();
    } catch (MortiseException failed) {
      // Nothing is held here; the lease ends what may be left at the server.
    }
  }

  private int tryCode() {
    if (!Threads.mustNotBlock()) return owner.call(calls.tryNow);
    return Threads.join(owner.start(calls.tryLater)).code();
  }

  private CompletableFuture<Event> waitFor(long timeoutMillis) {
    OwnerCalls.Wait call = calls.acquireLater;
    return owner.start((handle, queue, tag) -> call.start(handle, queue, tag, timeoutMillis));
  }

  private boolean isAcquired(int code) {
    if (code == Status.NOT_ACQUIRED.code() || code == Status.TIMED_OUT.code()) return false;
    requireAcquired(code);
    return true;
  }

  // ---- with leases -----------------------------------------------------------------------------

  @Override
  public Optional<Lease> tryAcquire() {
    return tryNow() ? Optional.of(lease()) : Optional.empty();
  }

  @Override
  public Optional<Lease> tryAcquire(Duration timeout) throws InterruptedException {
    return await(Times.timeoutMillis(timeout)) ? Optional.of(lease()) : Optional.empty();
  }

  @Override
  public Lease acquire() throws InterruptedException {
    // Only a protocol that gives up after so many attempts ends such a wait with nothing.
    if (!await(Times.FOREVER)) requireAcquired(Status.NOT_ACQUIRED.code());
    return lease();
  }

  @Override
  public CompletableFuture<Optional<Lease>> tryAcquireAsync() {
    return deliver(owner.start(calls.tryLater), this::leaseIfAcquired);
  }

  @Override
  public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration timeout) {
    return deliver(waitFor(Times.timeoutMillis(timeout)), this::leaseIfAcquired);
  }

  @Override
  public CompletableFuture<Lease> acquireAsync() {
    return deliver(
        waitFor(Times.FOREVER),
        event -> {
          requireAcquired(event.code());
          return lease();
        });
  }

  private Lease lease() {
    return owner.grant(this);
  }

  private Optional<Lease> leaseIfAcquired(Event event) {
    return isAcquired(event.code()) ? Optional.of(lease()) : Optional.empty();
  }

  /**
   * A future for the user. Whoever ends it first, by cancel or otherwise, ends the wait, and what was
   * granted nevertheless is given back.
   */
  private <T> CompletableFuture<T> deliver(CompletableFuture<Event> end, Function<Event, T> result) {
    var future = new CompletableFuture<T>();
    future.whenComplete(
        (value, failure) -> {
          if (!end.isDone()) owner.cancelQuietly();
        });
    end.whenComplete(
        (event, failure) -> {
          if (failure != null) {
            owner.core().callBack(() -> future.completeExceptionally(failure));
          } else if (future.isDone()) {
            if (event.isOk()) unlockLater();
          } else {
            owner.core().callBack(() -> complete(future, event, result));
          }
        });
    return future;
  }

  private <T> void complete(CompletableFuture<T> future, Event event, Function<Event, T> result) {
    T value;
    try {
      value = result.apply(event);
    } catch (MortiseException outcome) {
      future.completeExceptionally(outcome);
      return;
    }
    if (future.complete(value)) return;
    if (value instanceof Lease lease) lease.releaseAsync();
    if (value instanceof Optional<?> maybe && maybe.isPresent()) {
      ((Lease) maybe.get()).releaseAsync();
    }
  }
}
