package org.mortise.spring.integration;

import java.time.Duration;
import java.util.ConcurrentModificationException;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import org.mortise.MortiseClient;
import org.mortise.MortiseException;
import org.mortise.MortiseLock;
import org.mortise.MortiseOptions;
import org.mortise.Status;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.integration.support.locks.DistributedLock;

/**
 * A lock of a {@link MortiseLockRegistry}. A thread is its owner, and may lock again what it holds.
 * Waiters are served in the order of arrival. Let the protected resource refuse a {@link #token()}
 * lower than the highest token it has seen. Nothing else can keep a paused process from acting
 * after its lease.
 *
 * <p>If the server prevents an acquire, a {@link CannotAcquireLockException} is thrown, with the
 * {@link MortiseException} as its cause. The same happens for a lock that this thread has lost,
 * until it is unlocked.
 */
public final class MortiseDistributedLock implements DistributedLock {
  /** One of the ways to lock. */
  private interface Attempt<E extends Exception> {
    boolean isAcquired(Lock lock) throws E;
  }

  private final MortiseLockRegistry registry;
  private final MortiseClient client;
  private final String name;
  private final MortiseOptions options;
  private final MortiseLock lock;

  MortiseDistributedLock(
      MortiseLockRegistry registry, MortiseClient client, String name, MortiseOptions options) {
    this.registry = registry;
    this.client = client;
    this.name = name;
    this.options = options;
    this.lock = client.lock(name, options);
  }

  @Override
  public void lock() {
    lock(lock);
  }

  /**
   * As {@link #lock()}, with a lease of its own. It is renewed as others are, unless the registry's
   * options disable renewal. If this thread already holds the lock, the lease of the hold remains.
   *
   * @param ttl 50 ms to 366 days
   */
  @Override
  public void lock(Duration ttl) {
    lock(withLease(ttl));
  }

  private void lock(Lock some) {
    acquire(
        some,
        it -> {
          it.lock();
          return true;
        });
  }

  @Override
  public void lockInterruptibly() throws InterruptedException {
    acquire(
        lock,
        it -> {
          it.lockInterruptibly();
          return true;
        });
  }

  @Override
  public boolean tryLock() {
    return acquire(lock, Lock::tryLock);
  }

  @Override
  public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
    return acquire(lock, it -> it.tryLock(time, unit));
  }

  /**
   * As {@link #tryLock(long, TimeUnit)}, with a lease of its own; see {@link #lock(Duration)}.
   *
   * @param waitTime how long to wait
   * @param ttl 50 ms to 366 days
   */
  @Override
  public boolean tryLock(Duration waitTime, Duration ttl) throws InterruptedException {
    long nanos = TimeUnit.NANOSECONDS.convert(waitTime);
    return acquire(withLease(ttl), it -> it.tryLock(nanos, TimeUnit.NANOSECONDS));
  }

  private MortiseLock withLease(Duration ttl) {
    return client.lock(name, options.withLease(Objects.requireNonNull(ttl, "ttl")));
  }

  private <E extends Exception> boolean acquire(Lock some, Attempt<E> attempt) throws E {
    try {
      return attempt.isAcquired(some);
    } catch (MortiseException failure) {
      // The same call would fail for ever, which the other exception says it need not.
      if (failure.status() == Status.INVALID_ARGUMENT) throw failure;
      throw new CannotAcquireLockException("cannot lock " + name, failure);
    }
  }

  /**
   * Ends this thread's hold, or one of its several acquires. An interrupt does not prevent it.
   *
   * @throws IllegalStateException if this thread does not hold it
   * @throws ConcurrentModificationException if the hold was lost before: another owner may have
   *     held the lock since
   * @throws MortiseException because the server did not confirm the end, which comes with the end
   *     of the lease at the latest; this thread then holds nothing
   */
  @Override
  public void unlock() {
    try {
      lock.unlock();
    } catch (IllegalMonitorStateException notHolder) {
      throw new IllegalStateException(notHolder.getMessage(), notHolder);
    } catch (MortiseException failure) {
      if (failure.status() != Status.LOST) throw failure;
      throw new ConcurrentModificationException(
          name + " was lost before the unlock: another owner may have held it", failure);
    }
  }

  void renew(Duration ttl) {
    try {
      lock.extend(ttl);
    } catch (IllegalMonitorStateException | MortiseException failure) {
      throw new IllegalStateException("cannot renew " + name, failure);
    }
  }

  /**
   * Not supported: a thread cannot wait for another host's signal.
   *
   * @throws UnsupportedOperationException always
   */
  @Override
  public Condition newCondition() {
    return lock.newCondition();
  }

  /**
   * The lock's name at the server.
   *
   * @return the name
   */
  public String name() {
    return name;
  }

  /**
   * The fencing token of this thread's hold, for the protected resource. It rises with every grant.
   *
   * @return the token
   * @throws IllegalMonitorStateException if this thread does not hold it
   */
  public long token() {
    return lock.token();
  }

  /**
   * Whether this thread holds it, by the local clock. It sends no request.
   *
   * @return true until it is unlocked or lost
   */
  public boolean isHeldByCurrentThread() {
    return lock.isHeldByCurrentThread();
  }

  /**
   * How long this thread's hold is still valid without a renewal, by the local clock.
   *
   * @return whole milliseconds, rounded down; zero when it is not held
   */
  public Duration validFor() {
    return lock.validFor();
  }

  /**
   * Whether it is a lock of the same registry and the same key. Locks of two registries are not
   * equal, even if they are the same lock to a thread: their leases may differ.
   */
  @Override
  public boolean equals(Object other) {
    return other instanceof MortiseDistributedLock that
        && registry == that.registry
        && name.equals(that.name);
  }

  @Override
  public int hashCode() {
    return System.identityHashCode(registry) * 31 + name.hashCode();
  }

  @Override
  public String toString() {
    return "MortiseDistributedLock[" + name + "]";
  }
}
