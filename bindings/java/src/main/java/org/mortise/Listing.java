package org.mortise;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A listing of the locks that all live clients hold and wait for, as these clients report them.
 * docs/listing.md describes what it includes.
 *
 * @param answered how many clients replied, including the calling client
 * @param silent how many live clients did not reply in time
 * @param truncated how many clients replied incompletely
 * @param entries the replies
 * @param json the whole listing as one JSON text
 */
public record Listing(
    long answered, long silent, long truncated, List<Entry> entries, String json) {

  /**
   * The relation of one client to one lock.
   *
   * @param client the client
   * @param host the host of its process
   * @param pid the id of its process
   * @param label the label of its handle
   * @param value the value of the hold; see {@link Lease#setValue}
   * @param name the lock's name
   * @param kind {@code mutex}, {@code rw} or {@code semaphore}
   * @param mode {@code exclusive} or {@code shared}, for the hold, or without a hold for the first
   *     waiter; empty without both
   * @param holds how many handles of the client hold the lock; 0 without a hold
   * @param token the token of its oldest hold
   * @param held how long that hold has lasted
   * @param timeLeft until that hold ends
   * @param permits the permits that these handles hold together
   * @param waiters the number of waiters in this client
   * @param waited for how long the first of them has waited
   * @param grants how many acquires were granted since the client has handles of the lock
   * @param contended how many of its acquires found the lock taken
   * @param waitedTotal the total wait of the granted acquires
   * @param waits a histogram of these waits: upper bound in seconds and count, such as
   *     {@code 0.0005:12 0.01:3}
   * @param retained 1 or more while the client keeps the lock for its next acquire, otherwise 0;
   *     see {@link MortiseOptions#withRetain}
   * @param threads the threads and tasks that hold or wait; see {@link Owner#setTask} and
   *     docs/deadlocks.md
   * @param source {@code client}, or {@code key} for an entry that was read from a key of a server
   */
  public record Entry(
      String client,
      String host,
      long pid,
      String label,
      String value,
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
      String threads,
      String source) {}

  /** Reads a native listing and frees it. */
  static Listing take(long address) {
    try {
      var entries = new ArrayList<Entry>();
      long count = MortiseNative.listing_count(address);
      for (long i = 0; i < count; i++) entries.add(new Reader(address, i).entry());
      return new Listing(
          MortiseNative.listing_answered(address),
          MortiseNative.listing_silent(address),
          MortiseNative.listing_truncated(address),
          List.copyOf(entries),
          new String(MortiseNative.listing_json(address), UTF_8));
    } finally {
      MortiseNative.listing_free(address);
    }
  }

  private record Reader(long address, long index) {
    Entry entry() {
      return new Entry(
          text("client"),
          text("host"),
          number("pid"),
          text("label"),
          text("value"),
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
          text("threads"),
          text("source"));
    }

    private String text(String key) {
      return new String(MortiseNative.listing_text(address, index, key.getBytes(UTF_8)), UTF_8);
    }

    private long number(String key) {
      return MortiseNative.listing_number(address, index, key.getBytes(UTF_8));
    }

    private Duration span(String key) {
      return Duration.ofMillis(number(key));
    }
  }
}
