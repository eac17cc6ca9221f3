package org.mortise;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/** What the adapters have in common: the contract of {@link Lock}, over one way to acquire. */
abstract class ThreadOwnedLock implements Lock {
  /** How to acquire when this thread has no hold yet. */
  interface Attempt {
    /** What it has got; null when it was not to be had. */
    Event acquire(Mode mode) throws InterruptedException;
  }

  /** Acquires once more for this thread. */
  abstract boolean acquire(Attempt attempt) throws InterruptedException;

  @Override
  public void lock() {
    try {
      acquire(Mode::lock);
    } catch (InterruptedException impossible) {
      throw new AssertionError(impossible);
    }
  }

  @Override
  public void lockInterruptibly() throws InterruptedException {
    requireNotInterrupted();
    acquire(Mode::await);
  }

  @Override
  public boolean tryLock() {
    try {
      return tryAcquire(Mode::tryNow);
    } catch (InterruptedException impossible) {
      throw new AssertionError(impossible);
    }
  }

  @Override
  public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
    requireNotInterrupted();
    long millis = Times.timeoutMillis(time, unit);
    return tryAcquire(mode -> mode.await(millis));
  }

  /**
   * Not supported: there is no way to wait for another host's signal.
   *
   * @throws UnsupportedOperationException always
   */
  @Override
  public Condition newCondition() {
    throw new UnsupportedOperationException("a distributed lock has no conditions");
  }

  /** A thread that stands in its own way does not get it, as with ReentrantReadWriteLock. */
  private boolean tryAcquire(Attempt attempt) throws InterruptedException {
    try {
      return acquire(attempt);
    } catch (MortiseException failure) {
      if (failure.status() == Status.ALREADY_HELD) return false;
      throw failure;
    }
  }

  private static void requireNotInterrupted() throws InterruptedException {
    if (Thread.interrupted()) throw new InterruptedException();
  }

  static void requireReleased(int code, Name name) {
    if (code != Status.OK.code()) throw MortiseException.ofOutcome(code, name);
  }

  static IllegalMonitorStateException notHolder(Name name) {
    return new IllegalMonitorStateException(
        "thread " + Thread.currentThread().getName() + " does not hold " + name);
  }
}
