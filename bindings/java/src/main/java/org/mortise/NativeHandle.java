package org.mortise;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongConsumer;
import java.util.function.Supplier;

/**
 * A native object that is freed exactly once, and never while a call uses it: by who leaves last.
 * It is also what a Cleaner runs, so it must not know the Java object that it belongs to.
 */
final class NativeHandle implements Runnable {
  private static final int CLOSED = Integer.MIN_VALUE;

  private final long address;
  private final Supplier<MortiseException> closed;
  private final LongConsumer free;
  private final LongConsumer wake;
  /** How many calls use it, with the sign bit set once it is closed. */
  private final AtomicInteger users = new AtomicInteger();

  NativeHandle(long address, String what, LongConsumer free) {
    this(address, () -> MortiseException.closed(what), free, it -> {});
  }

  /**
   * Owns a native object.
   *
   * @param closed what is thrown to those who come too late
   * @param wake ends the calls that wait inside, so that who is there leaves
   */
  NativeHandle(
      long address, Supplier<MortiseException> closed, LongConsumer free, LongConsumer wake) {
    this.address = address;
    this.closed = closed;
    this.free = free;
    this.wake = wake;
  }

  /** The address, to be used until {@link #exit()}. */
  long enter() {
    for (; ; ) {
      int count = users.get();
      if (count < 0) throw closed();
      if (users.compareAndSet(count, count + 1)) return address;
    }
  }

  void exit() {
    if (users.decrementAndGet() == CLOSED) free.accept(address);
  }

  boolean isClosed() {
    return users.get() < 0;
  }

  MortiseException closed() {
    return closed.get();
  }

  /** Closes it: nobody enters any more. */
  @Override
  public void run() {
    for (; ; ) {
      int count = users.get();
      if (count < 0) return;
      // It stays while the others are woken.
      if (users.compareAndSet(count, (count + 1) | CLOSED)) {
        try {
          if (count > 0) wake.accept(address);
        } finally {
          exit();
        }
        return;
      }
    }
  }
}
