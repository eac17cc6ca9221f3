package org.mortise;

/** What one thread holds of one name. Only that thread uses it. */
final class ThreadHold<T extends Owner> {
  /** Whose it is: one thread, and one name. */
  static final class Key {
    private final Name name;
    private final Thread thread;

    Key(Name name) {
      this.name = name;
      this.thread = Thread.currentThread();
    }

    /** A thread's own equals and hashCode can be overridden, its identity cannot. */
    @Override
    public boolean equals(Object other) {
      return other instanceof Key key && thread == key.thread && name.equals(key.name);
    }

    @Override
    public int hashCode() {
      return System.identityHashCode(thread) * 31 + name.hashCode();
    }
  }

  private final T owner;
  private final OwnerPool<T> pool;
  int reads;
  int writes;

  ThreadHold(T owner, OwnerPool<T> pool) {
    this.owner = owner;
    this.pool = pool;
  }

  T owner() {
    return owner;
  }

  void requireNotLost() {
    if (owner.isHeld()) return;
    throw new MortiseException(
        Status.LOST, owner.name() + ": this thread's hold was lost; unlock it first");
  }

  void giveOwnerBack() {
    pool.giveBack(owner);
  }
}
