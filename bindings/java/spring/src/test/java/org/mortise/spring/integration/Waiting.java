package org.mortise.spring.integration;

import static org.junit.jupiter.api.Assertions.fail;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.function.Executable;

/** How tests wait: for a fact, and for long. */
final class Waiting {
  static final long PATIENCE_SECONDS = 60;

  private Waiting() {}

  static void until(String what, Callable<Boolean> isSo) throws Exception {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
    while (!isSo.call()) {
      if (System.nanoTime() > end) fail("never came: " + what);
      Thread.sleep(2);
    }
  }

  /** A thread whose failure is the test's. */
  static final class Worker {
    private final CompletableFuture<Void> end = new CompletableFuture<>();
    private final Thread thread;

    Worker(Executable work) {
      thread =
          new Thread(
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
      end.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }
  }
}
