package org.mortise;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Java's durations as the milliseconds of the C library. */
final class Times {
  static final long FOREVER = -1;
  private static final long MAX_MILLIS = 31_622_400_000L;
  private static final long NANOS_PER_MILLI = TimeUnit.MILLISECONDS.toNanos(1);

  private Times() {}

  /** How long to wait: rounded up, negative as none, and 366 days at most. */
  static long timeoutMillis(Duration timeout) {
    if (timeout.isNegative()) return 0;
    return Math.min(roundedUp(timeout), MAX_MILLIS);
  }

  static long timeoutMillis(long time, TimeUnit unit) {
    if (time <= 0) return 0;
    // The conversion saturates instead of overflowing.
    long millis = unit.toMillis(time);
    if (millis >= MAX_MILLIS) return MAX_MILLIS;
    // Too short to wait for an answer: a try, which has the deadline of every call.
    if (millis == 0) return 0;
    boolean isWhole = unit.convert(millis, TimeUnit.MILLISECONDS) >= time;
    return isWhole ? millis : millis + 1;
  }

  /** A length that the native code checks: rounded up, else as it is. */
  static long millis(Duration length) {
    return roundedUp(length);
  }

  static String text(Duration length) {
    return Long.toString(millis(length));
  }

  private static long roundedUp(Duration length) {
    try {
      long whole = length.toMillis();
      return length.toNanosPart() % NANOS_PER_MILLI == 0 ? whole : whole + 1;
    } catch (ArithmeticException tooLong) {
      return length.isNegative() ? Long.MIN_VALUE : Long.MAX_VALUE;
    }
  }
}
