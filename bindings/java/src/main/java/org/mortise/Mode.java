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
      OwnerCalls.Unlock unlockNow,
      OwnerCalls.UnlockLater unlockLater) {}

  /** Adds an owner to a multi in this way, from the native multi and the native owner. */
  interface Join {
    int add(long multi, long owner);
  }

  private final Owner owner;
  private final LockKind kind;
  private final Calls calls;
  private final Join join;

  Mode(Owner owner, LockKind kind, Calls calls, Join join) {
    this.owner = owner;
    this.kind = kind;
    this.calls = calls;
    this.join = join;
  }

  Owner owner() {
    return owner;
  }

  LockKind kind() {
    return kind;
  }

  int addTo(long multi) {
    return owner.call(it -> join.add(multi, it));
  }

  // ---- for the Lock adapters: without leases ---------------------------------------------------

  /** What it has got; null when somebody else holds it. */
  Event tryNow() {
    WaitReport report = owner.beginWait(this);
    return ifAcquired(report == null ? tryInTurn() : report.run(this::tryInTurn));
  }

  private Event tryInTurn() {
    Turn turn = owner.turn();
    turn.takeHere();
    try {
      return tryHere();
    } finally {
      turn.leave(Pending.IN_A_CALL);
    }
  }

  /** Waits as long as it takes. */
  Event lock() {
    WaitReport report = owner.beginWait(this);
    Event end = report == null ? lockInTurn() : report.run(this::lockInTurn);
    requireAcquired(end.code());
    return end;
  }

  private Event lockInTurn() {
    Turn turn = owner.turn();
    turn.takeHere();
    try {
      return waitsInCall() ? acquireInCall(Times.FOREVER) : Threads.join(waitFor(Times.FOREVER));
    } finally {
      turn.leave(Pending.IN_A_CALL);
    }
  }

  /**
   * Waits; an interrupt ends that at once, and what was granted nevertheless is given back. It
   * returns null when the time has passed.
   */
  Event await(long timeoutMillis) throws InterruptedException {
    WaitReport report = owner.beginWait(this);
    return ifAcquired(
        report == null
            ? awaitInTurn(timeoutMillis)
            : report.run(() -> awaitInTurn(timeoutMillis)));
  }

  private Event awaitInTurn(long timeoutMillis) throws InterruptedException {
    if (Thread.interrupted()) throw new InterruptedException();
    Turn turn = owner.turn();
    long left = turn.takeHere(timeoutMillis);
    if (left == Turn.TOO_LATE) return Event.of(Status.TIMED_OUT.code());
    Event end;
    try {
      end = waitsInCall() ? awaitCall(left) : awaitEvent(left);
    } catch (InterruptedException interrupted) {
      throw interrupted; // the turn is that of what is being given up
    } catch (Throwable failed) {
      turn.leave(Pending.IN_A_CALL);
      throw failed;
    }
    turn.leave(Pending.IN_A_CALL);
    return end;
  }

  /**
   * Whether this thread waits in the native call, where it reads the answers by itself, so that no
   * other has to wake it. Otherwise it waits for an event: a virtual thread, which would keep its
   * carrier; and for a multi, whose call ends only when all that it has got is given back.
   */
  private boolean waitsInCall() {
    return calls.acquireNow != null && !Threads.mustNotBlock();
  }

  private Event acquireInCall(long timeoutMillis) {
    if (!owner.core().mayWait()) {
      Event end = owner.acquire(calls.tryNow);
      if (!end.is(Status.NOT_ACQUIRED) || timeoutMillis == 0) return end;
      owner.core().checkMayWait();
    }
    return owner.acquire(it -> calls.acquireNow.acquire(it, timeoutMillis));
  }

  private Event awaitCall(long timeoutMillis) throws InterruptedException {
    var interruption = new Interruption(owner);
    interruption.watch();
    Event end;
    try {
      end = acquireInCall(timeoutMillis);
    } finally {
      interruption.unwatch();
    }
    if (!Thread.interrupted()) return end;
    giveUp(CompletableFuture.completedFuture(end));
    throw new InterruptedException();
  }

  private Event awaitEvent(long timeoutMillis) throws InterruptedException {
    owner.core().checkMayWait();
    CompletableFuture<Event> end = waitFor(timeoutMillis);
    try {
      return Threads.get(end);
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
    end.thenCompose(event -> event.isOk() ? startUnlock(event.holdNumber()) : end)
        .whenComplete((event, failure) -> owner.turn().leave(givenUp));
  }

  /** Ends the hold with this number and no other, and says how: OK, LOST or NOT_OWNER. */
  int unlock(long holdNumber) {
    int code;
    try {
      code =
          Threads.mustNotBlock()
              ? Threads.join(unlockInMode(holdNumber)).code()
              : unlockNow(holdNumber);
    } catch (MortiseException failure) {
      reportUnlock(holdNumber, failure.status());
      throw failure;
    }
    reportUnlock(holdNumber, Status.of(code));
    return code;
  }

  /** The result of a change may not have reached the caller: then the hold has the other mode. */
  private int unlockNow(long holdNumber) {
    int code = callUnlock(holdNumber);
    Mode other = code == Status.NOT_OWNER.code() ? owner.other(this) : null;
    return other == null ? code : other.callUnlock(holdNumber);
  }

  private int callUnlock(long holdNumber) {
    return owner.call(it -> calls.unlockNow.unlock(it, holdNumber));
  }

  /** As {@link #unlockNow}. NOT_OWNER is known at once or not at all. */
  private CompletableFuture<Event> unlockInMode(long holdNumber) {
    CompletableFuture<Event> end = startUnlock(holdNumber);
    boolean isKnown = end.isDone() && !end.isCompletedExceptionally();
    boolean isOther = isKnown && end.join().is(Status.NOT_OWNER);
    Mode other = isOther ? owner.other(this) : null;
    return other == null ? end : other.startUnlock(holdNumber);
  }

  /** As {@link #unlock}, for a hold whose caller has it. */
  CompletableFuture<Event> unlockLater(long holdNumber) {
    CompletableFuture<Event> end = unlockInMode(holdNumber);
    if (owner.reports() == null) return end;
    end.whenComplete(
        (event, failure) -> {
          Status status =
              failure instanceof MortiseException refused
                  ? refused.status()
                  : event == null ? Status.OTHER : Status.of(event.code());
          owner.core().callBack(() -> reportUnlock(holdNumber, status));
        });
    return end;
  }

  void reportUnlock(long holdNumber, Status status) {
    if (owner.reports() == null || hasChangedNothing(status)) return;
    owner.reports().end(holdNumber, status);
  }

  /** Whether an unlock that failed with this status has left the hold as it was. */
  static boolean hasChangedNothing(Status status) {
    return status == Status.BUSY || status == Status.NO_MEMORY;
  }

  /** Begins an unlock. When the queue is too full for its event, a helper makes the call. */
  CompletableFuture<Event> startUnlock(long holdNumber) {
    CompletableFuture<Event> end =
        owner.start((it, queue, tag) -> calls.unlockLater.start(it, queue, tag, holdNumber));
    if (!isRefused(end, Status.LIMIT)) return end;
    return Threads.help(() -> Event.of(callUnlock(holdNumber)));
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
    if (code == Status.CANCELLED.code()) owner.requireOpen();
    throw MortiseException.ofOutcome(code, owner.ownName());
  }

  /** Continues an exported hold. */
  Lease adopt(byte[] id) {
    WaitReport report = owner.beginWait(this);
    Event end = report == null ? adoptInTurn(id) : report.run(() -> adoptInTurn(id));
    requireAcquired(end.code());
    return lease(end);
  }

  private Event adoptInTurn(byte[] id) {
    Turn turn = owner.turn();
    turn.takeHere();
    try {
      return owner.adopt(id);
    } finally {
      turn.leave(Pending.IN_A_CALL);
    }
  }

  private Event tryHere() {
    if (!Threads.mustNotBlock()) return owner.acquire(calls.tryNow);
    return Threads.join(owner.startAcquire(owner.callerTask(), calls.tryLater));
  }

  private CompletableFuture<Event> waitFor(long timeoutMillis) {
    return waitFor(owner.callerTask(), timeoutMillis);
  }

  private CompletableFuture<Event> waitFor(long task, long timeoutMillis) {
    OwnerCalls.Wait call = calls.acquireLater;
    return owner.startAcquire(
        task, (handle, queue, tag) -> call.start(handle, queue, tag, timeoutMillis));
  }

  /** The same event, or null when the lock was not to be had; any other outcome is thrown. */
  private Event ifAcquired(Event end) {
    if (end.is(Status.NOT_ACQUIRED) || end.is(Status.TIMED_OUT)) return null;
    requireAcquired(end.code());
    return end;
  }

  /** Waits as long as it takes, as the other one does. */
  Event await() throws InterruptedException {
    Event end = await(Times.FOREVER);
    // Only a protocol that gives up after so many attempts ends such a wait with nothing.
    if (end == null) requireAcquired(Status.NOT_ACQUIRED.code());
    return end;
  }

  // ---- with leases -----------------------------------------------------------------------------

  @Override
  public Optional<Lease> tryAcquire() {
    return Optional.ofNullable(tryNow()).map(this::lease);
  }

  @Override
  public Optional<Lease> tryAcquire(Duration timeout) throws InterruptedException {
    return Optional.ofNullable(await(Times.timeoutMillis(timeout))).map(this::lease);
  }

  @Override
  public Lease acquire() throws InterruptedException {
    return lease(await());
  }

  @Override
  public CompletableFuture<Optional<Lease>> tryAcquireAsync() {
    return later(
        (task, timeout) -> owner.startAcquire(task, calls.tryLater), this::leaseIfAcquired, 0);
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
          return lease(event);
        },
        Times.FOREVER);
  }

  private <T> CompletableFuture<T> later(
      FutureAcquire.Question question, Function<Event, T> result, long timeoutMillis) {
    return new FutureAcquire<>(owner, this, question, result).begin(timeoutMillis);
  }

  private Lease lease(Event grant) {
    return owner.grant(this, grant);
  }

  private Optional<Lease> leaseIfAcquired(Event event) {
    return Optional.ofNullable(ifAcquired(event)).map(this::lease);
  }

  /** The lease in a result that nobody was told; the hold itself is given back by another. */
  void forget(Object result) {
    Object lease = result instanceof Optional<?> maybe ? maybe.orElse(null) : result;
    if (lease instanceof Lease forgotten) forgotten.forget();
  }
}
