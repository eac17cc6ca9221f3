package org.mortise;

import static java.nio.charset.StandardCharsets.UTF_8;

/** Every failure of Mortise. {@link #status()} distinguishes them. */
public final class MortiseException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** The number of the status. */
  private final int code;

  /** The lock that it is about. */
  private final String lockName;

  /** The server's own words. */
  private final String serverText;

  /** Whether the same call may succeed later. */
  private final boolean isRetryable;

  /** Whether the request may have been carried out. */
  private final boolean isAmbiguous;

  private MortiseException(
      int code,
      String message,
      String lockName,
      String serverText,
      boolean isRetryable,
      boolean isAmbiguous) {
    super(message);
    this.code = code;
    this.lockName = lockName;
    this.serverText = serverText;
    this.isRetryable = isRetryable;
    this.isAmbiguous = isAmbiguous;
  }

  MortiseException(Status status, String message) {
    this(status.code(), message, "", "", false, false);
  }

  /** Of an owner of this name, in the form of the native code's. */
  MortiseException(Status status, Name name, String message) {
    this(status.code(), name.quoted() + ": " + message, name.ofLock(), "", false, false);
  }

  /** Called by the native code. */
  static MortiseException of(
      int code,
      byte[] message,
      byte[] lockName,
      byte[] serverText,
      boolean isRetryable,
      boolean isAmbiguous) {
    return new MortiseException(
        code,
        new String(message, UTF_8),
        new String(lockName, UTF_8),
        new String(serverText, UTF_8),
        isRetryable,
        isAmbiguous);
  }

  /** An outcome that is no error to the native code, where it is one to the caller. */
  static MortiseException ofOutcome(int code, Name name) {
    String text = new String(MortiseNative.status_text(code), UTF_8);
    return new MortiseException(
        code, name.quoted() + ": " + text, name.ofLock(), "", false, false);
  }

  static MortiseException closed(String what) {
    return new MortiseException(Status.CLOSED, what + " was closed");
  }

  /** The same, thrown where somebody waited for it, rather than where the news arrived. */
  MortiseException here() {
    var same =
        new MortiseException(code, getMessage(), lockName, serverText, isRetryable, isAmbiguous);
    same.initCause(this);
    return same;
  }

  /**
   * The result of the call.
   *
   * @return the status; {@link Status#OTHER} for a status that this version does not know
   */
  public Status status() {
    return Status.of(code);
  }

  /**
   * The status as a number: positive for a normal outcome, negative for an error.
   *
   * @return the number
   */
  public int code() {
    return code;
  }

  /**
   * The name of the lock, or of the member of a {@link Multi}. The message begins with it.
   *
   * @return the name, or {@code ""} if no lock is concerned
   */
  public String lockName() {
    return lockName;
  }

  /**
   * The server's own message.
   *
   * @return such as {@code "READONLY You can't write…"}, or {@code ""} without one
   */
  public String serverText() {
    return serverText;
  }

  /**
   * Whether the same call may succeed later without any change.
   *
   * @return true if it may
   */
  public boolean isRetryable() {
    return isRetryable;
  }

  /**
   * Whether the server may have executed the request although the call failed.
   *
   * @return true if it may
   */
  public boolean isAmbiguous() {
    return isAmbiguous;
  }
}
