package org.mortise;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** The listener of a client's reports, which it receives in their order. */
class Report<T> {
  private final long tag;
  private final Consumer<T> listener;
  private final int mostUnread;
  /** The number of reports that wait for the listener. */
  private final AtomicInteger unread = new AtomicInteger();
  /** Of the dispatcher's thread. */
  private CompletableFuture<Void> told = CompletableFuture.completedFuture(null);

  Report(long tag, int mostUnread, Consumer<T> listener) {
    this.tag = tag;
    this.mostUnread = mostUnread;
    this.listener = listener;
  }

  long tag() {
    return tag;
  }

  /** Hands over a report; false if too many wait already, so that it is dropped. */
  boolean offer(T report, Executor callbacks) {
    if (unread.get() >= mostUnread) return false;
    unread.incrementAndGet();
    told = told.handleAsync((done, thrown) -> accept(report), callbacks);
    return true;
  }

  private Void accept(T report) {
    unread.decrementAndGet();
    try {
      listener.accept(report);
    } catch (Throwable thrown) {
      Core.report(thrown);
    }
    return null;
  }
}
