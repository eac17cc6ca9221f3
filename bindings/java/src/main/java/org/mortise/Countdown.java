package org.mortise;

import java.util.concurrent.TimeUnit;

/** What is left of a timeout of the C library, in which some time has passed. */
final class Countdown {
  private final long timeoutMillis;
  private final long start = System.nanoTime();

  Countdown(long timeoutMillis) {
    this.timeoutMillis = timeoutMillis;
  }

  /** A try has the deadline of every call, whatever was before it; and forever stays forever. */
  boolean isBounded() {
    return timeoutMillis > 0;
  }

  /** At least 1 of one that is bounded, because 0 would be a try. */
  long leftMillis() {
    if (!isBounded()) return timeoutMillis;
    long passed = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
    return Math.max(1, timeoutMillis - passed);
  }
}
