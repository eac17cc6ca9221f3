package org.mortise.spring.boot;

/** A {@link Locked} method did not run, because another owner held the lock for too long. */
public final class LockNotAcquiredException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** The name of the lock. */
  private final String lockName;

  LockNotAcquiredException(String lockName, String message) {
    super(message);
    this.lockName = lockName;
  }

  /**
   * The name of the lock.
   *
   * @return the name
   */
  public String lockName() {
    return lockName;
  }
}
