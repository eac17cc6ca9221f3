package org.mortise;

import java.util.concurrent.atomic.AtomicBoolean;

/** One wait that a {@link LockListener} was notified of. */
final class WaitReport {
  /** The acquire itself. */
  interface Acquire<E extends Exception> {
    Event run() throws E;
  }

  private final Owner owner;
  private final Mode mode;
  private final LockListener.Wait listener;
  private final AtomicBoolean isOver = new AtomicBoolean();
  /** Null unless granted. */
  private volatile HoldReport hold;

  private WaitReport(Owner owner, Mode mode, LockListener.Wait listener) {
    this.owner = owner;
    this.mode = mode;
    this.listener = listener;
  }

  /** Notifies the listener; null if it does not follow this wait. */
  static WaitReport begin(LockListener listener, Owner owner, Mode mode) {
    Name name = owner.ownName();
    String shown = mode.kind() == LockKind.MULTI ? name.quoted() : name.toString();
    try {
      LockListener.Wait wait = listener.beginWait(shown, mode.kind());
      return wait == null ? null : new WaitReport(owner, mode, wait);
    } catch (Throwable thrown) {
      log(thrown);
      return null;
    }
  }

  /** Makes the acquire and reports its end. */
  <E extends Exception> Event run(Acquire<E> acquire) throws E {
    Event end;
    try {
      end = acquire.run();
    } catch (Throwable failure) {
      fail(failure);
      throw failure;
    }
    end(end);
    return end;
  }

  void end(Event end) {
    if (!end.isOk()) {
      boolean isClosed = end.is(Status.CANCELLED) && owner.isClosed();
      fail(isClosed ? Status.CLOSED : Status.of(end.code()));
      return;
    }
    if (!isOver.compareAndSet(false, true)) return;
    try {
      LockListener.Hold granted = listener.granted(end.token());
      if (granted != null) hold = owner.reports().begin(owner, mode, end, granted);
    } catch (Throwable thrown) {
      log(thrown);
    }
  }

  /** After a grant that its caller did not receive. */
  void withdraw() {
    HoldReport granted = hold;
    if (granted != null) owner.reports().withdraw(granted);
  }

  boolean isOver() {
    return isOver.get();
  }

  void fail(Throwable failure) {
    if (failure instanceof MortiseException refused) {
      fail(refused.status());
    } else {
      fail(failure instanceof InterruptedException ? Status.CANCELLED : Status.OTHER);
    }
  }

  void fail(Status status) {
    if (isOver.compareAndSet(false, true)) call(() -> listener.failed(status));
  }

  /** Calls a listener, which cannot harm the caller. */
  static void call(Runnable notification) {
    try {
      notification.run();
    } catch (Throwable thrown) {
      log(thrown);
    }
  }

  private static void log(Throwable thrown) {
    try {
      System.getLogger("org.mortise")
          .log(System.Logger.Level.WARNING, "a LockListener threw an exception", thrown);
    } catch (Throwable alsoThrown) {
      // There is no other place to report it.
    }
  }
}
