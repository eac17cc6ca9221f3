package org.mortise;

import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Owners that hold nothing at the moment, so that not every lock makes one. There are never more
 * than its places, whatever the number of names and of {@code Lock} objects, which often live for
 * one use.
 */
final class OwnerPool<T extends Owner> {
  interface Make<T> {
    T make(Name name, MortiseOptions options);
  }

  /** A power of two. */
  private static final int PLACES = 256;
  /** In how many places an owner can be, from the one that its name leads to. */
  private static final int REACH = 32;

  private final Make<T> make;
  private final AtomicReferenceArray<T> idle = new AtomicReferenceArray<>(PLACES);

  OwnerPool(Make<T> make) {
    this.make = make;
  }

  private static int place(Name name, int step) {
    // The high bits of a hash differ most.
    return ((name.hashCode() * 0x9E3779B9 >>> 16) + step) & (PLACES - 1);
  }

  T take(Name name, MortiseOptions options) {
    for (int step = 0; step < REACH; step++) {
      int place = place(name, step);
      T owner = idle.get(place);
      if (owner == null || !owner.isFor(name, options)) continue;
      if (idle.compareAndSet(place, owner, null)) return owner;
    }
    return make.make(name, options);
  }

  /** Takes one back; whoever is in its way is closed. */
  void giveBack(T owner) {
    if (!owner.isOver()) {
      // An unlock that was refused; closing gives the hold back.
      owner.close();
      return;
    }
    Name name = owner.ownName();
    for (int step = 0; step < REACH; step++) {
      if (idle.compareAndSet(place(name, step), null, owner)) return;
    }
    T other = idle.getAndSet(place(name, 0), owner);
    if (other != null) other.close();
  }

  int size() {
    int count = 0;
    for (int place = 0; place < PLACES; place++) {
      if (idle.get(place) != null) count++;
    }
    return count;
  }
}
