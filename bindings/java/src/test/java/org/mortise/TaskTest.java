package org.mortise;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mortise.Waiting.PATIENCE;
import static org.mortise.Waiting.PATIENCE_SECONDS;
import static org.mortise.Waiting.assertStatus;
import static org.mortise.Waiting.result;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.function.Executable;

/** Deadlocks of virtual threads, which are tasks, and of futures, whose user sets the tasks. */
class TaskTest {
  private static final MortiseOptions FAILING = MortiseOptions.DEFAULTS.withDeadlockFailure(true);
  /** Longer than a deadlock lasts before it is found. */
  private static final Duration SHORT = Duration.ofMillis(2500);

  @RegisterExtension static final Redis redis = new Redis();
  @RegisterExtension final Proxy proxy = new Proxy(redis);

  private static MortiseClient open() {
    return MortiseClient.builder(redis.url()).options(FAILING).open();
  }

  private static Mutex mutex(MortiseClient client, String name, long task) {
    Mutex mutex = client.mutex(name);
    mutex.setTask(task);
    return mutex;
  }

  /** The field of the only lock that a client holds. */
  private static String threads(MortiseClient client) {
    List<Listing.Entry> entries = client.listLocks(PATIENCE).entries();
    assertEquals(1, entries.size());
    return entries.get(0).threads();
  }

  private static void assertDeadlock(String circle, Executable wait) {
    var failure = assertThrows(MortiseException.class, wait);
    assertEquals(Status.DEADLOCK, failure.status());
    assertTrue(failure.getMessage().endsWith(circle), failure.getMessage());
  }

  private static void inVirtualThread(Executable work) throws Exception {
    result(VirtualThreadsTest.start(work));
  }

  // ---- virtual threads -------------------------------------------------------------------------

  /** Holds one lock, and waits for that of the other thread, which fails at most once. */
  private static void lockBoth(
      MortiseClient client, List<String> names, CyclicBarrier bothHold, AtomicInteger deadlocks)
      throws Exception {
    MortiseLock held = client.lock(names.get(0));
    MortiseLock awaited = client.lock(names.get(1));
    held.lock();
    try {
      bothHold.await();
      awaited.lock();
      awaited.unlock();
    } catch (MortiseException failure) {
      assertEquals(Status.DEADLOCK, failure.status());
      assertTrue(
          failure.getMessage().endsWith(", which this task holds"), failure.getMessage());
      deadlocks.incrementAndGet();
    } finally {
      held.unlock();
    }
  }

  @Test
  @Tag("virtual")
  void oneOfTwoVirtualThreadsInACircleFails() throws Exception {
    try (var client = open()) {
      var bothHold = new CyclicBarrier(2);
      var deadlocks = new AtomicInteger();
      var threads = new ArrayList<CompletableFuture<Thread>>();
      for (var names : List.of(List.of("orders", "stock"), List.of("stock", "orders"))) {
        threads.add(
            VirtualThreadsTest.start(() -> lockBoth(client, names, bothHold, deadlocks)));
      }
      for (var thread : threads) result(thread);
      assertEquals(1, deadlocks.get());
    }
  }

  /** Each call that waits, of a virtual thread that holds the lock already. */
  private static List<Executable> waits(MortiseClient client) {
    return List.of(
        client.mutex("own")::acquire,
        () -> client.mutex("own").tryAcquire(PATIENCE),
        () -> client.election("own").campaign(),
        () -> client.election("own").campaign(PATIENCE),
        client.multi().add(client.mutex("own"))::acquire,
        () -> client.multi().add(client.mutex("own")).tryAcquire(PATIENCE));
  }

  @Test
  @Tag("virtual")
  void eachWaitOfAVirtualThreadBelongsToIt() throws Exception {
    try (var client = open()) {
      inVirtualThread(
          () -> {
            try (Lease held = client.mutex("own").tryAcquire().orElseThrow()) {
              for (Executable wait : waits(client)) {
                assertDeadlock("in a deadlock: this task holds it", wait);
              }
              assertTrue(held.isHeld());
            }
          });
    }
  }

  @Test
  @Tag("virtual")
  void eachWaitOfALockOfAVirtualThreadBelongsToIt() throws Exception {
    try (var client = open()) {
      inVirtualThread(
          () -> {
            try (Lease held = client.readWriteMutex("book").readLock().acquire()) {
              MortiseReadWriteLock book = client.readWriteLock("book");
              String circle = "in a deadlock: this task holds it";
              assertDeadlock(circle, book.writeLock()::lock);
              assertDeadlock(circle, book.writeLock()::lockInterruptibly);
              assertDeadlock(
                  circle, () -> book.writeLock().tryLock(PATIENCE_SECONDS, TimeUnit.SECONDS));
              assertTrue(held.isHeld());
            }
            try (Lease held = client.semaphore("seats", 2).acquire()) {
              assertDeadlock(
                  "this task holds it", client.semaphore("seats", 2).permits(2)::acquire);
              assertTrue(held.isHeld());
            }
          });
    }
  }

  @Test
  @Tag("virtual")
  void theTaskOfAVirtualThreadIsItsNumber() throws Exception {
    try (var client = open()) {
      inVirtualThread(
          () -> {
            String own = ":t" + (Threads.FIRST_TASK + Thread.currentThread().getId()) + ":";
            try (Lease held = client.multi().add(client.mutex("listed")).acquire()) {
              assertTrue(threads(client).contains(own), threads(client));
            }
            Mutex mutex = client.mutex("listed");
            String id;
            try (Lease held = mutex.acquire()) {
              assertTrue(threads(client).contains(own), threads(client));
              id = held.export(Duration.ofMinutes(1));
            }
            mutex.setTask(5);
            mutex.setTask(0);
            try (Lease held = mutex.adopt(id)) {
              assertTrue(threads(client).contains(own), threads(client));
            }
          });
    }
  }

  @Test
  @Tag("virtual")
  void anOwnerKeepsNoVirtualThread() throws Exception {
    try (var client = open()) {
      Mutex mutex = client.mutex("shared");
      Multi multi = client.multi().add(client.mutex("shared"));
      inVirtualThread(
          () -> {
            mutex.acquire().close();
            multi.acquire().close();
          });
      try (Lease held = mutex.acquire()) {
        assertTrue(threads(client).startsWith("queued holds:"), threads(client));
        assertFalse(threads(client).contains(":t"), threads(client));
      }
      try (Lease held = result(mutex.acquireAsync())) {
        assertEquals("", threads(client));
      }
      try (Lease held = multi.acquire()) {
        assertEquals("", threads(client));
      }
    }
  }

  @Test
  @Tag("virtual")
  void theTaskOfTheUserPrecedesThatOfAVirtualThread() throws Exception {
    try (var client = open();
        Lease held = mutex(client, "set", 5).acquire()) {
      Mutex again = mutex(client, "set", 5);
      inVirtualThread(
          () -> {
            assertDeadlock("this task holds it", again::acquire);
            again.setTask(0);
            assertTrue(again.tryAcquire(SHORT).isEmpty());
          });
      assertTrue(held.isHeld());
    }
  }

  // ---- tasks of the user -----------------------------------------------------------------------

  @Test
  void oneOfTwoTasksOfFuturesInACircleFails() throws Exception {
    try (var client = open()) {
      var held = new ArrayList<Lease>();
      var waits = new ArrayList<CompletableFuture<Boolean>>();
      for (int i = 0; i < 2; i++) {
        held.add(result(mutex(client, "lock " + i, 1 + i).acquireAsync()));
      }
      var deadlocks = new AtomicInteger();
      for (int i = 0; i < 2; i++) {
        Lease own = held.get(i);
        waits.add(
            mutex(client, "lock " + (1 - i), 1 + i)
                .acquireAsync()
                .handle(
                    (lease, failure) -> {
                      if (failure != null) {
                        assertEquals(
                            Status.DEADLOCK,
                            assertInstanceOf(MortiseException.class, failure).status());
                        deadlocks.incrementAndGet();
                      } else {
                        lease.close();
                      }
                      return own.release();
                    }));
      }
      for (var wait : waits) assertTrue(result(wait));
      assertEquals(1, deadlocks.get());
    }
  }

  @Test
  void aThreadWithATaskOfTheUserIsThatTask() throws Exception {
    try (var client = open();
        Lease held = result(mutex(client, "both", 5).acquireAsync())) {
      Mutex again = mutex(client, "both", 5);
      assertDeadlock("this task holds it", again::acquire);
      again.setTask(6);
      assertTrue(again.tryAcquire(SHORT).isEmpty());
      again.setTask(0);
      assertTrue(again.tryAcquire(SHORT).isEmpty());
      assertTrue(held.isHeld());
    }
  }

  /** A multi of a platform thread waits by an event, so it is in a deadlock only with a task. */
  @Test
  void aMultiOfAPlatformThreadNeedsATask() throws Exception {
    try (var client = open();
        Mutex mutex = mutex(client, "member", 7);
        Lease held = mutex.acquire()) {
      Multi multi = client.multi().add(client.mutex("member"));
      assertTrue(multi.tryAcquire(SHORT).isEmpty());
      multi.setTask(7);
      assertDeadlock("this task holds it", multi::acquire);
      assertTrue(held.isHeld());
    }
  }

  /** An acquire that first waits until a canceled one is released keeps the task of its call. */
  @Test
  void aTaskAppliesToLaterAcquiresOnly() throws Exception {
    var callbacks = new ConcurrentLinkedQueue<Runnable>();
    String url = proxy.url() + "?command_timeout=60s";
    try (var client = MortiseClient.builder(url).callbackExecutor(callbacks::add).open()) {
      Mutex mutex = mutex(client, "later", 1);
      var canceled = mutex.acquireAsync();
      Waiting.until("the grant", () -> !callbacks.isEmpty());
      proxy.holdAnswers();
      canceled.cancel(false);
      var acquiring = mutex.acquireAsync();
      mutex.setTask(2);
      proxy.letAnswers();
      Waiting.until("the next grant", () -> callbacks.size() > 1);
      callbacks.forEach(Runnable::run);
      try (Lease held = result(acquiring)) {
        assertTrue(threads(client).contains(":t1:"), threads(client));
        mutex.setTask(0);
        assertTrue(threads(client).contains(":t1:"), threads(client));
        assertTrue(held.isHeld());
      }
    }
  }

  @Test
  void wrongNumbersAreRefused() {
    Mutex mutex;
    Multi multi;
    try (var client = open()) {
      mutex = client.mutex("wrong");
      multi = client.multi();
      for (Owner owner : List.of(mutex, multi)) {
        for (long wrong : new long[] {-1, Long.MIN_VALUE, Threads.FIRST_TASK, Long.MAX_VALUE}) {
          var refused = assertThrows(MortiseException.class, () -> owner.setTask(wrong));
          assertEquals(Status.INVALID_ARGUMENT, refused.status());
          assertEquals(
              "task: " + wrong + " is out of range; give 0 to 8999999999999999",
              refused.getMessage());
        }
        owner.setTask(Threads.FIRST_TASK - 1);
      }
    }
    assertStatus(Status.CLOSED, () -> mutex.setTask(1));
    assertStatus(Status.CLOSED, () -> multi.setTask(0));
  }
}
