package org.mortise;

/** What a call came to. The numbers are those of the C library, and are never reused. */
public enum Status {
  /** The call did what its name says. */
  OK(0),
  /** Somebody else holds the lock, and the call was not to wait. */
  NOT_ACQUIRED(1),
  /** The timeout passed first. Nothing is held. */
  TIMED_OUT(2),
  /** The wait was ended by {@link Owner#cancel()}. Nothing is held. */
  CANCELLED(3),
  /** The hold was lost: its lease ended, or the server says that it is no longer ours. */
  LOST(4),
  /** This owner holds nothing: it never did, or it has already unlocked. */
  NOT_OWNER(5),
  /** An argument is wrong; the message names it, its value and the mend. */
  INVALID_ARGUMENT(-1),
  /** No server answered; the request was never sent. Safe to try again. */
  UNREACHABLE(-2),
  /** The request was sent and no answer came: it may or may not have been carried out. */
  UNKNOWN(-3),
  /** The server refused the request and did not carry it out. */
  REFUSED(-4),
  /** This owner holds the lock already and is not reentrant. */
  ALREADY_HELD(-5),
  /** Another call on this owner is acquiring or unlocking. */
  BUSY(-6),
  /** A bound was hit: a full queue, a full buffer, too many waiters. */
  LIMIT(-7),
  /** The owner or its client was closed. */
  CLOSED(-8),
  /** This protocol, deployment or server cannot do that. */
  UNSUPPORTED(-10),
  /** Native memory ran out. */
  NO_MEMORY(-11),
  /** A defect in Mortise; please report it with the message. */
  INTERNAL(-12),
  /** A status that this version does not know; see {@link MortiseException#code()}. */
  OTHER(Integer.MIN_VALUE);

  private static final Status[] ALL = values();
  private final int code;

  Status(int code) {
    this.code = code;
  }

  /**
   * The number of this status in the C library.
   *
   * @return the number
   */
  public int code() {
    return code;
  }

  static Status of(int code) {
    for (Status status : ALL) {
      if (status.code == code) return status;
    }
    return OTHER;
  }
}
