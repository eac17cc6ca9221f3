package org.mortise;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mortise.Waiting.assertStatus;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.mortise.Waiting.Worker;

class ReadWriteLockTest {
  @RegisterExtension static final Redis redis = new Redis();
  private static MortiseClient client;
  private static MortiseClient other;

  @BeforeAll
  static void open() {
    client = MortiseClient.open(redis.strictUrl());
    other = MortiseClient.open(redis.strictUrl());
  }

  @AfterAll
  static void close() throws Exception {
    client.close();
    other.close();
  }

  private static boolean othersCanRead(String name) throws Exception {
    return canRead(other, name);
  }

  private static boolean canRead(MortiseClient client, String name) throws Exception {
    var lock = client.readWriteLock(name).readLock();
    boolean[] result = new boolean[1];
    new Worker(
            () -> {
              result[0] = lock.tryLock();
              if (result[0]) lock.unlock();
            })
        .finish();
    return result[0];
  }

  private static boolean othersCanWrite(String name) throws Exception {
    var lock = client.readWriteLock(name).writeLock();
    boolean[] result = new boolean[1];
    new Worker(
            () -> {
              result[0] = lock.tryLock();
              if (result[0]) lock.unlock();
            })
        .finish();
    return result[0];
  }

  @Test
  void readersReadTogetherAndAWriterAlone() throws Exception {
    var lock = client.readWriteLock("book");
    lock.readLock().lock();
    assertTrue(lock.isReadHeldByCurrentThread());
    assertTrue(othersCanRead("book"));
    assertFalse(othersCanWrite("book"));
    lock.readLock().unlock();
    lock.writeLock().lock();
    assertTrue(lock.isWriteHeldByCurrentThread());
    assertFalse(othersCanRead("book"));
    assertFalse(othersCanWrite("book"));
    lock.writeLock().unlock();
    assertTrue(othersCanWrite("book"));
  }

  @Test
  void bothSidesAreReentrant() throws Exception {
    var lock = client.readWriteLock("again");
    lock.readLock().lock();
    lock.readLock().lock();
    lock.readLock().unlock();
    assertFalse(othersCanWrite("again"));
    lock.readLock().unlock();
    lock.writeLock().lock();
    assertTrue(lock.writeLock().tryLock(1, TimeUnit.SECONDS));
    lock.writeLock().unlock();
    assertFalse(othersCanRead("again"));
    lock.writeLock().unlock();
    assertTrue(othersCanWrite("again"));
  }

  @Test
  void aWriterThatReadsIsDowngradedByUnlocking() throws Exception {
    var lock = client.readWriteLock("downgrade");
    lock.writeLock().lock();
    long token = lock.token();
    lock.readLock().lock();
    var started = new CountDownLatch(1);
    var reader =
        new Worker(
            () -> {
              started.countDown();
              other.readWriteLock("downgrade").readLock().lock();
              other.readWriteLock("downgrade").readLock().unlock();
            });
    started.await();
    lock.writeLock().unlock();
    // Readers that waited come in, a writer does not.
    reader.finish();
    assertTrue(lock.isReadHeldByCurrentThread());
    assertFalse(lock.isWriteHeldByCurrentThread());
    assertEquals(token, lock.token());
    assertFalse(othersCanWrite("downgrade"));
    lock.readLock().unlock();
    assertTrue(othersCanWrite("downgrade"));
  }

  /** Otherwise its write lock would stay held after the unlock that could not downgrade. */
  @Test
  void aWriterCannotReadWhereItCannotBeDowngraded() throws Exception {
    for (String protocol : List.of("two_key", "hash")) {
      try (var plain = MortiseClient.open(redis.url() + "?protocol=" + protocol)) {
        var lock = plain.readWriteLock(protocol);
        lock.writeLock().lock();
        assertStatus(Status.UNSUPPORTED, lock.readLock()::lock);
        assertStatus(Status.UNSUPPORTED, lock.readLock()::tryLock);
        assertFalse(lock.isReadHeldByCurrentThread());
        assertTrue(lock.isWriteHeldByCurrentThread());
        lock.writeLock().lock();
        lock.writeLock().unlock();
        lock.writeLock().unlock();
        lock.readLock().lock();
        lock.readLock().lock();
        lock.readLock().unlock();
        lock.readLock().unlock();
        assertTrue(lock.writeLock().tryLock());
        lock.writeLock().unlock();
      }
    }
  }

  @Test
  void aClosedOwnerNeitherReadsNorWrites() throws Exception {
    var owner = client.readWriteMutex("closed");
    assertTrue(owner.writeLock().acquire().isHeld());
    assertTrue(owner.isWriting());
    owner.close();
    assertFalse(owner.isReading());
    assertFalse(owner.isWriting());
  }

  @Test
  void aWriterCanUnlockItsReadFirst() throws Exception {
    var lock = client.readWriteLock("order");
    lock.writeLock().lock();
    lock.readLock().lock();
    lock.readLock().unlock();
    assertTrue(lock.isWriteHeldByCurrentThread());
    assertFalse(othersCanRead("order"));
    lock.writeLock().unlock();
    assertTrue(othersCanWrite("order"));
  }

  @Test
  void aLostHoldIsReportedAndEnds() throws Exception {
    var lock = client.readWriteLock("lost");
    lock.writeLock().lock();
    lock.readLock().lock();
    redis.command("DEL", "{mortise:lost}");
    // What comes after the loss was not protected, in either mode.
    assertStatus(Status.LOST, lock.writeLock()::unlock);
    assertFalse(lock.isReadHeldByCurrentThread());
    assertStatus(Status.LOST, lock.readLock()::lock);
    assertStatus(Status.LOST, lock.readLock()::unlock);
    assertThrows(IllegalMonitorStateException.class, lock.readLock()::unlock);
    assertTrue(othersCanWrite("lost"));
  }

  /** The client knows of the loss before the first unlock, which then does not downgrade. */
  @Test
  void aLostWriterThatReadsCanLockAgain() throws Exception {
    // Renewed soon, but long enough that a slow machine renews in time.
    var options =
        MortiseOptions.DEFAULTS.withReentrant(true).withLease(Duration.ofSeconds(6));
    var lock = client.readWriteLock("both", options);
    lock.writeLock().lock();
    lock.readLock().lock();
    redis.command("DEL", "{mortise:both}");
    Waiting.until("the loss", () -> !lock.isWriteHeldByCurrentThread());
    assertStatus(Status.LOST, lock.writeLock()::unlock);
    assertStatus(Status.LOST, lock.readLock()::unlock);
    assertTrue(lock.writeLock().tryLock());
    lock.writeLock().unlock();
  }

  @Test
  void aReaderDoesNotWaitForItself() {
    var lock = client.readWriteLock("self");
    lock.readLock().lock();
    assertStatus(Status.ALREADY_HELD, lock.writeLock()::lock);
    assertFalse(lock.writeLock().tryLock());
    lock.readLock().unlock();
  }

  @Test
  void upgradeIsATry() throws Exception {
    var lock = client.readWriteLock("upgrade");
    assertThrows(IllegalMonitorStateException.class, lock::tryUpgrade);
    lock.readLock().lock();
    long token = lock.token();
    var held = new CountDownLatch(1);
    var enough = new CountDownLatch(1);
    var reader =
        new Worker(
            () -> {
              var same = other.readWriteLock("upgrade").readLock();
              same.lock();
              held.countDown();
              enough.await();
              same.unlock();
            });
    held.await();
    assertFalse(lock.tryUpgrade());
    assertTrue(lock.isReadHeldByCurrentThread());
    enough.countDown();
    reader.finish();
    assertTrue(lock.tryUpgrade());
    assertTrue(lock.isWriteHeldByCurrentThread());
    assertTrue(lock.token() > token);
    assertThrows(IllegalMonitorStateException.class, lock.readLock()::unlock);
    lock.writeLock().unlock();
    assertTrue(othersCanWrite("upgrade"));
  }

  @Test
  void countsDoNotOverflow() throws Exception {
    var lock = client.readWriteLock("count");
    lock.writeLock().lock();
    lock.readLock().lock();
    ThreadHold<ReadWriteMutex> hold = client.readWrites().holds().get(Name.of("count"));
    hold.reads = Integer.MAX_VALUE;
    hold.writes = Integer.MAX_VALUE;
    assertThrows(Error.class, lock.readLock()::lock);
    assertThrows(Error.class, lock.writeLock()::tryLock);
    hold.reads = 1;
    hold.writes = 1;
    lock.readLock().unlock();
    lock.writeLock().unlock();
    assertTrue(othersCanWrite("count"));
    assertEquals(0, client.readWrites().holds().size());
  }

  @Test
  void onlyTheHolderUnlocks() {
    var lock = client.readWriteLock("mine");
    assertThrows(IllegalMonitorStateException.class, lock.readLock()::unlock);
    assertThrows(IllegalMonitorStateException.class, lock.writeLock()::unlock);
    lock.readLock().lock();
    assertThrows(IllegalMonitorStateException.class, lock.writeLock()::unlock);
    lock.readLock().unlock();
    assertThrows(UnsupportedOperationException.class, lock.readLock()::newCondition);
  }

  @Test
  void tryLockDoesNotPassAWaitingWriter() throws Exception {
    // Without fair=strict the readers of one client share.
    try (var sharing = MortiseClient.open(redis.url())) {
      var lock = sharing.readWriteLock("barge");
      lock.readLock().lock();
      assertTrue(canRead(sharing, "barge"));
      assertTrue(othersCanRead("barge"));
      var writer =
          new Worker(
              () -> {
                var same = other.readWriteLock("barge").writeLock();
                same.lock();
                same.unlock();
              });
      Waiting.until("the writer waits", () -> !othersCanRead("barge"));
      Waiting.until("the reader's client knows", () -> !canRead(sharing, "barge"));
      for (int i = 0; i < 50; i++) {
        assertFalse(canRead(sharing, "barge"));
        assertFalse(othersCanRead("barge"));
        assertFalse(othersCanWrite("barge"));
      }
      // A thread that reads may read again.
      assertTrue(lock.readLock().tryLock());
      lock.readLock().unlock();
      lock.readLock().unlock();
      writer.finish();
      assertTrue(canRead(sharing, "barge"));
    }
  }

  @Test
  void aWaitingWriterIsInterrupted() throws Exception {
    var lock = client.readWriteLock("interrupt");
    lock.readLock().lock();
    var writer =
        new Worker(
            () ->
                assertThrows(
                    InterruptedException.class,
                    other.readWriteLock("interrupt").writeLock()::lockInterruptibly));
    Waiting.until("the writer holds back readers", () -> !othersCanRead("interrupt"));
    writer.thread().interrupt();
    writer.finish();
    Waiting.until("readers come in again", () -> othersCanRead("interrupt"));
    lock.readLock().unlock();
  }
}
