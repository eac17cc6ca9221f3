package org.mortise;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** What the threads of a client hold. A thread that holds nothing leaves nothing here. */
final class ThreadHolds<T extends Owner> {
  /** One thread, and one name. */
  private record Key(Thread thread, Name name) {
    /** A thread's own equals and hashCode can be overridden, its identity cannot. */
    @Override
    public boolean equals(Object other) {
      return other instanceof Key key && thread == key.thread && name.equals(key.name);
    }

    @Override
    public int hashCode() {
      return System.identityHashCode(thread) * 31 + name.hashCode();
    }

    /** Nobody can unlock it any more. */
    boolean isOfTheDead() {
      return !thread.isAlive();
    }
  }

  private static final int FEW = 64;

  private final Map<Key, ThreadHold<T>> holds = new ConcurrentHashMap<>();
  /** The number of holds at which to look for those of dead threads. */
  private volatile int many = FEW;

  private static Key key(Name name) {
    return new Key(Thread.currentThread(), name);
  }

  /** This thread's hold, or null. */
  ThreadHold<T> get(Name name) {
    return holds.get(key(name));
  }

  void put(Name name, ThreadHold<T> hold) {
    holds.put(key(name), hold);
    if (holds.size() >= many) forgetTheDead();
  }

  void remove(Name name) {
    holds.remove(key(name));
  }

  int size() {
    return holds.size();
  }

  /**
   * A thread that died while it held keeps its lock until max_hold, but not its memory after that.
   */
  private void forgetTheDead() {
    for (Map.Entry<Key, ThreadHold<T>> entry : holds.entrySet()) {
      T owner = entry.getValue().owner();
      if (!entry.getKey().isOfTheDead() || !owner.isOver()) continue;
      holds.remove(entry.getKey());
      owner.close();
    }
    many = Math.max(FEW, 2 * holds.size());
  }
}
