package org.mortise;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mortise.Waiting.PATIENCE_SECONDS;
import static org.mortise.Waiting.assertStatus;

import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.mortise.Waiting.Worker;

class LockTest {
  @RegisterExtension static final Redis redis = new Redis();
  private static MortiseClient client;
  private static MortiseClient second;

  @BeforeAll
  static void open() {
    client = MortiseClient.open(redis.strictUrl());
    second = MortiseClient.open(redis.url());
  }

  @AfterAll
  static void close() throws Exception {
    client.close();
    second.close();
  }

  private int counter;

  @Test
  void extendLengthensAThreadsHold() throws Exception {
    var options = MortiseOptions.DEFAULTS.withLease(Duration.ofMinutes(1)).withRenewal(false);
    MortiseLock lock = client.lock("extended", options);
    assertThrows(IllegalMonitorStateException.class, () -> lock.extend(Duration.ofHours(1)));
    assertThrows(IllegalMonitorStateException.class, lock::progress);
    lock.lock();
    lock.progress();
    lock.extend(Duration.ofHours(1));
    assertTrue(lock.validFor().toMillis() > Duration.ofMinutes(30).toMillis());
    lock.extend(Duration.ofSeconds(1));
    assertTrue(lock.validFor().toMillis() > Duration.ofMinutes(30).toMillis());
    assertStatus(Status.INVALID_ARGUMENT, () -> lock.extend(Duration.ofMillis(1)));
    lock.unlock();
    MortiseLock brief = client.lock("brief", options.withLease(Duration.ofMillis(500)));
    brief.lock();
    Waiting.until("the lease ends", () -> !brief.isHeldByCurrentThread());
    assertStatus(Status.LOST, () -> brief.extend(Duration.ofHours(1)));
    assertStatus(Status.LOST, brief::progress);
    assertStatus(Status.LOST, brief::unlock);
  }

  @Test
  void threadsOfTwoClientsExcludeEachOther() throws Exception {
    int rounds = 50;
    var workers = new ArrayList<Worker>();
    for (int i = 0; i < 8; i++) {
      Lock lock = (i % 2 == 0 ? client : second).lock("counter");
      workers.add(
          new Worker(
              () -> {
                for (int round = 0; round < rounds; round++) {
                  lock.lock();
                  try {
                    int seen = counter;
                    Thread.yield();
                    counter = seen + 1;
                  } finally {
                    lock.unlock();
                  }
                }
              }));
    }
    for (Worker worker : workers) worker.finish();
    assertEquals(8 * rounds, counter);
    assertFalse(redis.exists("{mortise:counter}"));
  }

  @Test
  void aThreadLocksAgainWhatItHolds() {
    MortiseLock lock = client.lock("again");
    lock.lock();
    long token = lock.token();
    // Another object of the same name is the same lock to this thread.
    MortiseLock same = client.lock("again");
    same.lock();
    assertTrue(lock.tryLock());
    assertEquals(3, lock.holdCount());
    assertEquals(token, same.token());
    lock.unlock();
    same.unlock();
    assertTrue(redis.exists("{mortise:again}"));
    lock.unlock();
    assertFalse(redis.exists("{mortise:again}"));
    assertFalse(lock.isHeldByCurrentThread());
    assertTrue(lock.tryLock());
    assertTrue(lock.token() > token);
    lock.unlock();
  }

  @Test
  void aCountDoesNotOverflow() {
    MortiseLock lock = client.lock("count");
    lock.lock();
    ThreadHold<Mutex> hold = lockHold("count");
    hold.writes = Integer.MAX_VALUE;
    assertThrows(Error.class, lock::lock);
    assertThrows(Error.class, lock::tryLock);
    assertEquals(Integer.MAX_VALUE, lock.holdCount());
    hold.writes = 1;
    lock.unlock();
    assertFalse(redis.exists("{mortise:count}"));
  }

  private static ThreadHold<Mutex> lockHold(String name) {
    return client.mutexes().holds().get(Name.of(name));
  }

  @Test
  void locksAndThreadsThatAreDoneLeaveLittle() throws Exception {
    try (var client = MortiseClient.open(redis.url())) {
      // Many a program makes a Lock for each use, and a name for each thing.
      for (int i = 0; i < 2000; i++) {
        MortiseLock lock = client.lock("use " + i);
        lock.lock();
        lock.unlock();
      }
      int idle = client.mutexes().pool().size();
      assertTrue(0 < idle && idle <= 256, idle + " owners");
      assertEquals(0, client.mutexes().holds().size());
    }
  }

  @Test
  void aLockObjectForEachUseMakesNoOwnerForEach() {
    client.lock("often").lock();
    Mutex owner = lockHold("often").owner();
    client.lock("often").unlock();
    client.lock("often").lock();
    assertSame(owner, lockHold("often").owner());
    client.lock("often").unlock();
    // Other options need another owner.
    var other = client.lock("often", MortiseOptions.DEFAULTS.withLabel("other"));
    other.lock();
    assertNotSame(owner, lockHold("often").owner());
    other.unlock();
  }

  @Test
  void anOwnerThatStillHoldsIsNotUsedAgain() throws Exception {
    Mutex owner = client.mutexes().pool().take(Name.of("pooled"), null);
    owner.acquire();
    client.mutexes().pool().giveBack(owner);
    Waiting.until("its hold is given back", () -> !redis.exists("{mortise:pooled}"));
    assertNotSame(owner, client.mutexes().pool().take(Name.of("pooled"), null));
  }

  @Test
  void aDeadThreadKeepsItsLockAndNotItsMemory() throws Exception {
    var options = MortiseOptions.DEFAULTS.withLease(Duration.ofMillis(100)).withRenewal(false);
    try (var client = MortiseClient.open(redis.url())) {
      var forgetful = new Worker(() -> client.lock("dead").lock());
      forgetful.finish();
      forgetful.thread().join();
      assertFalse(client.lock("dead").tryLock());
      assertEquals(1, client.mutexes().holds().size());
      int dead = 60;
      for (int i = 0; i < dead; i++) {
        String name = "dead " + i;
        var thread = new Worker(() -> client.lock(name, options).lock()).thread();
        thread.join();
      }
      assertEquals(1 + dead, client.mutexes().holds().size());
      for (int i = 0; i < dead; i++) {
        String key = "{mortise:dead " + i + "}";
        Waiting.until("its lease ends", () -> !redis.exists(key));
      }
      // Among many holds it finds those that no thread can unlock and whose lease has ended.
      int alive = 10;
      for (int i = 0; i < alive; i++) client.lock("alive " + i).lock();
      assertTrue(client.mutexes().holds().size() <= 1 + alive);
      for (int i = 0; i < alive; i++) client.lock("alive " + i).unlock();
      assertEquals(1, client.mutexes().holds().size());
      assertFalse(client.lock("dead").tryLock());
    }
  }

  @Test
  void onlyTheHolderUnlocks() throws Exception {
    MortiseLock lock = client.lock("mine");
    assertThrows(IllegalMonitorStateException.class, lock::unlock);
    lock.lock();
    var stranger =
        new Worker(
            () -> {
              assertThrows(IllegalMonitorStateException.class, lock::unlock);
              assertThrows(IllegalMonitorStateException.class, lock::token);
              assertFalse(lock.tryLock());
              assertFalse(lock.tryLock(2, TimeUnit.SECONDS));
              assertEquals(Duration.ZERO, lock.validFor());
            });
    stranger.finish();
    assertTrue(lock.isHeldByCurrentThread());
    lock.unlock();
  }

  @Test
  void thereAreNoConditions() {
    assertThrows(UnsupportedOperationException.class, client.lock("x")::newCondition);
  }

  @Test
  void anInterruptEndsAWait() throws Exception {
    Lock lock = client.lock("interrupted");
    lock.lock();
    var first = new Worker(() -> assertThrows(InterruptedException.class, lock::lockInterruptibly));
    var second =
        new Worker(
            () ->
                assertThrows(
                    InterruptedException.class,
                    () -> lock.tryLock(PATIENCE_SECONDS, TimeUnit.SECONDS)));
    Waiting.untilWaiting(redis, "interrupted", 2);
    first.thread().interrupt();
    second.thread().interrupt();
    first.finish();
    second.finish();
    lock.unlock();
    Waiting.until("the lock is free", () -> !redis.exists("{mortise:interrupted}"));
  }

  @Test
  void anInterruptBeforehandIsNoticed() {
    Lock lock = client.lock("early");
    Thread.currentThread().interrupt();
    assertThrows(InterruptedException.class, lock::lockInterruptibly);
    Thread.currentThread().interrupt();
    assertThrows(InterruptedException.class, () -> lock.tryLock(1, TimeUnit.SECONDS));
    assertFalse(Thread.interrupted());
  }

  @Test
  void aGrantThatRacesAnInterruptIsGivenBack() throws Exception {
    MortiseLock lock = client.lock("race");
    MortiseLock other = second.lock("race");
    for (int round = 0; round < 50; round++) {
      other.lock();
      var isHeld = new AtomicBoolean();
      var waiter =
          new Worker(
              () -> {
                try {
                  lock.lockInterruptibly();
                  isHeld.set(true);
                  lock.unlock();
                } catch (InterruptedException lost) {
                  assertFalse(lock.isHeldByCurrentThread());
                }
              });
      Waiting.untilWaiting(redis, "race", 1);
      var start = new CountDownLatch(1);
      var interrupter =
          new Worker(
              () -> {
                start.await();
                waiter.thread().interrupt();
              });
      start.countDown();
      other.unlock();
      interrupter.finish();
      waiter.finish();
      // Whichever call won, it is free at once, long before a lease could end.
      assertTrue(other.tryLock(5, TimeUnit.SECONDS), "round " + round + " " + isHeld);
      other.unlock();
    }
  }

  @Test
  void lockIsNotInterruptedAndKeepsTheFlag() throws Exception {
    Lock lock = client.lock("stubborn");
    lock.lock();
    var waiter =
        new Worker(
            () -> {
              lock.lock();
              assertTrue(Thread.interrupted());
              lock.unlock();
            });
    Waiting.untilWaiting(redis, "stubborn", 1);
    waiter.thread().interrupt();
    lock.unlock();
    waiter.finish();
  }

  @Test
  void aLostHoldIsReported() {
    MortiseLock lock = client.lock("lost", MortiseOptions.DEFAULTS.withRenewal(false));
    lock.lock();
    redis.command("DEL", "{mortise:lost}");
    assertStatus(Status.LOST, lock::unlock);
    assertThrows(IllegalMonitorStateException.class, lock::unlock);
    lock.lock();
    lock.unlock();
  }

  @Test
  void aHoldWhoseLeaseHasEndedCannotBeLockedAgain() throws Exception {
    MortiseLock lock =
        client.lock("ended", MortiseOptions.DEFAULTS.with("lease", "100ms").withRenewal(false));
    lock.lock();
    Waiting.until("the lease ends", () -> !lock.isHeldByCurrentThread());
    assertFalse(lock.isHeldByCurrentThread());
    assertStatus(Status.LOST, lock::lock);
    assertStatus(Status.LOST, lock::unlock);
  }

  @Test
  void timeoutsOfAllSizes() throws Exception {
    Lock lock = client.lock("times");
    assertTrue(lock.tryLock(Long.MAX_VALUE, TimeUnit.DAYS));
    var stranger =
        new Worker(
            () -> {
              assertFalse(lock.tryLock(0, TimeUnit.SECONDS));
              assertFalse(lock.tryLock(Long.MIN_VALUE, TimeUnit.SECONDS));
              assertFalse(lock.tryLock(1, TimeUnit.NANOSECONDS));
            });
    stranger.finish();
    lock.unlock();
  }
}
