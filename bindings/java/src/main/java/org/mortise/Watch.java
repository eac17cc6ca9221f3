package org.mortise;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Who is told of one owner's losses. It does not know the owner, which can be collected. */
final class Watch {
  private final Name name;
  private final List<LossListener> listeners = new CopyOnWriteArrayList<>();

  Watch(Name name) {
    this.name = name;
  }

  void add(LossListener listener) {
    listeners.add(listener);
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
  }
}
