package org.mortise;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** One grant, with its leases: more than one only where the owner is reentrant. */
final class Hold {
  /** What a multi's hold has of one member. */
  record Part(Owner member, long number) {}

  private final long number;
  /** None but of a multi. */
  private final List<Part> parts;
  /** Changes only by an upgrade. */
  private volatile long token;

  private final List<Lease> leases = new CopyOnWriteArrayList<>();

  Hold(Event grant, List<Part> parts) {
    this.number = grant.holdNumber();
    this.token = grant.token();
    this.parts = parts;
  }

  /** No other hold of its owner has it, whereas readers of one client have the same token. */
  long number() {
    return number;
  }

  List<Part> parts() {
    return parts;
  }

  long token() {
    return token;
  }

  void add(Lease lease) {
    leases.add(lease);
  }

  void remove(Lease lease) {
    leases.remove(lease);
  }

  /**
   * From now on its leases are of another mode, as after an upgrade. Returns false if the hold has
   * changed since: the result of a change can come late, and each upgrade raises the token.
   */
  synchronized boolean change(Mode mode, long newToken) {
    boolean isUpgrade = mode.kind() == LockKind.WRITE;
    if (newToken < token || (newToken == token && isUpgrade)) return false;
    token = newToken;
    for (Lease lease : leases) lease.change(mode);
    return true;
  }
}
