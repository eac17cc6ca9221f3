package org.mortise;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/** Java's durations as the milliseconds of the C library. */
final class Times {
  static final long FOREVER = Constants.FOREVER;
  private static final long MAX_MILLIS = Constants.MAX_MILLIS;
  private static final long NANOS_PER_MILLI = TimeUnit.MILLISECONDS.toNanos(1);

  private Times() {}

  /** How long to wait: rounded up, negative as none, and 366 days at most. */
  static long timeoutMillis(Duration timeout) {
    return Math.max(0, Math.min(roundedUp(timeout, "timeout"), MAX_MILLIS));
  }

  static long timeoutMillis(long time, TimeUnit unit) {
    Objects.requireNonNull(unit, "unit");
    if (time <= 0) return 0;
    // The conversion saturates instead of overflowing.
    long millis = unit.toMillis(time);
    if (millis >= MAX_MILLIS) return MAX_MILLIS;
    // Too short to wait for an answer: a try, which has the deadline of every call.
    if (millis == 0) return 0;
    boolean isWhole = unit.convert(millis, TimeUnit.MILLISECONDS) >= time;
    return isWhole ? millis : millis + 1;
  }

  /** A length for the native code to check; what is negative stays so. */
  static long roundedUp(Duration length, String what) {
    Objects.requireNonNull(length, what);
    try {
      long whole = length.toMillis();
      if (length.isNegative()) return Math.min(whole, -1);
      return length.toNanosPart() % NANOS_PER_MILLI == 0 ? whole : Math.addExact(whole, 1);
    } catch (ArithmeticException tooLong) {
      return length.isNegative() ? Long.MIN_VALUE : Long.MAX_VALUE;
    }
  }
}
