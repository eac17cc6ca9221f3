package org.mortise.spring.boot;

/**
 * The lock of a {@link Locked} method was lost before the method returned. Another owner may have
 * held the lock meanwhile. The method has run, and its transaction may have committed.
 */
public final class LockLostException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** The name of the lock. */
  private final String lockName;

  /** The fencing token of the lost hold. */
  private final long token;

  LockLostException(String lockName, long token, String message) {
    super(message);
    this.lockName = lockName;
    this.token = token;
  }

  /**
   * The name of the lock.
   *
   * @return the name
   */
  public String lockName() {
    return lockName;
  }

  /**
   * The fencing token of the lost hold.
   *
   * @return the token
   */
  public long token() {
    return token;
  }
}
