package org.mortise;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Supplier;

/** Owners that hold nothing at the moment, so that not every acquire makes one. */
final class OwnerPool<T extends Owner> {
  private static final int MOST_IDLE = 64;

  private final Supplier<T> make;
  private final LinkedBlockingQueue<T> idle = new LinkedBlockingQueue<>(MOST_IDLE);

  OwnerPool(Supplier<T> make) {
    this.make = make;
  }

  T take() {
    T owner = idle.poll();
    return owner != null ? owner : make.get();
  }

  void giveBack(T owner) {
    if (!idle.offer(owner)) owner.close();
  }
}
