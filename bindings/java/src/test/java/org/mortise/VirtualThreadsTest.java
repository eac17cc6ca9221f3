package org.mortise;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Needs Java 21 or later, which the tests are not compiled for. */
@Tag("virtual")
class VirtualThreadsTest {
  private static final int CROWD = 10_000;

  /** A virtual thread, whose failure is the future's. */
  private static CompletableFuture<Thread> start(Executable work) throws Exception {
    Method startVirtualThread = Thread.class.getMethod("startVirtualThread", Runnable.class);
    var end = new CompletableFuture<Thread>();
    startVirtualThread.invoke(
        null,
        (Runnable)
            () -> {
              try {
                work.execute();
                end.complete(Thread.currentThread());
              } catch (Throwable thrown) {
                end.completeExceptionally(thrown);
              }
            });
    return end;
  }

  private static long osThreads() throws Exception {
    try (var list = Files.list(Path.of("/proc/self/task"))) {
      return list.count();
    }
  }

  @Test
  void tenThousandWaitForOneLockOnFewThreads() throws Exception {
    try (var redis = new Redis();
        var client = MortiseClient.open(redis.strictUrl())) {
      MortiseLock gate = client.lock("crowd");
      gate.lock();
      var tokens = new ConcurrentLinkedQueue<Long>();
      var ends = new ArrayList<CompletableFuture<Thread>>();
      for (int i = 0; i < CROWD; i++) {
        ends.add(
            start(
                () -> {
                  MortiseLock lock = client.lock("crowd");
                  lock.lock();
                  tokens.add(lock.token());
                  lock.unlock();
                }));
      }
      Waiting.untilWaiting(redis, "crowd", CROWD);
      long threads = osThreads();
      gate.unlock();
      for (CompletableFuture<Thread> end : ends) Waiting.result(end);
      assertEquals(tokens.stream().sorted().distinct().toList(), new ArrayList<>(tokens));
      assertEquals(CROWD, tokens.size());
      assertTrue(threads <= 32, threads + " threads");
    }
  }

  @Test
  void everyCallWorksFromAVirtualThread() throws Exception {
    try (var redis = new Redis()) {
      Waiting.result(
          start(
              () -> {
                try (var client = MortiseClient.open(redis.url())) {
                  client.ping();
                  var owner = client.mutex("all");
                  try (Lease lease = owner.tryAcquire().orElseThrow()) {
                    lease.extend(java.time.Duration.ofHours(1));
                    assertTrue(owner.query().isMine());
                    assertTrue(client.mutex("all").tryAcquire().isEmpty());
                  }
                  var rw = client.readWriteLock("rw");
                  rw.readLock().lock();
                  assertTrue(rw.tryUpgrade());
                  rw.readLock().lock();
                  rw.writeLock().unlock();
                  rw.readLock().unlock();
                  var permits = client.semaphore("s", 2);
                  permits.resize(3);
                  permits.of(3).acquire().close();
                  Thread.currentThread().interrupt();
                  assertThrows(InterruptedException.class, owner::acquire);
                  assertTrue(client.lock("free").tryLock());
                  assertFalse(Thread.interrupted());
                }
              }));
    }
  }
}
