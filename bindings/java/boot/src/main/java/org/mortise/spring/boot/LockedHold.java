package org.mortise.spring.boot;

import java.util.concurrent.CompletableFuture;
import org.mortise.Lease;
import org.mortise.LossReason;
import org.mortise.Owner;

/** The hold of a {@link Locked} method, for the code that runs in it. Any thread may use it. */
public final class LockedHold {
  private static final ThreadLocal<LockedHold> INNERMOST = new ThreadLocal<>();

  private final Locked.Kind kind;
  private final Owner owner;
  private final Lease lease;
  /** Of the method that has called this one in the same thread; null without one. */
  private final LockedHold outer;

  private LockedHold(Locked.Kind kind, Owner owner, Lease lease) {
    this.kind = kind;
    this.owner = owner;
    this.lease = lease;
    this.outer = INNERMOST.get();
  }

  /**
   * The hold of the {@link Locked} method that this thread runs, of the innermost one if there are
   * several.
   *
   * @return the hold
   * @throws IllegalStateException if this thread runs no such method
   */
  public static LockedHold current() {
    LockedHold innermost = INNERMOST.get();
    if (innermost != null) return innermost;
    throw new IllegalStateException(
        "thread "
            + Thread.currentThread().getName()
            + " runs no @Locked method; call it through its bean, and pass the LockedHold to"
            + " other threads");
  }

  /** The hold of this thread with this name; null without one. */
  static LockedHold find(String name) {
    LockedHold found = INNERMOST.get();
    while (found != null && !found.name().equals(name)) found = found.outer;
    return found;
  }

  /** This thread runs under the hold until {@link #leave}. */
  static LockedHold enter(Locked.Kind kind, Owner owner, Lease lease) {
    var hold = new LockedHold(kind, owner, lease);
    INNERMOST.set(hold);
    return hold;
  }

  void leave() {
    if (outer == null) {
      INNERMOST.remove();
    } else {
      INNERMOST.set(outer);
    }
  }

  Locked.Kind kind() {
    return kind;
  }

  Owner owner() {
    return owner;
  }

  Lease lease() {
    return lease;
  }

  /**
   * The name of the lock.
   *
   * @return the name
   */
  public String name() {
    return owner.name();
  }

  /**
   * The fencing token. Pass it to the protected resource, which must refuse a token lower than the
   * highest token it has seen.
   *
   * @return the token
   */
  public long token() {
    return lease.token();
  }

  /**
   * Whether the lock is still held, by the local clock. It sends no request.
   *
   * @return true until the method returns or the lock is lost
   */
  public boolean isHeld() {
    return lease.isHeld();
  }

  /**
   * Requires that the lock is still held. Call it before the commit of a long transaction, which
   * its exception rolls back.
   *
   * @throws LockLostException if the lock was lost
   */
  public void requireHeld() {
    if (!isHeld()) throw lost("the work continues without it");
  }

  /**
   * A future that completes when the lock is lost, to cancel the work. It never completes after a
   * release.
   *
   * @return completed with the reason
   */
  public CompletableFuture<LossReason> lost() {
    return lease.lost();
  }

  LockLostException lost(String consequence) {
    return new LockLostException(
        name(),
        token(),
        "the lock \"" + name() + "\" with token " + token() + " was lost: " + consequence);
  }
}
