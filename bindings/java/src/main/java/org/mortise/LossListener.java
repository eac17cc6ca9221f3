package org.mortise;

/**
 * Is told when a hold is lost, or is about to be, once for each hold. Several holds of a reader can
 * have the same token. It runs on the client's callback executor, and what it throws goes to that
 * thread's uncaught exception handler.
 */
@FunctionalInterface
public interface LossListener {
  /**
   * A hold was lost: its lease ended, or the server no longer has it. Stop what it protected.
   *
   * @param name the lock's name
   * @param token the fencing token of the lost hold
   */
  void lost(String name, long token);

  /**
   * As {@link #lost(String, long)}, which it calls unless overridden, with the reason.
   *
   * @param name the lock's name
   * @param token the fencing token of the lost hold
   * @param reason why it was lost
   */
  default void lost(String name, long token, LossReason reason) {
    lost(name, token);
  }

  /**
   * A hold has a third of its lease left and is not being renewed; told once per hold. It does
   * nothing unless overridden.
   *
   * @param name the lock's name
   * @param token the fencing token of the hold
   */
  default void atRisk(String name, long token) {}

  /**
   * As {@link #atRisk(String, long)}, which it calls unless overridden, with the reason.
   *
   * @param name the lock's name
   * @param token the fencing token of the hold
   * @param reason why it would be lost
   */
  default void atRisk(String name, long token, LossReason reason) {
    atRisk(name, token);
  }
}
