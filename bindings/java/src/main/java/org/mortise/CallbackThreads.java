package org.mortise;

import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * A client's own threads for callbacks. Each callback has a thread to itself, so that a callback
 * that blocks keeps no other from running.
 */
final class CallbackThreads {
  private static final String TASK = "mortise-callback";
  private static final long IDLE_SECONDS = 5;
  /**
   * Before this Java a virtual thread that blocks in {@code synchronized} keeps its carrier, and
   * with few processors that would stop all other callbacks.
   */
  private static final int FIRST_WITHOUT_PINNING = 24;
  /** Null where callbacks have platform threads. */
  private static final ThreadFactory VIRTUAL = findVirtual();

  private CallbackThreads() {}

  /** An executor without bound; the threads' names tell whom they serve, as in {@link Threads}. */
  static Executor executor(String served) {
    if (VIRTUAL != null) {
      return work -> {
        Thread thread = VIRTUAL.newThread(work);
        thread.setName(Threads.name(TASK, served));
        thread.start();
      };
    }
    // Its idle threads end by themselves, so that a client that is closed or collected leaves none.
    return new ThreadPoolExecutor(
        0,
        Integer.MAX_VALUE,
        IDLE_SECONDS,
        TimeUnit.SECONDS,
        new SynchronousQueue<>(),
        work -> Threads.daemon(work, TASK, served));
  }

  private static ThreadFactory findVirtual() {
    if (Runtime.version().feature() < FIRST_WITHOUT_PINNING) return null;
    try {
      Class<?> type = Class.forName("java.lang.Thread$Builder");
      Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
      builder =
          type.getMethod("inheritInheritableThreadLocals", boolean.class).invoke(builder, false);
      return (ThreadFactory) type.getMethod("factory").invoke(builder);
    } catch (ReflectiveOperationException none) {
      return null;
    }
  }
}
