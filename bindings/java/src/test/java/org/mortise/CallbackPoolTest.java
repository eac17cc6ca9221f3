package org.mortise;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mortise.Waiting.result;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class CallbackPoolTest {
  private static final int ROUNDS = 2000;
  private static final int BURST = 8;

  private final List<Thread> started = Collections.synchronizedList(new ArrayList<>());
  private final CallbackPool pool = new CallbackPool(this::thread);

  private Thread thread(Runnable work) {
    Thread thread = Threads.daemon(work, "pool", "");
    started.add(thread);
    return thread;
  }

  private static void await(CountDownLatch latch) {
    assertDoesNotThrow(() -> assertTrue(latch.await(30, TimeUnit.SECONDS)));
  }

  /** All but the last of a burst wait for the last, whatever the threads were doing before. */
  @Test
  void noCallbackWaitsForAnotherToEnd() throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      var last = new CountDownLatch(1);
      var ended = new CountDownLatch(BURST);
      for (int i = 0; i < BURST; i++) {
        pool.execute(
            () -> {
              await(last);
              ended.countDown();
            });
      }
      pool.execute(last::countDown);
      await(ended);
    }
    // A thread may still be on its way back from one burst when the next begins.
    assertTrue(started.size() <= 10 * BURST, started.size() + " threads");
  }

  @Test
  void shortCallbacksShareFewThreads() throws Exception {
    var count = new AtomicInteger();
    var all = new CountDownLatch(10 * ROUNDS);
    for (int i = 0; i < 10 * ROUNDS; i++) {
      pool.execute(
          () -> {
            count.incrementAndGet();
            all.countDown();
          });
    }
    await(all);
    assertEquals(10 * ROUNDS, count.get());
    assertTrue(started.size() < ROUNDS, started.size() + " threads");
  }

  @Test
  void aCallbackLeavesNothingToTheNext() throws Exception {
    var first = new CompletableFuture<Thread>();
    pool.execute(
        () -> {
          first.complete(Thread.currentThread());
          Thread.currentThread().interrupt();
          throw new IllegalStateException("a callback's own");
        });
    result(first);
    for (int i = 0; i < 100; i++) {
      var isInterrupted = new CompletableFuture<Boolean>();
      pool.execute(() -> isInterrupted.complete(Thread.currentThread().isInterrupted()));
      assertFalse(result(isInterrupted));
    }
  }

  @Test
  void idleThreadsEnd() throws Exception {
    pool.execute(() -> {});
    Waiting.until("an idle thread ends", () -> !started.get(0).isAlive());
    var again = new CompletableFuture<Void>();
    pool.execute(() -> again.complete(null));
    result(again);
  }

  @Test
  void aThreadThatCannotStartLosesNoCallback() throws Exception {
    var isExhausted = new AtomicBoolean(true);
    var exhausted =
        new CallbackPool(
            work -> {
              if (isExhausted.get()) throw new OutOfMemoryError("unable to create native thread");
              return thread(work);
            });
    var ran = new AtomicBoolean();
    assertThrows(OutOfMemoryError.class, () -> exhausted.execute(() -> ran.set(true)));
    isExhausted.set(false);
    var next = new CompletableFuture<Void>();
    exhausted.execute(() -> next.complete(null));
    result(next);
    assertFalse(ran.get(), "the caller runs it");
  }
}
