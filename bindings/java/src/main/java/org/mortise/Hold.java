package org.mortise;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** One grant, with its leases: more than one only where the owner is reentrant. */
final class Hold {
  /** Changes only by an upgrade. */
  private volatile long token;

  private final List<Lease> leases = new CopyOnWriteArrayList<>();

  Hold(long token) {
    this.token = token;
  }

  long token() {
    return token;
  }

  boolean isEmpty() {
    return leases.isEmpty();
  }

  void add(Lease lease) {
    leases.add(lease);
  }

  void remove(Lease lease) {
    leases.remove(lease);
  }

  /** From now on its leases are of another mode, as after an upgrade. */
  void change(Mode mode, long newToken) {
    token = newToken;
    for (Lease lease : leases) lease.change(mode);
  }
}
