package org.mortise;

/** What one thread holds of one name. Only that thread uses it. */
final class ThreadHold<T extends Owner> {
  private final T owner;
  private final long number;
  int reads;
  int writes;

  ThreadHold(T owner, long number) {
    this.owner = owner;
    this.number = number;
  }

  T owner() {
    return owner;
  }

  /** Ends it, and says how: OK, LOST or NOT_OWNER. */
  int unlock(Mode mode) {
    return mode.unlock(number);
  }

  void requireNotLost() {
    if (!owner.isOver()) return;
    throw new MortiseException(
        Status.LOST, owner.ownName(), "this thread's hold was lost; unlock it first");
  }

  /** As Java's own locks do when a count would turn negative. */
  static int oneMore(int count) {
    if (count == Integer.MAX_VALUE) throw new Error("Maximum lock count exceeded");
    return count + 1;
  }
}
