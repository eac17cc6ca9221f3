package org.mortise;

/** What one thread holds of one name. Only that thread uses it. */
final class ThreadHold<T extends Owner> {
  private final T owner;
  int reads;
  int writes;

  ThreadHold(T owner) {
    this.owner = owner;
  }

  T owner() {
    return owner;
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
