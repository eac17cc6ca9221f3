package org.mortise;

/**
 * Receives losses and risks of holds, and that others wait, once for each hold. Several holds of a
 * reader can have the same token. The listener runs on the client's callback executor. Its
 * exceptions go to that thread's uncaught exception handler.
 */
@FunctionalInterface
public interface LossListener {
  /**
   * A hold was lost: its lease ended, or the server no longer has it. Stop the work that it
   * protected.
   *
   * @param name the lock's name
   * @param token the fencing token of the lost hold
   */
  void lost(String name, long token);

  /**
   * As {@link #lost(String, long)}, with the reason. It calls that method unless overridden.
   *
   * @param name the lock's name
   * @param token the fencing token of the lost hold
   * @param reason why it was lost
   */
  default void lost(String name, long token, LossReason reason) {
    lost(name, token);
  }

  /**
   * A hold has a third of its lease left and is not being renewed. It is called once per hold, and
   * does nothing unless overridden.
   *
   * @param name the lock's name
   * @param token the fencing token of the hold
   */
  default void atRisk(String name, long token) {}

  /**
   * As {@link #atRisk(String, long)}, with the reason. It calls that method unless overridden.
   *
   * @param name the lock's name
   * @param token the fencing token of the hold
   * @param reason why it would be lost
   */
  default void atRisk(String name, long token, LossReason reason) {
    atRisk(name, token);
  }

  /**
   * Others wait for the lock, and its owner has {@link MortiseOptions#withContended}. It is a hint,
   * as {@link Lease#contended}, and does nothing unless overridden.
   *
   * @param name the lock's name
   * @param token the fencing token of the hold
   */
  default void contended(String name, long token) {}
}
