package org.mortise;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mortise.Waiting.result;

import java.io.IOException;
import java.lang.ref.Reference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class FutureTest {
  @RegisterExtension static final Redis redis = new Redis();
  private static MortiseClient client;

  @BeforeAll
  static void open() {
    client = MortiseClient.open(redis.strictUrl());
  }

  @AfterAll
  static void close() throws Exception {
    client.close();
  }

  private static Status statusOf(CompletableFuture<?> future) {
    var thrown =
        assertThrows(
            ExecutionException.class, () -> future.get(Waiting.PATIENCE_SECONDS, TimeUnit.SECONDS));
    return assertInstanceOf(MortiseException.class, thrown.getCause()).status();
  }

  @Test
  void aFutureBringsALease() throws Exception {
    Lease lease = result(client.mutex("one").acquireAsync());
    assertTrue(lease.isHeld());
    assertTrue(result(client.mutex("one").tryAcquireAsync()).isEmpty());
    assertTrue(result(client.mutex("one").tryAcquireAsync(Duration.ofMillis(200))).isEmpty());
    result(lease.extendAsync(Duration.ofHours(1)));
    assertTrue(lease.validFor().toMillis() > Duration.ofMinutes(50).toMillis());
    assertTrue(result(lease.releaseAsync()));
    assertFalse(result(lease.releaseAsync()));
    assertEquals(Status.NOT_OWNER, statusOf(lease.extendAsync(Duration.ofHours(1))));
    assertFalse(redis.exists("{mortise:one}"));
  }

  @Test
  void twoThousandWaitInOrderOnFewThreads() throws Exception {
    int count = 2000;
    var options = MortiseOptions.DEFAULTS.withStrictFairness(true);
    Lease gate = client.mutex("crowd", options).acquire();
    long threadsBefore = osThreads();
    var order = new ConcurrentLinkedQueue<Integer>();
    var ends = new ArrayList<CompletableFuture<Boolean>>();
    for (int i = 0; i < count; i++) {
      int mine = i;
      CompletableFuture<Lease> lease = client.mutex("crowd", options).acquireAsync();
      ends.add(
          lease.thenCompose(
              held -> {
                order.add(mine);
                return held.releaseAsync();
              }));
    }
    Waiting.untilWaiting(redis, "crowd", count);
    long threads = osThreads();
    assertTrue(gate.release());
    for (CompletableFuture<Boolean> end : ends) assertTrue(result(end));
    assertEquals(IntStream.range(0, count).boxed().toList(), List.copyOf(order));
    // The virtual machine has threads of its own, which come and go.
    assertTrue(threads <= threadsBefore + 16, threads + " threads, before " + threadsBefore);
    assertFalse(redis.exists("{mortise:crowd}"));
  }

  private static long osThreads() throws IOException {
    try (var list = Files.list(Path.of("/proc/self/task"))) {
      return list.count();
    }
  }

  @Test
  void cancelEndsTheWait() throws Exception {
    try (Lease held = client.mutex("cancel").acquire()) {
      var owner = client.mutex("cancel");
      CompletableFuture<Lease> future = owner.acquireAsync();
      Waiting.untilWaiting(redis, "cancel", 1);
      assertTrue(future.cancel(true));
      Waiting.untilWaiting(redis, "cancel", 0);
      // The owner can wait again.
      CompletableFuture<Optional<Lease>> again = owner.tryAcquireAsync(Waiting.PATIENCE);
      Waiting.untilWaiting(redis, "cancel", 1);
      held.close();
      assertTrue(result(again).orElseThrow().release());
    }
  }

  @Test
  void aTimeoutOfTheFutureEndsTheWait() throws Exception {
    try (Lease held = client.mutex("timeout").acquire()) {
      assertTrue(held.isHeld());
      var future = client.mutex("timeout").acquireAsync().orTimeout(20, TimeUnit.MILLISECONDS);
      assertThrows(ExecutionException.class, future::get);
      Waiting.untilWaiting(redis, "timeout", 0);
    }
  }

  @Test
  void aGrantThatRacesACancelIsGivenBack() throws Exception {
    for (int round = 0; round < 100; round++) {
      Lease held = client.mutex("race").acquire();
      CompletableFuture<Lease> future = client.mutex("race").acquireAsync();
      CompletableFuture<Boolean> released = held.releaseAsync();
      if (!future.cancel(true)) future.get().close();
      assertTrue(result(released));
      Optional<Lease> free = client.mutex("race").tryAcquire(Duration.ofSeconds(5));
      assertTrue(free.isPresent(), "round " + round);
      free.get().close();
    }
  }

  /**
   * Half of the cancels come while the request is in flight, half when it may have been granted.
   */
  @Test
  void cancelledGrantsOfAllKindsAreGivenBack() throws Exception {
    // Kept, so that none gives back what it holds by being collected.
    var owners = new ArrayList<Owner>();
    for (int round = 0; round < 50; round++) {
      var mutex = client.mutex("kinds");
      var book = client.readWriteMutex("book");
      var seats = client.semaphore("seats", 3);
      var door = client.mutex("door");
      var all = client.multi().add(door).add(client.semaphore("chairs", 2).permits(2));
      owners.addAll(List.of(mutex, book, seats, door, all));
      var futures =
          List.of(
              mutex.acquireAsync(),
              book.writeLock().acquireAsync(),
              seats.permits(3).acquireAsync(),
              all.acquireAsync());
      if (round % 2 == 0) client.ping();
      for (CompletableFuture<Lease> future : futures) {
        if (!future.cancel(true)) future.get().close();
      }
      // If one were left, this would wait until its lease was over, renewed as it is.
      Duration patience = Waiting.PATIENCE;
      client.mutex("kinds").tryAcquire(patience).orElseThrow().close();
      client.readWriteMutex("book").writeLock().tryAcquire(patience).orElseThrow().close();
      client.semaphore("seats", 3).permits(3).tryAcquire(patience).orElseThrow().close();
      client.mutex("door").tryAcquire(patience).orElseThrow().close();
      client.semaphore("chairs", 2).permits(2).tryAcquire(patience).orElseThrow().close();
    }
    for (Owner owner : owners) assertFalse(owner.isHeld());
  }

  @Test
  void aGrantThatWasNotYetReportedIsReleased() throws Exception {
    cancelUntold(false);
  }

  @Test
  void aGrantThatWasNotYetReadIsGivenBack() throws Exception {
    cancelUntold(true);
  }

  /** A grant has come, and waits behind the user's own work, when its future is canceled. */
  private static void cancelUntold(boolean isDispatcherBusy) throws Exception {
    Thread test = Thread.currentThread();
    var isBusy = new CountDownLatch(1);
    var mayGoOn = new CountDownLatch(1);
    Executor slow =
        work -> {
          // A result that is there at once comes in the thread that asked, which must not wait.
          if (Thread.currentThread() == test) {
            work.run();
            return;
          }
          isBusy.countDown();
          assertDoesNotThrow(() -> mayGoOn.await());
          work.run();
        };
    Executor other = work -> new Thread(() -> slow.execute(work)).start();
    var builder = MortiseClient.builder(redis.url());
    try (var client = builder.callbackExecutor(isDispatcherBusy ? slow : other).open()) {
      while (isDispatcherBusy && isBusy.getCount() > 0) {
        try (var busy = client.mutex("busy")) {
          busy.tryAcquireAsync();
          isBusy.await(1, TimeUnit.SECONDS);
        }
      }
      var owner = client.mutex("untold");
      CompletableFuture<Lease> future = owner.acquireAsync();
      if (!isDispatcherBusy) isBusy.await();
      Waiting.until("the grant", () -> redis.exists("{mortise:untold}"));
      // The client learns of it at about the same time.
      client.ping();
      assertTrue(future.cancel(true));
      mayGoOn.countDown();
      Waiting.until("it is given back", () -> !redis.exists("{mortise:untold}"));
      // By then it cannot have been collected.
      Reference.reachabilityFence(owner);
    }
  }

  @Test
  void cancelOfAnOwnerIsReported() throws Exception {
    try (Lease held = client.mutex("told").acquire()) {
      assertTrue(held.isHeld());
      var owner = client.mutex("told");
      assertFalse(owner.cancel());
      CompletableFuture<Lease> future = owner.acquireAsync();
      assertEquals(Status.BUSY, statusOf(owner.acquireAsync()));
      assertTrue(owner.cancel());
      assertEquals(Status.CANCELLED, statusOf(future));
    }
  }

  @Test
  void exceptionsOfDependentsStopNobody() throws Exception {
    // Dependents run on the dispatcher's own thread here.
    try (var direct = MortiseClient.builder(redis.url()).callbackExecutor(Runnable::run).open()) {
      for (int i = 0; i < 3; i++) {
        Lease held = direct.mutex("bad").acquire();
        var failing =
            direct.mutex("bad").acquireAsync().thenApply(
                lease -> {
                  lease.releaseAsync();
                  throw new IllegalStateException("a dependent's own");
                });
        held.close();
        assertThrows(ExecutionException.class, () -> result(failing));
      }
    }
    // An executor that throws is no reason to stop, either.
    try (var refusing =
        MortiseClient.builder(redis.url())
            .callbackExecutor(
                work -> {
                  work.run();
                  throw new IllegalStateException("an executor's own");
                })
            .open()) {
      for (int i = 0; i < 3; i++) result(refusing.mutex("bad").acquireAsync()).close();
    }
  }

  @Test
  void anExecutorThatCannotBeginIsNoReasonToStop() throws Exception {
    Executor exhausted =
        work -> {
          throw new OutOfMemoryError("unable to create native thread");
        };
    try (var client = MortiseClient.builder(redis.url()).callbackExecutor(exhausted).open()) {
      for (int i = 0; i < 3; i++) assertTrue(result(client.mutex("none").acquireAsync()).release());
    }
  }

  /** The queue takes one more call, and a wait is in it. */
  @Test
  void aFullQueueStopsNoRelease() throws Exception {
    try (var client = MortiseClient.builder(redis.strictUrl()).queueCapacity(1).open()) {
      Lease held = client.mutex("full").tryAcquire().orElseThrow();
      CompletableFuture<Lease> waiting = client.mutex("full").acquireAsync();
      Waiting.untilWaiting(redis, "full", 1);
      assertEquals(Status.LIMIT, statusOf(client.mutex("full").acquireAsync()));
      assertTrue(result(held.releaseAsync()));
      assertTrue(result(waiting).release());
    }
  }

  @Test
  void theDispatcherDoesNotWaitForItself() throws Exception {
    try (var direct = MortiseClient.builder(redis.url()).callbackExecutor(Runnable::run).open()) {
      Lease held = direct.mutex("self").acquire();
      var waits =
          direct.mutex("self").acquireAsync().thenApply(
              lease -> {
                try (lease) {
                  return direct.mutex("self").acquire();
                } catch (InterruptedException unexpected) {
                  throw new AssertionError(unexpected);
                }
              });
      held.close();
      var thrown = assertThrows(ExecutionException.class, () -> result(waits));
      assertInstanceOf(IllegalStateException.class, thrown.getCause());
    }
  }

  @Test
  void aRefusalBringsTheServersWords() throws Exception {
    redis.command("RPUSH", "{mortise:wrong}", "not a lock");
    var future = client.mutex("wrong").tryAcquireAsync(Waiting.PATIENCE);
    var thrown = assertThrows(ExecutionException.class, () -> result(future));
    var failure = assertInstanceOf(MortiseException.class, thrown.getCause());
    assertEquals(Status.REFUSED, failure.status());
    assertTrue(failure.serverText().contains("FOREIGN"), failure.serverText());
    assertFalse(failure.isAmbiguous());
    assertFalse(failure.isRetryable());
  }
}
