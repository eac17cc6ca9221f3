package org.mortise;

import java.util.concurrent.Executor;
import java.util.function.Consumer;

/** The listener of a client's log. A slow one loses lines, and the next line has their number. */
final class LogReport extends Report<LogLine> {
  /** As many as the native client keeps. */
  static final int MOST_UNREAD = 64;

  /** Of the dispatcher's thread. */
  private long dropped;

  LogReport(long tag, Consumer<LogLine> listener) {
    super(tag, MOST_UNREAD, listener);
  }

  void tell(LogLine line, Executor callbacks) {
    if (offer(line.after(dropped), callbacks)) {
      dropped = 0;
    } else {
      dropped += 1 + line.droppedRecords();
    }
  }
}
