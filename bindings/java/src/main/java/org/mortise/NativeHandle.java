package org.mortise;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongConsumer;

/**
 * A native object that is freed exactly once, and never while a call uses it: by who leaves last.
 * It is also what a Cleaner runs, so it must not know the Java object that it belongs to.
 */
final class NativeHandle implements Runnable {
  private static final int CLOSED = Integer.MIN_VALUE;

  private final long address;
  private final String what;
  private final LongConsumer free;
  /** How many calls use it, with the sign bit set once it is closed. */
  private final AtomicInteger users = new AtomicInteger();

  NativeHandle(long address, String what, LongConsumer free) {
    this.address = address;
    this.what = what;
    this.free = free;
  }

  /** The address, to be used until {@link #exit()}. */
  long enter() {
    for (; ; ) {
      int count = users.get();
      if (count < 0) throw MortiseException.closed(what);
      if (users.compareAndSet(count, count + 1)) return address;
    }
  }

  void exit() {
    if (users.decrementAndGet() == CLOSED) free.accept(address);
  }

  boolean isClosed() {
    return users.get() < 0;
  }

  /** Closes it: nobody enters any more. */
  @Override
  public void run() {
    for (; ; ) {
      int count = users.get();
      if (count < 0) return;
      if (users.compareAndSet(count, count | CLOSED)) {
        if (count == 0) free.accept(address);
        return;
      }
    }
  }
}
