package org.mortise;

import java.lang.ref.WeakReference;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Who is told of one owner's losses. It does not know the owner, which can be collected. */
final class Watch {
  private final Name name;
  private final List<LossListener> listeners = new CopyOnWriteArrayList<>();
  /** Of leases that are not released. */
  private final List<Loss> losses = new CopyOnWriteArrayList<>();

  /** The loss of one hold. The future keeps the lease and its owner, so it is not kept here. */
  private static final class Loss extends WeakReference<LossFuture> {
    private final long holdNumber;

    Loss(LossFuture future, long holdNumber) {
      super(future);
      this.holdNumber = holdNumber;
    }
  }

  Watch(Name name) {
    this.name = name;
  }

  void add(LossListener listener) {
    listeners.add(listener);
  }

  void add(LossFuture loss, long holdNumber) {
    losses.removeIf(known -> known.refersTo(null));
    losses.add(new Loss(loss, holdNumber));
  }

  void remove(LossFuture loss) {
    losses.removeIf(known -> known.refersTo(loss));
  }

  void tell(long token, long holdNumber, boolean isLost, LossReason reason) {
    for (LossListener listener : listeners) {
      try {
        if (isLost) {
          listener.lost(name.toString(), token, reason);
        } else {
          listener.atRisk(name.toString(), token, reason);
        }
      } catch (Throwable thrown) {
        Core.report(thrown);
      }
    }
    if (!isLost) return;
    for (Loss known : losses) {
      // News of an earlier hold may come late, and that hold may have had the same token.
      LossFuture loss = known.holdNumber == holdNumber ? known.get() : null;
      if (loss != null) loss.complete(reason);
    }
  }
}
