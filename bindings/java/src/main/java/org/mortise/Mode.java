package org.mortise;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.LongToIntFunction;

/** One way in which an owner acquires: a mutex has one, a read-write lock two. */
final class Mode implements Acquirable {
  /** The native functions of this way. Where a call does not wait by itself, an event ends it. */
  record Calls(
      LongToIntFunction tryNow,
      OwnerCalls.Start tryLater,
      OwnerCalls.Acquire acquireNow,
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
    Turn turn = owner.turn();
    turn.takeHere();
    try {
      return isAcquired(tryCode());
    } finally {
      turn.leave(Pending.IN_A_CALL);
    }
  }

  /** Waits as long as it takes. */
  void lock() {
    Turn turn = owner.turn();
    turn.takeHere();
    try {
      int code =
          waitsInCall()
              ? acquireInCall(Times.FOREVER)
              : Threads.join(waitFor(Times.FOREVER)).code();
      requireAcquired(code);
    } finally {
      turn.leave(Pending.IN_A_CALL);
    }
  }

  /** Waits; an interrupt ends that at once, and what was granted nevertheless is given back. */
  boolean await(long timeoutMillis) throws InterruptedException {
    if (Thread.interrupted()) throw new InterruptedException();
    Turn turn = owner.turn();
    long left = turn.takeHere(timeoutMillis);
    if (left == Turn.TOO_LATE) return false;
    int code;
    try {
      code = waitsInCall() ? awaitCall(left) : awaitEvent(left);
    } catch (InterruptedException interrupted) {
      throw interrupted; // the turn is that of what is being given up
    } catch (Throwable failed) {
      turn.leave(Pending.IN_A_CALL);
      throw failed;
    }
    turn.leave(Pending.IN_A_CALL);
    return isAcquired(code);
  }

  /**
   * Whether this thread waits in the native call, where it reads the answers by itself, so that no
   * other has to wake it. Otherwise it waits for an event: a virtual thread, which would keep its
   * carrier; and for a multi, whose call ends only when all that it has got is given back.
   */
  private boolean waitsInCall() {
    return calls.acquireNow != null && !Threads.mustNotBlock();
  }

  private int acquireInCall(long timeoutMillis) {
    if (!owner.core().mayWait()) {
      int code = owner.call(calls.tryNow);
      if (code != Status.NOT_ACQUIRED.code() || timeoutMillis == 0) return code;
      owner.core().checkMayWait();
    }
    return owner.call(it -> calls.acquireNow.acquire(it, timeoutMillis));
  }

  private int awaitCall(long timeoutMillis) throws InterruptedException {
    var interruption = new Interruption(owner);
    interruption.watch();
    int code;
    try {
      code = acquireInCall(timeoutMillis);
    } finally {
      interruption.unwatch();
    }
    if (!Thread.interrupted()) return code;
    giveUp(CompletableFuture.completedFuture(new Event(code, 0)));
    throw new InterruptedException();
  }

  private int awaitEvent(long timeoutMillis) throws InterruptedException {
    owner.core().checkMayWait();
    CompletableFuture<Event> end = waitFor(timeoutMillis);
    try {
      return Threads.get(end).code();
    } catch (InterruptedException interrupted) {
      owner.cancelQuietly();
      giveUp(end);
      throw interrupted;
    }
  }

  /** What ends granted is given back, for which the next acquire waits, but not this thread. */
  private void giveUp(CompletableFuture<Event> end) {
    var givenUp =
        new Pending() {
          @Override
          boolean isGivenUp() {
            return true;
          }
        };
    owner.turn().passTo(givenUp);
    end.handle((event, failure) -> failure == null && event.isOk())
        .thenCompose(isGranted -> isGranted ? unlockLater() : end)
        .whenComplete((event, failure) -> owner.turn().leave(givenUp));
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
    return end.handle(
            (event, failure) -> failure instanceof MortiseException said && said.status() == why)
        .join();
  }

  void requireAcquired(int code) {
    if (code == Status.OK.code()) return;
    if (code == Status.CANCELLED.code() && owner.isClosed()) throw owner.closed();
    throw MortiseException.ofOutcome(code, owner.ownName());
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
    return later(timeout -> owner.start(calls.tryLater), this::leaseIfAcquired, 0);
  }

  @Override
  public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration timeout) {
    return later(this::waitFor, this::leaseIfAcquired, Times.timeoutMillis(timeout));
  }

  @Override
  public CompletableFuture<Lease> acquireAsync() {
    return later(
        this::waitFor,
        event -> {
          requireAcquired(event.code());
          return lease();
        },
        Times.FOREVER);
  }

  private <T> CompletableFuture<T> later(
      FutureAcquire.Question question, Function<Event, T> result, long timeoutMillis) {
    return new FutureAcquire<>(owner, this, question, result).begin(timeoutMillis);
  }

  private Lease lease() {
    return owner.grant(this);
  }

  private Optional<Lease> leaseIfAcquired(Event event) {
    return isAcquired(event.code()) ? Optional.of(lease()) : Optional.empty();
  }

  /** The lease in a result that nobody was told; the hold itself is given back by another. */
  void forget(Object result) {
    Object lease = result instanceof Optional<?> maybe ? maybe.orElse(null) : result;
    if (lease instanceof Lease forgotten) forgotten.forget();
  }
}
