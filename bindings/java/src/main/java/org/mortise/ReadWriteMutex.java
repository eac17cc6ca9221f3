package org.mortise;

import java.util.concurrent.CompletableFuture;
import java.util.function.LongToIntFunction;

/**
 * One owner of a read-write lock: many owners may read at once, or one may write. An owner either
 * reads or writes. Waiters are served in the order of arrival: a waiting writer holds back later
 * readers.
 */
public final class ReadWriteMutex extends Owner {
  private static final OwnerCalls CALLS =
      new OwnerCalls(
          "the read-write lock's owner",
          MortiseNative::rw_free,
          it -> isEither(it, MortiseNative::rw_is_reading, MortiseNative::rw_is_writing),
          MortiseNative::rw_token,
          MortiseNative::rw_hold_number,
          MortiseNative::rw_valid_ms,
          MortiseNative::rw_deadline_ns,
          MortiseNative::rw_extend,
          MortiseNative::rw_extend_async,
          MortiseNative::rw_progress,
          MortiseNative::rw_set_value,
          MortiseNative::rw_set_value_async,
          MortiseNative::rw_cancel,
          MortiseNative::rw_interrupt,
          MortiseNative::rw_set_task,
          MortiseNative::rw_query,
          MortiseNative::rw_force_release,
          MortiseNative::rw_export,
          MortiseNative::rw_adopt,
          MortiseNative::rw_watch);
  private static final Mode.Calls READ =
      new Mode.Calls(
          MortiseNative::rw_read_try,
          MortiseNative::rw_read_try_async,
          MortiseNative::rw_read_acquire,
          MortiseNative::rw_read_acquire_async,
          MortiseNative::rw_read_unlock_hold,
          MortiseNative::rw_read_unlock_hold_async);
  private static final Mode.Calls WRITE =
      new Mode.Calls(
          MortiseNative::rw_write_try,
          MortiseNative::rw_write_try_async,
          MortiseNative::rw_write_acquire,
          MortiseNative::rw_write_acquire_async,
          MortiseNative::rw_write_unlock_hold,
          MortiseNative::rw_write_unlock_hold_async);

  private final Mode reading =
      new Mode(this, LockKind.READ, READ, MortiseNative::multi_add_reader);
  private final Mode writing =
      new Mode(this, LockKind.WRITE, WRITE, MortiseNative::multi_add_writer);

  ReadWriteMutex(MortiseClient client, Name name, MortiseOptions options) {
    super(
        client,
        name,
        options,
        CALLS,
        (it, settings) -> MortiseNative.rw_new(it, name.bytes(), settings));
  }

  /**
   * Continues an exported hold with this owner, which renews it from now on. Of several adopters
   * one succeeds. The owner then reads or writes, as the exporter did. The lease has a higher
   * fencing token. It waits for the command timeout at most.
   *
   * @param id the text of {@link Lease#export}, of a lock of this name and kind
   * @return the lease
   * @throws MortiseException with {@link Status#NOT_OWNER} when the exported hold has ended or was
   *     adopted, {@link Status#INVALID_ARGUMENT} when the id was changed or is of another lock, and
   *     others
   */
  public Lease adopt(String id) {
    byte[] text = bytesOf(id);
    return mode(isExclusive(text)).adopt(text);
  }

  /**
   * The lock for reading.
   *
   * @return what can be acquired
   */
  public Acquirable readLock() {
    return reading;
  }

  /**
   * The lock for writing.
   *
   * @return what can be acquired
   */
  public Acquirable writeLock() {
    return writing;
  }

  /**
   * Whether it holds for reading, by the local clock.
   *
   * @return true if it does
   */
  public boolean isReading() {
    return read(MortiseNative::rw_is_reading) != 0;
  }

  /**
   * Whether it holds for writing, by the local clock.
   *
   * @return true if it does
   */
  public boolean isWriting() {
    return read(MortiseNative::rw_is_writing) != 0;
  }

  /**
   * Turns a hold for reading into a hold for writing, ahead of all waiters, if there is no other
   * reader. It never waits, so two readers that both try cannot deadlock. The lease gets a new
   * fencing token.
   *
   * @return true: the owner writes; false: there are other readers, and the owner still reads
   * @throws MortiseException with {@link Status#LOST}, {@link Status#NOT_OWNER} when the owner does
   *     not read, {@link Status#ALREADY_HELD} when it writes already or reads more than once, and
   *     others
   */
  public boolean tryUpgrade() {
    if (Threads.mustNotBlock()) return upgraded(Threads.join(upgradeLater()));
    return upgraded(change(MortiseNative::rw_upgrade));
  }

  /**
   * As {@link #tryUpgrade}, without blocking.
   *
   * @return completed with its result
   */
  public CompletableFuture<Boolean> tryUpgradeAsync() {
    return deliver(upgradeLater(), this::upgraded);
  }

  /**
   * Turns a hold for writing into a hold for reading, without a gap. The readers at the head of the
   * queue may then also read. The fencing token stays. From the call on, whatever its result, this
   * owner only reads.
   *
   * @throws MortiseException with {@link Status#LOST}, {@link Status#NOT_OWNER} when the owner does
   *     not write, {@link Status#ALREADY_HELD} when it was acquired more than once, and others
   */
  public void downgrade() {
    if (Threads.mustNotBlock()) {
      downgraded(Threads.join(downgradeLater()));
      return;
    }
    long number = holdNumber();
    try {
      downgraded(change(MortiseNative::rw_downgrade));
    } finally {
      settle(number);
    }
  }

  /**
   * As {@link #downgrade}, without blocking.
   *
   * @return completed when the server has confirmed
   */
  public CompletableFuture<Void> downgradeAsync() {
    return deliver(
        downgradeLater(),
        event -> {
          downgraded(event);
          return null;
        });
  }

  /** Whether it holds in either mode. A change between two looks must not hide the hold. */
  static int isEither(long address, LongToIntFunction isReading, LongToIntFunction isWriting) {
    if (isReading.applyAsInt(address) != 0 || isWriting.applyAsInt(address) != 0) return 1;
    return isReading.applyAsInt(address);
  }

  private static boolean isExclusive(byte[] id) {
    long read = MortiseNative.hold_id_new(id);
    try {
      return MortiseNative.hold_id_is_exclusive(read) != 0;
    } finally {
      MortiseNative.hold_id_free(read);
    }
  }

  Mode mode(boolean isWriting) {
    return isWriting ? writing : reading;
  }

  /**
   * Throws {@link Status#UNSUPPORTED} if the protocol cannot turn this writer into a reader. It
   * sends nothing: an upgrade of a writer is refused here, for this reason or as it writes already.
   */
  void requireModeChanges() {
    try {
      tryUpgrade();
    } catch (MortiseException refused) {
      if (refused.status() != Status.ALREADY_HELD) throw refused;
    }
  }

  private CompletableFuture<Event> upgradeLater() {
    return start(MortiseNative::rw_upgrade_async);
  }

  private CompletableFuture<Event> downgradeLater() {
    long number = holdNumber();
    var end = start(MortiseNative::rw_downgrade_async);
    settle(number);
    return end;
  }

  /** The result of a call that changes the hold. It is of no hold if another one has followed. */
  private Event change(LongToIntFunction call) {
    long number = holdNumber();
    int code = call(call);
    // In this order: the token is that of the number.
    long token = token();
    return holdNumber() == number ? new Event(code, token, number) : Event.of(code);
  }

  /** From the call on, and without an answer, too, a downgraded owner only reads. */
  private void settle(long number) {
    // In this order: a later upgrade raises the token, and a later hold has another number.
    long token = token();
    boolean onlyReads =
        read(MortiseNative::rw_is_reading) != 0 && read(MortiseNative::rw_is_writing) == 0;
    if (onlyReads && holdNumber() == number) changeHold(reading, number, token);
  }

  @Override
  Mode other(Mode mode) {
    return mode == reading ? writing : reading;
  }

  private boolean upgraded(Event end) {
    if (end.is(Status.NOT_ACQUIRED)) return false;
    writing.requireAcquired(end.code());
    changeHold(writing, end.holdNumber(), end.token());
    return true;
  }

  private void downgraded(Event end) {
    reading.requireAcquired(end.code());
    changeHold(reading, end.holdNumber(), end.token());
  }
}
