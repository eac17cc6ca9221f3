package org.mortise;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;

/** Whose acquire an owner is at work for. */
final class Turn {
  /** What is left of a time that passed while an earlier acquire was given back. */
  static final long TOO_LATE = Long.MIN_VALUE;

  private final Core core;
  private final Name name;
  private final NativeHandle handle;
  private final AtomicReference<Pending> taken = new AtomicReference<>();
  /** Of a multi those of its members, of a member those of its multis; they may be collected. */
  private volatile List<WeakReference<Turn>> related = List.of();

  Turn(Core core, Name name, NativeHandle handle) {
    this.core = core;
    this.name = name;
    this.handle = handle;
  }

  /** From now on each waits also for what the other one gives back. */
  void relateTo(Turn other) {
    add(other);
    other.add(this);
  }

  private synchronized void add(Turn other) {
    var more = new ArrayList<>(related);
    more.removeIf(Turn::isOver);
    more.add(new WeakReference<>(other));
    related = List.copyOf(more);
  }

  /** Whether nothing of that owner will be given back. */
  private static boolean isOver(WeakReference<Turn> known) {
    Turn turn = known.get();
    return turn == null || (turn.handle.isClosed() && turn.taken.get() == null);
  }

  /** For tests. */
  int relatedCount() {
    return related.size();
  }

  /** What a member or a multi of this gives back. */
  private CompletableFuture<Void> relatedInTheWay() {
    for (WeakReference<Turn> known : related) {
      Turn turn = known.get();
      Pending other = turn == null ? null : turn.taken.get();
      if (other == null || !other.isGivenUp()) continue;
      other.end();
      return other.over();
    }
    return null;
  }

  /**
   * Takes the turn. One that was given up is in the way until it is over; any other is an error.
   *
   * @return null, or what to wait for before the next attempt
   */
  CompletableFuture<Void> take(Pending mine) {
    CompletableFuture<Void> first = relatedInTheWay();
    if (first != null) return first;
    for (; ; ) {
      Pending other = taken.compareAndExchange(null, mine);
      if (other == null) return null;
      if (other.isTold()) {
        if (taken.compareAndSet(other, mine)) return null;
      } else if (other.isGivenUp()) {
        other.end();
        return other.over();
      } else if (taken.get() == other) {
        throw new MortiseException(
            Status.BUSY,
            name,
            "another call on this owner is acquiring; wait for it, or give each concurrent user "
                + "its own owner");
      }
    }
  }

  /** The next one may take it. */
  void leave(Pending mine) {
    taken.compareAndSet(mine, null);
    if (mine != Pending.IN_A_CALL) mine.over().complete(null);
  }

  /** The turn of this thread goes to one that nobody waits for. */
  void passTo(Pending givenUp) {
    taken.set(givenUp);
  }

  /**
   * Takes the turn for this thread.
   *
   * @return what is left of the timeout, or {@link #TOO_LATE}
   */
  long takeHere(long timeoutMillis) throws InterruptedException {
    CompletableFuture<Void> before = take(Pending.IN_A_CALL);
    if (before == null) return timeoutMillis;
    var clock = new Countdown(timeoutMillis);
    for (; before != null; before = take(Pending.IN_A_CALL)) {
      core.checkMayWait();
      if (!clock.isBounded()) {
        Threads.get(before);
      } else {
        try {
          before.get(clock.leftMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException passed) {
          return TOO_LATE;
        } catch (ExecutionException impossible) {
          throw new AssertionError(impossible);
        }
      }
    }
    return clock.leftMillis();
  }

  /** The same for a wait that no interrupt ends. */
  void takeHere() {
    for (; ; ) {
      CompletableFuture<Void> before = take(Pending.IN_A_CALL);
      if (before == null) return;
      core.checkMayWait();
      Threads.join(before);
    }
  }
}
