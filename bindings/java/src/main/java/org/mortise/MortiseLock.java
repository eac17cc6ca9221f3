package org.mortise;

import java.time.Duration;

/**
 * A mutex as a {@link java.util.concurrent.locks.Lock}: each thread is an owner, and may lock again
 * what it holds. All lock objects of one name and one client are the same lock to a thread. A
 * thread that dies without an unlock keeps the lock, as with Java's own, until {@code max_hold}
 * ends it. An untimed {@link #tryLock()} does not pass waiters.
 *
 * <p>Failures of the server are a {@link MortiseException}. {@link #unlock()} throws one with
 * {@link Status#LOST} when the hold was lost before, so that unprotected work is reported.
 */
public final class MortiseLock extends ThreadOwnedLock {
  private final Name name;
  private final MortiseOptions options;
  private final ThreadHolds<Mutex> holds;
  private final OwnerPool<Mutex> pool;

  MortiseLock(MortiseClient client, Name name, MortiseOptions options) {
    this.name = name;
    this.options = options;
    this.holds = client.mutexes().holds();
    this.pool = client.mutexes().pool();
  }

  @Override
  boolean acquire(Attempt attempt) throws InterruptedException {
    ThreadHold<Mutex> held = held();
    if (held != null) {
      held.requireNotLost();
      held.writes = ThreadHold.oneMore(held.writes);
      return true;
    }
    Mutex owner = pool.take(name, options);
    Event grant = null;
    try {
      grant = attempt.acquire(owner.mode());
    } finally {
      if (grant == null) pool.giveBack(owner);
    }
    if (grant == null) return false;
    held = new ThreadHold<>(owner, grant.holdNumber());
    held.writes = 1;
    holds.put(name, held);
    return true;
  }

  /**
   * Ends this thread's hold, or one of its several acquires.
   *
   * @throws IllegalMonitorStateException if this thread does not hold it
   * @throws MortiseException with {@link Status#LOST} if the hold was lost before, or because the
   *     server did not confirm the end; this thread then holds nothing
   */
  @Override
  public void unlock() {
    ThreadHold<Mutex> held = requireHeld();
    if (--held.writes > 0) return;
    holds.remove(name);
    try {
      requireReleased(held.unlock(held.owner().mode()), name);
    } finally {
      pool.giveBack(held.owner());
    }
  }

  /**
   * Makes this thread's hold last at least this long from now. It never shortens the hold.
   *
   * @param lease 50 ms to 366 days, or zero for the lock's lease
   * @throws IllegalMonitorStateException if this thread does not hold it
   * @throws MortiseException with {@link Status#LOST} if the hold was lost before, and others,
   *     after which the old end stands
   */
  public void extend(Duration lease) {
    Mutex owner = requireHeld().owner();
    owner.requireExtended(owner.extend(Times.roundedUp(lease, "lease")));
  }

  /**
   * Reports that the work under this thread's hold goes on, for the option {@link
   * MortiseOptions#withProgress}. It does not wait for a server.
   *
   * @throws IllegalMonitorStateException if this thread does not hold it
   * @throws MortiseException with {@link Status#LOST} if the hold was lost before
   */
  public void progress() {
    requireHeld().owner().progress();
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
   * Whether this thread holds it, by the local clock.
   *
   * @return true until it is unlocked or lost
   */
  public boolean isHeldByCurrentThread() {
    ThreadHold<Mutex> held = held();
    return held != null && held.owner().isHeld();
  }

  /**
   * How long this thread's hold is still valid without a renewal, by the local clock.
   *
   * @return whole milliseconds, rounded down; zero when it is not held
   */
  public Duration validFor() {
    ThreadHold<Mutex> held = held();
    return held == null ? Duration.ZERO : held.owner().validFor();
  }

  /**
   * How many unlocks this thread needs to release the lock.
   *
   * @return 0 when this thread does not hold it
   */
  public int holdCount() {
    ThreadHold<Mutex> held = held();
    return held == null ? 0 : held.writes;
  }

  /**
   * The fencing token of this thread's hold, for the protected resource.
   *
   * @return the token
   * @throws IllegalMonitorStateException if this thread does not hold it
   */
  public long token() {
    return requireHeld().owner().token();
  }

  private ThreadHold<Mutex> held() {
    return holds.get(name);
  }

  private ThreadHold<Mutex> requireHeld() {
    ThreadHold<Mutex> held = held();
    if (held == null) throw notHolder(name);
    return held;
  }

  @Override
  public String toString() {
    return "MortiseLock[" + name + "]";
  }
}
