package org.mortise;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * What all clients that live hold and wait for, as they have told. What it tells and what it does
 * not is on the page about it.
 *
 * @param answered how many clients have
 * @param silent how many live and have not in time
 * @param truncated how many have, but not to the end in time
 * @param entries what they have told
 * @param json all of it as one JSON text
 */
public record Census(
    long answered, long silent, long truncated, List<Entry> entries, String json) {

  /**
   * What one client has to do with one lock.
   *
   * @param client which client
   * @param host where it runs
   * @param pid where it runs
   * @param label that of its handle
   * @param name the lock's
   * @param kind {@code mutex}, {@code rw} or {@code semaphore}
   * @param mode {@code exclusive} or {@code shared}, as it holds or first waits; empty without
   *     either
   * @param holds whether it holds, 1 or 0
   * @param token of its hold
   * @param held for how long it has held
   * @param timeLeft until its hold ends
   * @param permits of its hold
   * @param waiters how many in this client wait
   * @param waited for how long the first of them has
   * @param grants how many acquires were granted since the client has handles of the lock
   * @param contended how many of its acquires have found the lock taken
   * @param waitedTotal for how long those that were granted have waited
   * @param waits how many of these waited up to how many seconds, such as {@code 0.0005:12 0.01:3}
   * @param retained 1 while the client keeps the lock for its next acquire, by {@link
   *     MortiseOptions#withRetain}; else 0
   * @param source {@code client}, or {@code key} where a key of a server tells of it
   */
  public record Entry(
      String client,
      String host,
      long pid,
      String label,
      String name,
      String kind,
      String mode,
      long holds,
      long token,
      Duration held,
      Duration timeLeft,
      long permits,
      long waiters,
      Duration waited,
      long grants,
      long contended,
      Duration waitedTotal,
      String waits,
      long retained,
      String source) {}

  /** Reads a native census and frees it. */
  static Census take(long address) {
    try {
      var entries = new ArrayList<Entry>();
      long count = MortiseNative.census_count(address);
      for (long i = 0; i < count; i++) entries.add(new Reader(address, i).entry());
      return new Census(
          MortiseNative.census_answered(address),
          MortiseNative.census_silent(address),
          MortiseNative.census_truncated(address),
          List.copyOf(entries),
          new String(MortiseNative.census_json(address), UTF_8));
    } finally {
      MortiseNative.census_free(address);
    }
  }

  private record Reader(long address, long index) {
    Entry entry() {
      return new Entry(
          text("client"),
          text("host"),
          number("pid"),
          text("label"),
          text("name"),
          text("kind"),
          text("mode"),
          number("holds"),
          number("token"),
          span("held_ms"),
          span("time_left_ms"),
          number("permits"),
          number("waiters"),
          span("waited_ms"),
          number("grants"),
          number("contended"),
          span("waited_total_ms"),
          text("waits"),
          number("retained"),
          text("source"));
    }

    private String text(String key) {
      return new String(MortiseNative.census_text(address, index, key.getBytes(UTF_8)), UTF_8);
    }

    private long number(String key) {
      return MortiseNative.census_number(address, index, key.getBytes(UTF_8));
    }

    private Duration span(String key) {
      return Duration.ofMillis(number(key));
    }
  }
}
