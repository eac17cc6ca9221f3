package org.mortise;

import java.time.Duration;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;

/**
 * A read-write lock as a {@link ReadWriteLock}: each thread is an owner. As with {@link
 * java.util.concurrent.locks.ReentrantReadWriteLock}, a thread may lock again what it holds, and a
 * writer may also read. Such a writer continues to read after it unlocks the write lock. Where the
 * protocol cannot turn a writer into a reader, its {@code readLock().lock()} fails with {@link
 * Status#UNSUPPORTED}. A reader that locks the write lock would wait for itself forever there. Here
 * it gets a {@link MortiseException} with {@link Status#ALREADY_HELD}; see {@link #tryUpgrade()}.
 *
 * <p>Another difference: with Mortise's own protocol the untimed {@code tryLock()} of either lock
 * does not barge past waiters. While a writer waits, it returns false, even if only readers hold
 * the lock. A reading thread may still read again.
 */
public final class MortiseReadWriteLock implements ReadWriteLock {
  private final Name name;
  private final MortiseOptions options;
  private final ThreadHolds<ReadWriteMutex> holds;
  private final OwnerPool<ReadWriteMutex> pool;
  private final Lock readLock = new ReadSide();
  private final Lock writeLock = new WriteSide();

  MortiseReadWriteLock(MortiseClient client, Name name, MortiseOptions options) {
    this.name = name;
    this.options = options;
    this.holds = client.readWrites().holds();
    this.pool = client.readWrites().pool();
  }

  @Override
  public Lock readLock() {
    return readLock;
  }

  @Override
  public Lock writeLock() {
    return writeLock;
  }

  /**
   * The lock's name.
   *
   * @return the name, with a replacement character for bytes that are not UTF-8
   */
  public String name() {
    return name.toString();
  }

  /**
   * Turns this thread's hold for reading into a hold for writing if there is no other reader. It
   * never waits.
   *
   * @return true: this thread holds the write lock, and no longer the read lock; false: there are
   *     other readers, and this thread still reads
   * @throws IllegalMonitorStateException if this thread does not read
   * @throws MortiseException with {@link Status#ALREADY_HELD} if this thread reads more than once
   *     or writes already, and others
   */
  public boolean tryUpgrade() {
    ThreadHold<ReadWriteMutex> held = held();
    if (held == null || held.reads == 0) throw notReader();
    if (held.reads > 1 || held.writes > 0) {
      throw alreadyHeld("cannot upgrade: this thread writes or reads more than once");
    }
    if (!held.owner().tryUpgrade()) return false;
    held.reads = 0;
    held.writes = 1;
    return true;
  }

  /**
   * Whether this thread reads, by the local clock. This includes reading during a write.
   *
   * @return true if it does
   */
  public boolean isReadHeldByCurrentThread() {
    ThreadHold<ReadWriteMutex> held = held();
    return held != null && held.reads > 0 && held.owner().isHeld();
  }

  /**
   * Whether this thread writes, by the local clock.
   *
   * @return true if it does
   */
  public boolean isWriteHeldByCurrentThread() {
    ThreadHold<ReadWriteMutex> held = held();
    return held != null && held.writes > 0 && held.owner().isHeld();
  }

  /**
   * How long this thread's hold is still valid without a renewal, by the local clock.
   *
   * @return whole milliseconds, rounded down; zero when it is not held
   */
  public Duration validFor() {
    ThreadHold<ReadWriteMutex> held = held();
    return held == null ? Duration.ZERO : held.owner().validFor();
  }

  /**
   * The fencing token of this thread's hold. A writer's token is above every earlier token of
   * readers and writers. A reader's token is above every earlier writer's token and below every
   * later one. Among readers, tokens do not rise. Compare a reader's token with the highest token
   * of a writer, and store only writers' tokens.
   *
   * @return the token
   * @throws IllegalMonitorStateException if this thread holds neither
   */
  public long token() {
    ThreadHold<ReadWriteMutex> held = held();
    if (held == null) throw ThreadOwnedLock.notHolder(name);
    return held.owner().token();
  }

  @Override
  public String toString() {
    return "MortiseReadWriteLock[" + name + "]";
  }

  private ThreadHold<ReadWriteMutex> held() {
    return holds.get(name);
  }

  private MortiseException alreadyHeld(String remedy) {
    return new MortiseException(Status.ALREADY_HELD, name, remedy);
  }

  private IllegalMonitorStateException notReader() {
    return new IllegalMonitorStateException(
        "thread " + Thread.currentThread().getName() + " does not read " + name);
  }

  /** The hold of this thread, which had none; null when it was not to be had. */
  private ThreadHold<ReadWriteMutex> first(ThreadOwnedLock.Attempt attempt, boolean isWriting)
      throws InterruptedException {
    ReadWriteMutex owner = pool.take(name, options);
    Event grant = null;
    try {
      grant = attempt.acquire(owner.mode(isWriting));
    } finally {
      if (grant == null) pool.giveBack(owner);
    }
    if (grant == null) return null;
    var held = new ThreadHold<>(owner, grant.holdNumber());
    holds.put(name, held);
    return held;
  }

  private void last(ThreadHold<ReadWriteMutex> held, boolean isWriting) {
    holds.remove(name);
    try {
      ThreadOwnedLock.requireReleased(held.unlock(held.owner().mode(isWriting)), name);
    } finally {
      pool.giveBack(held.owner());
    }
  }

  private final class ReadSide extends ThreadOwnedLock {
    @Override
    boolean acquire(Attempt attempt) throws InterruptedException {
      ThreadHold<ReadWriteMutex> held = held();
      if (held != null) {
        held.requireNotLost();
        // The writer keeps this read when it unlocks, so the protocol has to support that.
        if (held.reads == 0) held.owner().requireModeChanges();
      } else {
        held = first(attempt, false);
      }
      if (held != null) held.reads = ThreadHold.oneMore(held.reads);
      return held != null;
    }

    @Override
    public void unlock() {
      ThreadHold<ReadWriteMutex> held = held();
      if (held == null || held.reads == 0) throw notReader();
      if (--held.reads == 0 && held.writes == 0) last(held, false);
    }

    @Override
    public String toString() {
      return MortiseReadWriteLock.this + ".readLock";
    }
  }

  private final class WriteSide extends ThreadOwnedLock {
    @Override
    boolean acquire(Attempt attempt) throws InterruptedException {
      ThreadHold<ReadWriteMutex> held = held();
      if (held == null) {
        held = first(attempt, true);
      } else if (held.writes == 0) {
        throw alreadyHeld("this thread reads; unlock the read lock first, or use tryUpgrade");
      } else {
        held.requireNotLost();
      }
      if (held != null) held.writes = ThreadHold.oneMore(held.writes);
      return held != null;
    }

    @Override
    public void unlock() {
      ThreadHold<ReadWriteMutex> held = held();
      if (held == null || held.writes == 0) {
        throw new IllegalMonitorStateException(
            "thread " + Thread.currentThread().getName() + " does not write " + name);
      }
      if (--held.writes > 0) return;
      if (held.reads > 0) {
        held.owner().downgrade();
      } else {
        last(held, true);
      }
    }

    @Override
    public String toString() {
      return MortiseReadWriteLock.this + ".writeLock";
    }
  }
}
