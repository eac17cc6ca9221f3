package org.mortise.spring.integration;

import java.time.Duration;
import java.util.Objects;
import org.mortise.MortiseClient;
import org.mortise.MortiseOptions;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.ExpirableLockRegistry;
import org.springframework.integration.support.locks.RenewableLockRegistry;

/**
 * Spring Integration's registry of locks, on Mortise. A lock excludes all threads of all hosts
 * except its holder. Holds are leases that are renewed without a task scheduler. {@link
 * MortiseDistributedLock} describes how a hold ends.
 *
 * <p>A registry stores nothing but the client, and never closes it. So all registries of one client
 * and one registry key share their locks. The locks of one key are the same lock to a thread. The
 * number of locks is not limited.
 */
public final class MortiseLockRegistry
    implements ExpirableLockRegistry<DistributedLock>, RenewableLockRegistry<DistributedLock> {
  private final MortiseClient client;
  private final String prefix;
  private final MortiseOptions options;

  /**
   * A registry whose locks are named as their keys are.
   *
   * @param client its options apply; it has to stay open as long as locks are used
   */
  public MortiseLockRegistry(MortiseClient client) {
    this(client, "", MortiseOptions.DEFAULTS);
  }

  /**
   * A registry whose locks are named {@code registryKey:lockKey}.
   *
   * @param client it has to stay open as long as locks are used
   * @param registryKey distinguishes the locks from those of other programs that use the server;
   *     empty for names that are the keys alone
   * @param options override the client's options; for a leader {@link
   *     MortiseOptions#withUnlimitedHold}
   */
  public MortiseLockRegistry(MortiseClient client, String registryKey, MortiseOptions options) {
    this.client = Objects.requireNonNull(client, "client");
    this.prefix =
        Objects.requireNonNull(registryKey, "registryKey").isEmpty() ? "" : registryKey + ":";
    this.options = Objects.requireNonNull(options, "options");
  }

  /**
   * The lock of a key.
   *
   * @param lockKey a String
   * @return the lock; any two locks of one key are equal, and the same lock to a thread
   * @throws IllegalArgumentException if the key is no String
   */
  @Override
  public MortiseDistributedLock obtain(Object lockKey) {
    if (lockKey instanceof String key) {
      return new MortiseDistributedLock(this, client, prefix + key, options);
    }
    String what = lockKey == null ? "null" : lockKey + " of " + lockKey.getClass().getName();
    throw new IllegalArgumentException(
        "lockKey is " + what + "; give a String, which is the same on every host");
  }

  /**
   * Makes this thread's hold last at least for the lease from now. It is only needed if the options
   * disable renewal.
   *
   * @param lockKey the key of a lock that this thread holds
   * @throws IllegalStateException if this thread does not hold it, or no longer holds it
   */
  @Override
  public void renewLock(Object lockKey) {
    renewLock(lockKey, Duration.ZERO);
  }

  /**
   * Makes this thread's hold last at least this long from now. It never shortens the hold.
   *
   * @param lockKey the key of a lock that this thread holds
   * @param ttl 50 ms to 366 days
   * @throws IllegalStateException if this thread does not hold it, or no longer holds it
   */
  @Override
  public void renewLock(Object lockKey, Duration ttl) {
    obtain(lockKey).renew(ttl);
  }

  /**
   * Does nothing: the registry does not store locks.
   *
   * @param age any value
   */
  @Override
  public void expireUnusedOlderThan(long age) {}

  @Override
  public String toString() {
    return "MortiseLockRegistry[" + prefix + "]";
  }
}
