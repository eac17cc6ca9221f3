package org.mortise;

import java.lang.ref.WeakReference;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Who is told of one owner's losses. It does not know the owner, which can be collected. */
final class Watch {
  private final Name name;
  private final List<LossListener> listeners = new CopyOnWriteArrayList<>();
  /** Of leases that are not released. Each keeps its owner, so they are not kept here. */
  private final List<WeakReference<LossFuture>> losses = new CopyOnWriteArrayList<>();

  Watch(Name name) {
    this.name = name;
  }

  void add(LossListener listener) {
    listeners.add(listener);
  }

  void add(LossFuture loss) {
    losses.removeIf(known -> known.refersTo(null));
    losses.add(new WeakReference<>(loss));
  }

  void remove(LossFuture loss) {
    losses.removeIf(known -> known.refersTo(loss));
  }

  void tell(long token, boolean isLost, LossReason reason) {
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
    for (WeakReference<LossFuture> known : losses) {
      LossFuture loss = known.get();
      if (loss != null) loss.tell(token, reason);
    }
  }
}
