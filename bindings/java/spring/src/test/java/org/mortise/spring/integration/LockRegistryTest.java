package org.mortise.spring.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ConcurrentModificationException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.mortise.MortiseClient;
import org.mortise.MortiseException;
import org.mortise.MortiseOptions;
import org.mortise.Status;
import org.mortise.spring.integration.Waiting.Worker;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.ExpirableLockRegistry;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.integration.support.locks.RenewableLockRegistry;

class LockRegistryTest {
  /** A lease without renewal that ends soon. */
  private static final MortiseOptions SHORT =
      MortiseOptions.DEFAULTS.withLease(Duration.ofMillis(500)).withRenewal(false);

  private final MortiseLockRegistry registry = Server.registry(MortiseOptions.DEFAULTS);
  private final MortiseLockRegistry other = Server.registry(MortiseOptions.DEFAULTS);

  private static void assertFree(Lock lock) throws Exception {
    new Worker(
            () -> {
              assertTrue(lock.tryLock(10, TimeUnit.SECONDS));
              lock.unlock();
            })
        .finish();
  }

  private static void assertHeldByAnother(Lock lock) throws Exception {
    new Worker(() -> assertFalse(lock.tryLock())).finish();
  }

  private static Status statusOf(Class<? extends Exception> wrapped, Executable call) {
    return ((MortiseException) assertThrows(wrapped, call).getCause()).status();
  }

  private static MortiseDistributedLock lost(String key) throws Exception {
    MortiseDistributedLock lock = Server.registry(SHORT).obtain(key);
    lock.lock();
    Waiting.until("the lease ends", () -> !lock.isHeldByCurrentThread());
    return lock;
  }

  @Test
  void itIsWhatSpringInjects() throws Exception {
    LockRegistry<DistributedLock> plain = registry;
    ExpirableLockRegistry<DistributedLock> expirable = registry;
    RenewableLockRegistry<?> renewable = registry;
    plain.obtain("injected").lock(Duration.ofSeconds(5));
    expirable.expireUnusedOlderThan(0);
    renewable.renewLock("injected");
    assertHeldByAnother(other.obtain("injected"));
    plain.obtain("injected").unlock();
  }

  @Test
  void twoRegistriesExcludeEachOther() throws Exception {
    registry.obtain("pair").lock();
    assertHeldByAnother(other.obtain("pair"));
    assertHeldByAnother(registry.obtain("pair"));
    assertFree(other.obtain("another key"));
    registry.obtain("pair").unlock();
    assertFree(other.obtain("pair"));
  }

  @Test
  void aJvmThatIsKilledIsWaitedForUntilItsLeaseEnds() throws Exception {
    Lock lock = registry.obtain("killed");
    try (var jvm = OtherJvm.holding("killed")) {
      assertFalse(lock.tryLock());
      assertFalse(lock.tryLock(100, TimeUnit.MILLISECONDS));
    }
    assertTrue(lock.tryLock(Waiting.PATIENCE_SECONDS, TimeUnit.SECONDS));
    lock.unlock();
  }

  @Test
  void aThreadMayLockAgainWithAnyLockOfTheKey() throws Exception {
    registry.obtain("again").lock();
    assertTrue(registry.obtain("again").tryLock());
    assertTrue(registry.obtain("again").tryLock(Duration.ZERO, Duration.ofSeconds(5)));
    registry.obtain("again").unlock();
    registry.obtain("again").unlock();
    assertHeldByAnother(other.obtain("again"));
    registry.obtain("again").unlock();
    assertFree(other.obtain("again"));
  }

  @Test
  void locksOfOneRegistryAndOneKeyAreEqual() {
    MortiseDistributedLock lock = registry.obtain("equal");
    MortiseDistributedLock same = registry.obtain("equal");
    assertEquals(lock, same);
    assertEquals(lock.hashCode(), same.hashCode());
    lock.lock();
    assertEquals(lock, same);
    same.unlock();
    assertNotEquals(lock, registry.obtain("another key"));
    assertNotEquals(lock, other.obtain("equal"));
    assertNotEquals(lock, null);
    assertNotEquals(lock, (Object) "equal");
  }

  @Test
  void tokensRise() {
    MortiseDistributedLock lock = registry.obtain("tokens");
    lock.lock();
    long first = lock.token();
    lock.unlock();
    assertThrows(IllegalMonitorStateException.class, lock::token);
    MortiseDistributedLock next = other.obtain("tokens");
    next.lock();
    assertTrue(next.token() > first);
    next.unlock();
  }

  @Test
  void theRegistryKeyIsInTheName() throws Exception {
    try (var client = MortiseClient.open(Server.url())) {
      registry.obtain("named").lock();
      assertEquals("test:named", registry.obtain("named").name());
      assertHeldByAnother(client.lock("test:named"));
      assertHeldByAnother(new MortiseLockRegistry(client).obtain("test:named"));
      registry.obtain("named").unlock();
      assertFree(client.lock("test:named"));
    }
  }

  @Test
  void aTimeoutIsReported() throws Exception {
    registry.obtain("busy").lock();
    new Worker(
            () -> {
              Duration wait = Duration.ofMillis(50);
              assertFalse(other.obtain("busy").tryLock(50, TimeUnit.MILLISECONDS));
              assertFalse(other.obtain("busy").tryLock(wait, Duration.ofSeconds(5)));
              assertThrows(
                  TimeoutException.class, () -> other.executeLocked("busy", wait, () -> {}));
            })
        .finish();
    registry.obtain("busy").unlock();
    assertEquals("done", other.executeLocked("busy", () -> "done"));
  }

  @Test
  void anInterruptEndsAWait() throws Exception {
    Lock lock = registry.obtain("interrupted");
    lock.lock();
    var waiting =
        new Worker[] {
          new Worker(() -> assertThrows(InterruptedException.class, lock::lockInterruptibly)),
          new Worker(
              () ->
                  assertThrows(InterruptedException.class, () -> lock.tryLock(1, TimeUnit.HOURS)))
        };
    // By now they wait, as a rule.
    Thread.sleep(100);
    for (Worker worker : waiting) {
      worker.thread().interrupt();
      worker.finish();
    }
    // Nor does one keep the holder from unlocking.
    Thread.currentThread().interrupt();
    lock.unlock();
    assertTrue(Thread.interrupted());
    assertFree(other.obtain("interrupted"));
  }

  @Test
  void whoDoesNotHoldItCannotUnlockIt() throws Exception {
    Lock lock = registry.obtain("not mine");
    assertThrows(IllegalStateException.class, lock::unlock);
    lock.lock();
    new Worker(() -> assertThrows(IllegalStateException.class, lock::unlock)).finish();
    assertHeldByAnother(other.obtain("not mine"));
    lock.unlock();
  }

  @Test
  void aLossIsReportedAtUnlock() throws Exception {
    MortiseDistributedLock lock = lost("lost");
    assertFree(other.obtain("lost"));
    assertEquals(Status.LOST, statusOf(CannotAcquireLockException.class, lock::tryLock));
    assertEquals(Status.LOST, statusOf(ConcurrentModificationException.class, lock::unlock));
    // It is over then, for this thread, too.
    assertThrows(IllegalStateException.class, lock::unlock);
    assertTrue(lock.tryLock(10, TimeUnit.SECONDS));
    Waiting.until("the lease ends", () -> !lock.isHeldByCurrentThread());
    assertThrows(ConcurrentModificationException.class, lock::unlock);
  }

  @Test
  void aLossIsReportedByTheExecutedCall() {
    var registry = Server.registry(SHORT);
    assertThrows(
        ConcurrentModificationException.class,
        () ->
            registry.executeLocked(
                "slow",
                () ->
                    Waiting.until(
                        "the lease ends", () -> !registry.obtain("slow").isHeldByCurrentThread())));
  }

  @Test
  void renewLockLengthensALease() throws Exception {
    MortiseLockRegistry registry =
        Server.registry(
            MortiseOptions.DEFAULTS.withLease(Duration.ofMinutes(1)).withRenewal(false));
    MortiseDistributedLock lock = registry.obtain("renewed");
    assertThrows(IllegalStateException.class, () -> registry.renewLock("renewed"));
    lock.lock();
    long before = lock.validFor().toMillis();
    Waiting.until("time passes", () -> lock.validFor().toMillis() < before - 10);
    long later = lock.validFor().toMillis();
    registry.renewLock("renewed");
    assertTrue(lock.validFor().toMillis() > later);
    registry.renewLock("renewed", Duration.ofHours(1));
    assertTrue(lock.validFor().toMillis() > Duration.ofMinutes(30).toMillis());
    new Worker(
            () -> assertThrows(IllegalStateException.class, () -> registry.renewLock("renewed")))
        .finish();
    lock.unlock();
    MortiseLockRegistry brief = Server.registry(SHORT);
    brief.obtain("gone").lock();
    Waiting.until("the lease ends", () -> !brief.obtain("gone").isHeldByCurrentThread());
    assertEquals(
        Status.LOST, statusOf(IllegalStateException.class, () -> brief.renewLock("gone")));
  }

  @Test
  void aTimeToLiveIsTheLease() throws Exception {
    DistributedLock lock = registry.obtain("ttl");
    lock.lock(Duration.ofHours(1));
    assertTrue(registry.obtain("ttl").validFor().compareTo(Duration.ofMinutes(30)) > 0);
    lock.unlock();
    assertTrue(lock.tryLock(Duration.ZERO, Duration.ofHours(1)));
    assertTrue(registry.obtain("ttl").validFor().compareTo(Duration.ofMinutes(30)) > 0);
    lock.unlock();
  }

  @Test
  void badInputIsNamed() {
    var thrown = assertThrows(IllegalArgumentException.class, () -> registry.obtain(7));
    assertTrue(thrown.getMessage().startsWith("lockKey is 7 of java.lang.Integer; "));
    assertThrows(IllegalArgumentException.class, () -> registry.obtain(null));
    var lock = registry.obtain("bad");
    assertThrows(NullPointerException.class, () -> lock.lock(null));
    var tooShort = assertThrows(MortiseException.class, () -> lock.lock(Duration.ofMillis(1)));
    assertEquals(Status.INVALID_ARGUMENT, tooShort.status());
    assertThrows(UnsupportedOperationException.class, lock::newCondition);
  }

  @Test
  void aServerThatIsNotThereIsAFailureToAcquire() {
    var options =
        MortiseOptions.DEFAULTS.withLazyConnect(true).withCommandTimeout(Duration.ofMillis(200));
    try (var client =
        MortiseClient.builder("unix:///nowhere/redis.sock").options(options).open()) {
      Lock lock = new MortiseLockRegistry(client).obtain("unreachable");
      assertEquals(
          Status.UNREACHABLE, statusOf(CannotAcquireLockException.class, lock::tryLock));
    }
  }
}
