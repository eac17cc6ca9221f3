package org.mortise;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * An acquire whose end a future tells. Whoever ends the future first, by cancel or otherwise, gives
 * the acquire up.
 */
final class FutureAcquire<T> extends Pending {
  /** Asks for the lock for a task, within a time. */
  interface Question {
    CompletableFuture<Event> ask(long task, long timeoutMillis);
  }

  private enum State {
    /** Another acquire, which was given up, is not over yet. */
    BEHIND,
    ASKED,
    /** Granted, which the user does not know. */
    GRANTED,
    /** The user is being told of the grant. */
    TELLING,
    /** Whatever is left to do is being done by somebody. */
    ENDED
  }

  private final Owner owner;
  private final Mode mode;
  private final Question question;
  /** That of the call, also when it has to wait for an earlier one. */
  private final long task;
  private final Function<Event, T> result;
  private final CompletableFuture<T> told = new CompletableFuture<>();
  /** Null if no listener follows this wait. */
  private WaitReport report;
  private State state = State.BEHIND;
  /** What was granted; 0 until then. */
  private long holdNumber;
  /** What the user is told of a grant, so that one's own result can be known from another's. */
  private volatile T granted;

  FutureAcquire(Owner owner, Mode mode, Question question, Function<Event, T> result) {
    this.owner = owner;
    this.mode = mode;
    this.question = question;
    this.task = owner.task();
    this.result = result;
  }

  /** A future for the user, completed where the user wants it. */
  CompletableFuture<T> begin(long timeoutMillis) {
    report = owner.beginWait(mode);
    told.whenComplete(
        (value, failure) -> {
          if (!isGivenUp()) return;
          end();
          // The thread that canceled it is not one for callbacks.
          if (report == null || report.isOver()) return;
          owner.core().callBack(() -> report.fail(Status.CANCELLED));
        });
    takeTurn(new Countdown(timeoutMillis));
    return told;
  }

  private void takeTurn(Countdown clock) {
    if (told.isDone()) return;
    CompletableFuture<Void> before;
    try {
      before = owner.turn().take(this);
    } catch (MortiseException busy) {
      owner.core().callBack(() -> fail(busy));
      return;
    }
    if (before == null) {
      ask(clock.leftMillis());
      return;
    }
    CompletableFuture<Boolean> isInTime = before.thenApply(over -> true);
    if (clock.isBounded()) {
      isInTime.completeOnTimeout(false, clock.leftMillis(), TimeUnit.MILLISECONDS);
    }
    isInTime.thenAccept(
        isFree -> {
          if (isFree) {
            takeTurn(clock);
          } else {
            owner.core().callBack(() -> tell(Event.of(Status.TIMED_OUT.code())));
          }
        });
  }

  private void ask(long timeoutMillis) {
    synchronized (this) {
      state = State.ASKED;
    }
    question.ask(task, timeoutMillis).whenComplete(this::onEnd);
    // Given up before there was anything to cancel.
    if (isGivenUp()) end();
  }

  /** On the dispatcher's thread, or on that which asked. */
  private void onEnd(Event event, Throwable failure) {
    boolean isGranted = failure == null && event.isOk();
    synchronized (this) {
      state = isGranted ? State.GRANTED : State.ENDED;
      if (isGranted) holdNumber = event.holdNumber();
    }
    if (!isGranted) {
      owner.turn().leave(this);
      owner
          .core()
          .callBack(
              () -> {
                if (failure == null) {
                  tell(event);
                } else {
                  fail(failure);
                }
              });
    } else if (told.isDone()) {
      end();
    } else {
      owner.core().callBack(() -> tellGrant(event));
    }
  }

  private void fail(Throwable failure) {
    if (report != null) report.fail(failure);
    told.completeExceptionally(failure);
  }

  private void tell(Event event) {
    if (report != null) report.end(event);
    try {
      told.complete(result.apply(event));
    } catch (MortiseException outcome) {
      told.completeExceptionally(outcome);
    }
  }

  private void tellGrant(Event event) {
    synchronized (this) {
      if (state != State.GRANTED) return; // it was given back
      state = State.TELLING;
    }
    if (report != null) report.end(event);
    granted = result.apply(event);
    if (told.complete(granted)) {
      owner.turn().leave(this);
    } else {
      if (report != null) report.withdraw();
      mode.forget(granted);
      giveBack();
    }
  }

  @Override
  boolean isTold() {
    T mine = granted;
    return mine != null
        && told.isDone()
        && !told.isCompletedExceptionally()
        && told.getNow(null) == mine;
  }

  @Override
  boolean isGivenUp() {
    return told.isDone() && !isTold();
  }

  @Override
  void end() {
    synchronized (this) {
      if (state == State.ASKED) {
        // Nobody else can acquire now, so this ends no other's wait. Its end is told as every
        // other.
        owner.cancelQuietly();
      }
      if (state != State.GRANTED) return;
      state = State.ENDED;
    }
    giveBack();
  }

  private void giveBack() {
    mode.startUnlock(holdNumber).whenComplete((event, failure) -> owner.turn().leave(this));
  }
}
