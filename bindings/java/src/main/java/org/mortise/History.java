package org.mortise;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;

/**
 * The latest events of one lock, as all live clients report them. docs/history.md describes it.
 *
 * @param answered how many clients replied, including the calling client
 * @param silent how many live clients did not reply in time
 * @param truncated how many clients replied incompletely
 * @param events the events, in the order of their times
 * @param json the whole history as one JSON text
 */
public record History(
    long answered, long silent, long truncated, List<Event> events, String json) {

  /**
   * What happened to a wait or a hold of one handle.
   *
   * @param client the client
   * @param host the host of its process
   * @param pid the id of its process
   * @param label the label of the client
   * @param event what happened, such as {@code granted}
   * @param mode {@code exclusive} or {@code shared}
   * @param handle the number of the handle in its client; 0 for none
   * @param token the fencing token of the hold; 0 for none
   * @param permits the permits of an acquire; 0 if unknown
   * @param place the place of an acquire in the queue; 0 if unknown
   * @param why the reason of an end without success
   * @param time when it happened, on the server's clock
   * @param error by how much the time may be wrong, in both directions
   * @param lasted how long the wait or the hold had lasted
   */
  public record Event(
      String client,
      String host,
      long pid,
      String label,
      String event,
      String mode,
      long handle,
      long token,
      long permits,
      long place,
      String why,
      Instant time,
      Duration error,
      Duration lasted) {}

  /** Reads a native listing and frees it. */
  static History take(long address) {
    try {
      var events = new ArrayList<Event>();
      long count = MortiseNative.listing_count(address);
      for (long i = 0; i < count; i++) events.add(new Reader(address, i).event());
      return new History(
          MortiseNative.listing_answered(address),
          MortiseNative.listing_silent(address),
          MortiseNative.listing_truncated(address),
          List.copyOf(events),
          new String(MortiseNative.listing_json(address), UTF_8));
    } finally {
      MortiseNative.listing_free(address);
    }
  }

  private record Reader(long address, long index) {
    Event event() {
      return new Event(
          text("client"),
          text("host"),
          number("pid"),
          text("label"),
          text("event"),
          text("mode"),
          number("handle"),
          number("token"),
          number("permits"),
          number("place"),
          text("why"),
          Instant.EPOCH.plus(number("time_us"), ChronoUnit.MICROS),
          span("error_us"),
          span("lasted_us"));
    }

    private String text(String key) {
      return new String(MortiseNative.listing_text(address, index, key.getBytes(UTF_8)), UTF_8);
    }

    private long number(String key) {
      return MortiseNative.listing_number(address, index, key.getBytes(UTF_8));
    }

    private Duration span(String key) {
      return Duration.of(number(key), ChronoUnit.MICROS);
    }
  }
}
