package org.mortise;

/** One record of the completion queue that is not an error. */
record Event(int code, long token) {
  /** What is told when nothing had to be asked. */
  static final Event OK = new Event(Status.OK.code(), 0);

  boolean isOk() {
    return code == Status.OK.code();
  }

  boolean is(Status status) {
    return code == status.code();
  }
}
