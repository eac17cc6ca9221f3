package org.mortise;

/**
 * One record of the completion queue that is not an error, or the same of a call that has waited.
 *
 * @param holdNumber tells the hold from every other one of its owner; readers share tokens
 */
record Event(int code, long token, long holdNumber) {
  /** What is told when nothing had to be asked. */
  static final Event OK = of(Status.OK.code());

  /** Of no hold. */
  static Event of(int code) {
    return new Event(code, 0, 0);
  }

  boolean isOk() {
    return code == Status.OK.code();
  }

  boolean is(Status status) {
    return code == status.code();
  }
}
