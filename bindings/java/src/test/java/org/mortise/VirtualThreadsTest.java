package org.mortise;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** Needs Java 21 or later, which the tests are not compiled for. */
@Tag("virtual")
class VirtualThreadsTest {
  private static final int CROWD = 10_000;

  /** A virtual thread, whose failure is the future's. */
  static CompletableFuture<Thread> start(Executable work) throws Exception {
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
      long threadsBefore = osThreads();
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
      // Carriers, and what the JVM starts for itself, such as compilers.
      assertTrue(threads < threadsBefore + 16, threads + " threads, before " + threadsBefore);
    }
  }

  /**
   * There is one carrier (see tests/run), so a call that kept it would stop all virtual threads.
   */
  @Test
  void noCallKeepsItsCarrier() throws Exception {
    assertEquals("1", System.getProperty("jdk.virtualThreadScheduler.maxPoolSize"));
    try (var redis = new Redis();
        var client = MortiseClient.open(redis.url() + "?command_timeout=60s")) {
      var mutex = client.mutex("mutex");
      var lease = new AtomicReference<Lease>();
      var book = client.readWriteMutex("book");
      var seats = client.semaphore("seats", 3);
      var both = client.multi().add(client.mutex("door")).add(client.mutex("window"));
      var lock = client.lock("lock");
      List<Executable> waiting =
          List.of(
              client::ping,
              () -> MortiseClient.open(redis.url() + "?command_timeout=60s").close(),
              () -> lease.set(mutex.tryAcquire().orElseThrow()),
              () -> lease.get().extend(Duration.ofHours(1)),
              () -> assertTrue(mutex.query().isMine()),
              () -> assertFalse(mutex.forceRelease("m1:nobody:1.1::1")),
              () -> assertTrue(lease.get().release()),
              () -> lease.set(mutex.acquire()),
              () -> lease.get().close(),
              () -> lease.set(book.readLock().acquire()),
              () -> assertTrue(book.tryUpgrade()),
              book::downgrade,
              () -> lease.get().close(),
              () -> seats.resize(4),
              () -> lease.set(seats.permits(4).acquire()),
              () -> lease.get().close(),
              () -> lease.set(both.acquire()),
              () -> lease.get().close(),
              () -> {
                lock.lock();
                lock.unlock();
              },
              () -> {
                assertTrue(lock.tryLock());
                lock.unlock();
              });
      for (int i = 0; i < waiting.size(); i++) {
        redis.control("pause");
        var waits = start(waiting.get(i));
        // A call that needs no reply continues meanwhile.
        Waiting.result(start(() -> client.readWriteMutex("unasked").close()));
        assertFalse(waits.isDone(), "call " + i);
        redis.control("resume");
        Waiting.result(waits);
      }
    }
  }

  /** Otherwise a call would wait for the timeouts of many others. */
  @Test
  void manyCallsWithoutAReplyEndInTime() throws Exception {
    try (var redis = new Redis();
        var client = MortiseClient.open(redis.url() + "?command_timeout=1s")) {
      var owner = client.mutex("asked");
      redis.control("pause");
      var ends = new ArrayList<CompletableFuture<Thread>>();
      for (int i = 0; i < 400; i++) {
        ends.add(start(() -> assertThrows(MortiseException.class, owner::query)));
      }
      Waiting.result(CompletableFuture.allOf(ends.toArray(CompletableFuture[]::new)));
      redis.control("resume");
    }
  }

  /** The helpers are busy, which calls that send nothing do not need. */
  @Test
  void aLookWaitsForNoOtherCall() throws Exception {
    try (var redis = new Redis();
        var client = MortiseClient.open(redis.url() + "?command_timeout=60s")) {
      var owner = client.mutex("asked");
      redis.control("pause");
      var ends = new ArrayList<CompletableFuture<Thread>>();
      for (int i = 0; i < 300; i++) ends.add(start(owner::query));
      Waiting.result(start(() -> assertFalse(client.stats().samples().isEmpty())));
      Waiting.result(start(() -> assertTrue(client.lastHealth().findings().isEmpty())));
      for (var end : ends) assertFalse(end.isDone());
      redis.control("resume");
      for (var end : ends) Waiting.result(end);
    }
  }

  @Test
  void aReleaseNeedsNoRoomInTheQueue() throws Exception {
    try (var redis = new Redis();
        var client = MortiseClient.builder(redis.strictUrl()).queueCapacity(2).open()) {
      var held = new CountDownLatch(1);
      var mayUnlock = new CountDownLatch(1);
      var holder =
          start(
              () -> {
                client.lock("full").lock();
                held.countDown();
                mayUnlock.await();
                client.lock("full").unlock();
              });
      held.await();
      var waiters = List.of(start(() -> take(client)), start(() -> take(client)));
      Waiting.untilWaiting(redis, "full", 2);
      mayUnlock.countDown();
      Waiting.result(holder);
      for (var waiter : waiters) Waiting.result(waiter);
      assertFalse(redis.exists("{mortise:full}"));
    }
  }

  private static void take(MortiseClient client) {
    client.lock("full").lock();
    client.lock("full").unlock();
  }

  @Test
  void threadsThatAreDoneLeaveLittle() throws Exception {
    try (var redis = new Redis();
        var client = MortiseClient.open(redis.url())) {
      var ends = new ArrayList<CompletableFuture<Thread>>();
      for (int i = 0; i < CROWD; i++) {
        String name = "name " + i % 1000;
        ends.add(
            start(
                () -> {
                  client.lock(name).lock();
                  client.lock(name).unlock();
                }));
      }
      for (CompletableFuture<Thread> end : ends) Waiting.result(end);
      assertEquals(0, client.mutexes().holds().size());
      assertTrue(client.mutexes().pool().size() <= 256);
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
                    lease.extend(Duration.ofHours(1));
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
                  permits.permits(3).acquire().close();
                  Thread.currentThread().interrupt();
                  assertThrows(InterruptedException.class, owner::acquire);
                  assertTrue(client.lock("free").tryLock());
                  assertFalse(Thread.interrupted());
                }
              }));
    }
  }

  @Test
  void blockedCallbacksKeepNoOther() throws Exception {
    CallbackTest.assertBlockedCallbacksKeepNoOther();
  }

  @Test
  void callbacksAreVirtualWhereNoneIsPinned() throws Exception {
    try (var redis = new Redis();
        var client = MortiseClient.open(redis.url())) {
      Thread thread = CallbackTest.threadOfCallback(client);
      boolean isVirtual = (boolean) Thread.class.getMethod("isVirtual").invoke(thread);
      assertEquals(Runtime.version().feature() >= 24, isVirtual);
    }
  }

  /**
   * The library is a pipe that is never written, so that loading it lasts. Two virtual threads are
   * the first to need it, and there is one carrier. Another virtual thread shows that neither keeps
   * it.
   */
  static final class Loading {
    public static void main(String[] arguments) throws Exception {
      Thread version = start(MortiseClient::version);
      Thread open = start(() -> MortiseClient.open("redis://localhost:1"));
      Thread beside = start(() -> {});
      beside.join(Waiting.PATIENCE_SECONDS * 1000 / 2);
      boolean isFree = version.isAlive() && open.isAlive() && !beside.isAlive();
      System.out.println("the carrier is free: " + isFree);
      Runtime.getRuntime().halt(0);
    }

    private static Thread start(Runnable work) throws Exception {
      return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class)
          .invoke(null, work);
    }
  }

  @Test
  void loadingTheLibraryKeepsNoCarrier(@TempDir Path folder) throws Exception {
    Path pipe = folder.resolve(System.mapLibraryName("mortise_jni"));
    assertEquals(0, Subprocess.run(List.of("mkfifo", pipe.toString())).code());
    String tests =
        Path.of(Loading.class.getProtectionDomain().getCodeSource().getLocation().toURI())
            .toString();
    Subprocess ended =
        Subprocess.run(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Djdk.virtualThreadScheduler.parallelism=1",
                "-Djdk.virtualThreadScheduler.maxPoolSize=1",
                "-Dorg.mortise.native.dir=" + folder,
                "-cp",
                System.getProperty("org.mortise.test.jar") + ":" + tests,
                Loading.class.getName()));
    assertTrue(ended.output().contains("the carrier is free: true"), ended.output());
  }
}
