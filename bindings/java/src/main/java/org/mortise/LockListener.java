package org.mortise;

/**
 * Receives the begin and the end of each wait and each hold of a client, for example to trace them.
 * {@link MortiseClient.Builder#lockListener} sets it.
 *
 * <p>Each acquire begins a wait, which ends at once if the lock is free or the acquire does not
 * wait. A thread that locks again what it holds does not wait. A wait ends with a hold or a
 * failure. The thread that acquires, tries or releases makes the calls, before its own call
 * returns. For futures, losses, and holds that end because their owner or client was closed, the
 * client's callback executor makes them. The client has locked nothing meanwhile.
 *
 * <p>The client logs whatever a listener throws to {@code System.getLogger("org.mortise")}, and
 * continues. A listener that blocks delays the thread that called it.
 */
@FunctionalInterface
public interface LockListener {
  /**
   * An acquire begins. The thread that acquires makes this call, also for a future.
   *
   * @param name the lock's name; for a {@link Multi} a text with the names of its members
   * @param kind the kind of the lock
   * @return receives the end of this wait; null to receive nothing
   */
  Wait beginWait(String name, LockKind kind);

  /** Receives the end of one wait. Exactly one of its methods is called, once. */
  interface Wait {
    /**
     * The lock is held.
     *
     * @param token the fencing token; 0 for a {@link Multi}
     * @return receives the end of this hold; null to receive nothing
     */
    Hold granted(long token);

    /**
     * The acquire ended without a hold.
     *
     * @param status why: {@link Status#NOT_ACQUIRED}, {@link Status#TIMED_OUT}, or {@link
     *     Status#CANCELLED}, also after an interrupt; another status is an error
     */
    void failed(Status status);
  }

  /**
   * Receives the end of one hold. Either {@link #released} or {@link #lost} is called, once. Each
   * lease of a reentrant owner is a hold of its own.
   */
  interface Hold {
    /**
     * An upgrade or a downgrade succeeded, and the hold goes on. It does nothing unless overridden.
     *
     * @param kind the new kind
     * @param token the fencing token from now on
     */
    default void changed(LockKind kind, long token) {}

    /**
     * The hold was released.
     *
     * @param status {@link Status#OK}; {@link Status#CLOSED} if the owner, a member of the multi or
     *     the client was closed; otherwise why the server did not confirm the end, which comes with
     *     the end of the lease at the latest
     */
    void released(Status status);

    /**
     * The hold was lost. The work was not protected until its end.
     *
     * @param reason why; {@link LossReason#UNKNOWN} if only the release found the loss
     */
    void lost(LossReason reason);
  }
}
