package org.mortise;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/**
 * Platform threads without bound for callbacks that may block. While callbacks are queued, one
 * thread is always on its way to the queue, started or woken, so no callback waits for another to
 * end. A cached {@link java.util.concurrent.ThreadPoolExecutor} wakes a thread for each callback
 * instead, which halves the rate of short callbacks.
 */
final class CallbackPool implements Executor {
  /** Idle threads end, so that a client that is closed or collected leaves none. */
  private static final long IDLE_MILLIS = TimeUnit.SECONDS.toMillis(5);

  private final ThreadFactory threads;
  /** This and the rest are guarded by this object. */
  private final Deque<Runnable> queue = new ArrayDeque<>();
  private int idle;
  private boolean isOneComing;

  CallbackPool(ThreadFactory threads) {
    this.threads = threads;
  }

  /**
   * Queues a callback, or throws what kept the thread that it needs from being started, such as an
   * {@link OutOfMemoryError}; then it is not queued.
   */
  @Override
  public synchronized void execute(Runnable work) {
    queue.addLast(work);
    try {
      summon();
    } catch (Throwable noThread) {
      queue.removeLast();
      throw noThread;
    }
  }

  /**
   * Has one more thread come to the queue, where none is coming. The thread is started under the
   * lock: otherwise another callback could rely on a thread that then cannot be started.
   */
  private void summon() {
    if (isOneComing || queue.isEmpty()) return;
    if (idle > 0) {
      notify();
    } else {
      threads.newThread(this::work).start();
    }
    isOneComing = true;
  }

  private void work() {
    synchronized (this) {
      isOneComing = false;
    }
    while (runNext()) {
      // A frame of its own, so that an idle thread keeps nothing of its last callback.
    }
  }

  private boolean runNext() {
    Runnable next = next();
    if (next == null) return false;
    // The callback before may have left it set.
    Thread.interrupted();
    try {
      next.run();
    } catch (Throwable thrown) {
      Core.report(thrown);
    }
    return true;
  }

  /** The next callback; null when there was none for long. */
  private synchronized Runnable next() {
    while (queue.isEmpty()) {
      if (!awaitWork()) return null;
    }
    Runnable next = queue.removeFirst();
    try {
      summon();
    } catch (Throwable noThread) {
      // The rest of the queue waits for a callback to end, or for the thread of a later callback.
    }
    return next;
  }

  /** Whether to look again. */
  private boolean awaitWork() {
    long start = System.nanoTime();
    idle++;
    try {
      wait(IDLE_MILLIS);
    } catch (InterruptedException stray) {
      // The last callback's own.
    }
    idle--;
    isOneComing = false;
    return !queue.isEmpty()
        || System.nanoTime() - start < TimeUnit.MILLISECONDS.toNanos(IDLE_MILLIS);
  }
}
