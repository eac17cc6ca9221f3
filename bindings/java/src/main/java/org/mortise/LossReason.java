package org.mortise;

/** Why a hold was lost, or is at risk. The numbers are those of the C library, and are never reused. */
public enum LossReason {
  /** It is not known. */
  UNKNOWN(0),
  /** The lease ended: it was not renewed, or no server agreed in time. */
  EXPIRED(1),
  /** The server says that another holds the lock. */
  REPLACED(2),
  /** The server no longer knows of the hold. */
  SERVER_LOST(3),
  /** It had been held for as long as {@link MortiseOptions#withMaxHold} allows. */
  MAX_HOLD(4);

  private final int code;

  LossReason(int code) {
    this.code = code;
  }

  /** A reason that a later version of the C library adds is not known here. */
  static LossReason of(int code) {
    for (LossReason reason : values()) {
      if (reason.code == code) return reason;
    }
    return UNKNOWN;
  }
}
