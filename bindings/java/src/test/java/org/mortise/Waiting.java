package org.mortise;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.fail;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.function.Executable;

/** How tests wait: for a fact, for long, and never for a time. */
final class Waiting {
  static final Duration PATIENCE = Duration.ofSeconds(60);
  static final long PATIENCE_SECONDS = PATIENCE.toSeconds();
  private static final long PAUSE_MILLIS = 2;

  private Waiting() {}

  static void until(String what, Callable<Boolean> isSo) throws Exception {
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (!isSo.call()) {
      if (System.nanoTime() > end) fail("never came: " + what);
      Thread.sleep(PAUSE_MILLIS);
    }
  }

  static <T> T result(CompletableFuture<T> future) throws Exception {
    return future.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
  }

  /** Until so many clients wait at the server for this mutex. */
  static void untilWaiting(Redis redis, String name, long count) throws Exception {
    until(
        count + " wait for " + name,
        () -> redis.command("LLEN", "{mortise:" + name + "}:q").equals(count));
  }

  static void assertStatus(Status status, Executable call) {
    assertEquals(status, assertThrows(MortiseException.class, call).status());
  }

  /** A thread whose failure is the test's. */
  static final class Worker {
    private final CompletableFuture<Void> end = new CompletableFuture<>();
    private final Thread thread;

    Worker(Executable work) {
      this(Thread::new, work);
    }

    Worker(ThreadFactory threads, Executable work) {
      thread =
          threads.newThread(
              () -> {
                try {
                  work.execute();
                  end.complete(null);
                } catch (Throwable thrown) {
                  end.completeExceptionally(thrown);
                }
              });
      thread.setDaemon(true);
      thread.start();
    }

    Thread thread() {
      return thread;
    }

    void finish() throws Exception {
      result(end);
    }
  }
}
