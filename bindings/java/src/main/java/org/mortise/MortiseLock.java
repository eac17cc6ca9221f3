package org.mortise;

import java.time.Duration;

/**
 * A mutex as a {@link java.util.concurrent.locks.Lock}: each thread is an owner, and may lock again
 * what it holds. All locks of one name and one client are one to a thread. As with Java's own, a
 * thread that dies without having unlocked keeps the lock, here until {@code max_hold} ends it.
 * {@link #tryLock()} does not pass those who wait.
 *
 * <p>Failures of the server are a {@link MortiseException}. {@link #unlock()} throws one with
 * {@link Status#LOST} when the hold had been lost before, so that work that was not protected is
 * known.
 */
public final class MortiseLock extends ThreadOwnedLock {
  private final Name name;
  private final MortiseOptions options;
  private final ThreadHolds<MutexOwner> holds;
  private final OwnerPool<MutexOwner> pool;

  MortiseLock(MortiseClient client, Name name, MortiseOptions options) {
    this.name = name;
    this.options = options;
    this.holds = client.mutexHolds();
    this.pool = client.mutexes();
  }

  @Override
  boolean acquire(Attempt attempt) throws InterruptedException {
    ThreadHold<MutexOwner> held = held();
    if (held != null) {
      held.requireNotLost();
      held.writes = ThreadHold.oneMore(held.writes);
      return true;
    }
    MutexOwner owner = pool.take(name, options);
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
   * @throws MortiseException with {@link Status#LOST} if the hold had been lost, or because the
   *     server did not confirm the end; this thread holds nothing then, too
   */
  @Override
  public void unlock() {
    ThreadHold<MutexOwner> held = requireHeld();
    if (--held.writes > 0) return;
    holds.remove(name);
    try {
      requireReleased(held.unlock(held.owner().mode()), name);
    } finally {
      pool.giveBack(held.owner());
    }
  }

  /**
   * Makes this thread's hold last at least so long from now; never shortens it.
   *
   * @param lease 50 ms to 366 days, or zero for the lock's lease
   * @throws IllegalMonitorStateException if this thread does not hold it
   * @throws MortiseException with {@link Status#LOST} when it was lost before, and others, after
   *     which the old end stands
   */
  public void extend(Duration lease) {
    MutexOwner owner = requireHeld().owner();
    owner.requireExtended(owner.extend(Times.roundedUp(lease, "lease")));
  }

  /**
   * The lock's name.
   *
   * @return the name, with a replacement character for what is not UTF-8
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
    ThreadHold<MutexOwner> held = held();
    return held != null && held.owner().isHeld();
  }

  /**
   * How long this thread's hold is still valid without a renewal, by the local clock.
   *
   * @return milliseconds, rounded down; 0 when it is not held
   */
  public long validMillis() {
    ThreadHold<MutexOwner> held = held();
    return held == null ? 0 : held.owner().validMillis();
  }

  /**
   * How often this thread has to unlock it.
   *
   * @return 0 when this thread does not hold it
   */
  public int holdCount() {
    ThreadHold<MutexOwner> held = held();
    return held == null ? 0 : held.writes;
  }

  /**
   * The fencing token of this thread's hold, for whatever the lock protects.
   *
   * @return the token
   * @throws IllegalMonitorStateException if this thread does not hold it
   */
  public long token() {
    return requireHeld().owner().token();
  }

  private ThreadHold<MutexOwner> held() {
    return holds.get(name);
  }

  private ThreadHold<MutexOwner> requireHeld() {
    ThreadHold<MutexOwner> held = held();
    if (held == null) throw notHolder(name);
    return held;
  }

  @Override
  public String toString() {
    return "MortiseLock[" + name + "]";
  }
}
