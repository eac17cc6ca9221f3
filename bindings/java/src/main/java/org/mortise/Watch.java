package org.mortise;

import java.lang.ref.WeakReference;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;

/** Who is told of one owner's losses. It does not know the owner, which can be collected. */
final class Watch {
  private final Name name;
  private final List<LossListener> listeners = new CopyOnWriteArrayList<>();
  /** Of leases that are not released. */
  private final Notices<LossReason> losses = new Notices<>();

  private final Notices<Void> contentions = new Notices<>();
  /** The latest hold with a report of waiters. A report of an earlier hold may come late. */
  private final AtomicLong contendedHold = new AtomicLong();

  /** The futures for one kind of notice. A future keeps its lease, so it is not kept here. */
  private static final class Notices<T> {
    private static final class Place<T> extends WeakReference<HoldFuture<T>> {
      private final long holdNumber;

      Place(HoldFuture<T> future, long holdNumber) {
        super(future);
        this.holdNumber = holdNumber;
      }
    }

    private final List<Place<T>> places = new CopyOnWriteArrayList<>();

    void add(HoldFuture<T> future, long holdNumber) {
      places.removeIf(known -> known.refersTo(null));
      places.add(new Place<>(future, holdNumber));
    }

    void remove(HoldFuture<T> future) {
      places.removeIf(known -> known.refersTo(future));
    }

    void close() {
      for (Place<T> known : places) {
        HoldFuture<T> future = known.get();
        if (future != null) future.close();
      }
    }

    void complete(Executor callbacks, long holdNumber, T value) {
      for (Place<T> known : places) {
        // News of an earlier hold may come late, and that hold may have had the same token.
        if (known.holdNumber == holdNumber) callbacks.execute(() -> complete(known, value));
      }
    }

    /** Completes the future of a lease that has not been released meanwhile. */
    private void complete(Place<T> known, T value) {
      HoldFuture<T> future = places.contains(known) ? known.get() : null;
      if (future != null) future.complete(value);
    }
  }

  Watch(Name name) {
    this.name = name;
  }

  void add(LossListener listener) {
    listeners.add(listener);
  }

  void add(HoldFuture<LossReason> loss, long holdNumber) {
    losses.add(loss, holdNumber);
  }

  void remove(HoldFuture<LossReason> loss) {
    losses.remove(loss);
  }

  /** True if waiters for this hold were reported before. */
  boolean addContention(HoldFuture<Void> contention, long holdNumber) {
    contentions.add(contention, holdNumber);
    return contendedHold.get() == holdNumber;
  }

  void removeContention(HoldFuture<Void> contention) {
    contentions.remove(contention);
  }

  /** Ends the reports, because the owner was closed. */
  void close() {
    losses.close();
  }

  /** The number of futures of a loss that it still has. For tests. */
  int places() {
    return losses.places.size();
  }

  /** Each listener and each future has a callback of its own, because any of these may block. */
  void tell(Executor callbacks, int kind, long token, long holdNumber, LossReason reason) {
    for (LossListener listener : listeners) {
      callbacks.execute(
          () -> {
            try {
              tell(listener, kind, token, reason);
            } catch (Throwable thrown) {
              Core.report(thrown);
            }
          });
    }
    if (kind == Constants.EVENT_LOST) losses.complete(callbacks, holdNumber, reason);
    if (kind != Constants.EVENT_CONTENDED) return;
    // In this order: a future that is added meanwhile is completed by this or by its caller.
    contendedHold.accumulateAndGet(holdNumber, Math::max);
    contentions.complete(callbacks, holdNumber, null);
  }

  private void tell(LossListener listener, int kind, long token, LossReason reason) {
    switch (kind) {
      case Constants.EVENT_LOST -> listener.lost(name.toString(), token, reason);
      case Constants.EVENT_CONTENDED -> listener.contended(name.toString(), token);
      default -> listener.atRisk(name.toString(), token, reason);
    }
  }

  static boolean isNotice(int kind) {
    return kind == Constants.EVENT_LOST
        || kind == Constants.EVENT_AT_RISK
        || kind == Constants.EVENT_CONTENDED;
  }
}
