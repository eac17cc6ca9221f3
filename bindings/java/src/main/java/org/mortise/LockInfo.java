package org.mortise;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongConsumer;

/**
 * The state of a lock at the server at the time of the query.
 *
 * @param isHeld whether any owner held it
 * @param isMine whether the querying owner held it
 * @param timeLeftMillis until the holder's lease ends at the server; -1 without a holder
 * @param latestToken the newest fencing token drawn in the database; the holder's is not above it
 * @param holderCount the number of holders
 * @param permits the permits of a semaphore; 1 for a mutex, 0 for a read-write lock
 * @param permitsInUse the permits of a semaphore that are in use
 * @param waiterCount the number of waiting clients
 * @param holders up to 16 of the holders
 * @param waiters up to 16 of the waiters, in their order
 */
public record LockInfo(
    boolean isHeld,
    boolean isMine,
    long timeLeftMillis,
    long latestToken,
    long holderCount,
    long permits,
    long permitsInUse,
    long waiterCount,
    List<Entry> holders,
    List<Entry> waiters) {

  /**
   * One holder or waiter.
   *
   * @param owner the owner as the server stores it
   * @param host its host name; empty when unknown
   * @param processId its process; 0 when unknown
   * @param label its label; empty when it has none
   * @param value what the holder has set with {@link Lease#setValue} or {@link
   *     MortiseOptions#withValue}; empty when it has none
   * @param isExclusive whether the hold excludes all others: a mutex, a writer
   * @param permits the number of permits of a semaphore, otherwise 1
   * @param isRetained whether the holder has unlocked and its client keeps the lock for its next
   *     acquire; see {@link MortiseOptions#withRetain}
   */
  public record Entry(
      String owner,
      String host,
      long processId,
      String label,
      String value,
      boolean isExclusive,
      long permits,
      boolean isRetained) {}

  /** Asks for a native info to be filled, and reads it. */
  static LockInfo of(LongConsumer fill) {
    long info = MortiseNative.info_new();
    if (info == 0) throw new OutOfMemoryError("native memory");
    try {
      fill.accept(info);
    } catch (RuntimeException | Error failure) {
      MortiseNative.info_free(info);
      throw failure;
    }
    return take(info);
  }

  /** Reads a native info and frees it. */
  static LockInfo take(long info) {
    try {
      return read(info);
    } finally {
      MortiseNative.info_free(info);
    }
  }

  private static LockInfo read(long info) {
    var entries = new ArrayList<Entry>();
    long count = MortiseNative.info_entry_count(info);
    for (long i = 0; i < count; i++) {
      entries.add(
          new Entry(
              new String(MortiseNative.info_entry_owner(info, i), UTF_8),
              new String(MortiseNative.info_entry_host(info, i), UTF_8),
              MortiseNative.info_entry_pid(info, i),
              new String(MortiseNative.info_entry_label(info, i), UTF_8),
              new String(MortiseNative.info_entry_value(info, i), UTF_8),
              MortiseNative.info_entry_is_exclusive(info, i) != 0,
              MortiseNative.info_entry_permits(info, i),
              MortiseNative.info_entry_is_retained(info, i) != 0));
    }
    int holders = (int) MortiseNative.info_shown_holder_count(info);
    return new LockInfo(
        MortiseNative.info_is_held(info) != 0,
        MortiseNative.info_is_mine(info) != 0,
        MortiseNative.info_time_left_ms(info),
        MortiseNative.info_latest_token(info),
        MortiseNative.info_holder_count(info),
        MortiseNative.info_permits(info),
        MortiseNative.info_permits_in_use(info),
        MortiseNative.info_waiter_count(info),
        List.copyOf(entries.subList(0, holders)),
        List.copyOf(entries.subList(holders, entries.size())));
  }
}
