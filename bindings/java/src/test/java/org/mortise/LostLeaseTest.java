package org.mortise;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mortise.Waiting.assertStatus;
import static org.mortise.Waiting.result;

import java.lang.ref.Reference;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.mortise.Waiting.Worker;

/** The loss in a lease's own future. */
class LostLeaseTest {
  /** Renewed soon, but long enough that a slow machine renews in time. */
  private static final Duration LEASE = Duration.ofSeconds(3);

  private static final MortiseOptions SHORT =
      MortiseOptions.DEFAULTS.withLease(LEASE);
  private static final MortiseOptions UNRENEWED =
      MortiseOptions.DEFAULTS.withLease(Duration.ofMillis(300)).withRenewal(false);
  @RegisterExtension static final Redis redis = new Redis();
  private static MortiseClient client;

  @BeforeAll
  static void open() {
    client = MortiseClient.builder(redis.url()).options(SHORT).open();
  }

  @AfterAll
  static void close() throws Exception {
    client.close();
  }

  private static void delete(String name) {
    redis.command("DEL", "{mortise:" + name + "}");
  }

  @Test
  void itTellsTheReason() throws Exception {
    Lease deleted = client.mutex("deleted").acquire();
    CompletableFuture<LossReason> lost = deleted.lost();
    assertSame(lost, deleted.lost());
    assertFalse(lost.isDone());
    delete("deleted");
    assertEquals(LossReason.SERVER_LOST, result(lost));
    assertFalse(deleted.isHeld());
    var unrenewed = client.mutex("expired", UNRENEWED);
    assertEquals(LossReason.EXPIRED, result(unrenewed.acquire().lost()));
  }

  @Test
  void aHoldWithoutAnEndOutlastsOneThatHasOne() throws Exception {
    try (var limited =
        MortiseClient.builder(redis.url())
            .options(SHORT.withMaxHold(Duration.ofSeconds(4)))
            .open()) {
      Lease endless =
          limited.mutex("endless", MortiseOptions.DEFAULTS.withUnlimitedHold()).acquire();
      Lease ending = limited.mutex("ending").acquire();
      assertEquals(LossReason.MAX_HOLD, result(ending.lost()));
      assertTrue(endless.release());
    }
  }

  @Test
  void aReleaseIsNoLoss() throws Exception {
    var owner = client.mutex("released");
    Lease first = owner.acquire();
    CompletableFuture<LossReason> released = first.lost();
    assertTrue(first.release());
    CompletableFuture<LossReason> late = first.lost();
    assertSame(released, late);
    Lease second = owner.acquire();
    CompletableFuture<LossReason> lost = second.lost();
    Lease third = client.mutex("third").acquire();
    assertTrue(third.release());
    CompletableFuture<LossReason> afterwards = third.lost();
    delete("released");
    assertEquals(LossReason.SERVER_LOST, result(lost));
    assertFalse(released.isDone());
    assertFalse(afterwards.isDone());
  }

  @Test
  void aLossBeforeTheRequestIsReported() throws Exception {
    var owner = client.mutex("early", UNRENEWED);
    Lease lease = owner.acquire();
    Waiting.until("the lease ends", () -> !lease.isHeld());
    assertReportedLate(lease);
    // Also when the owner has another hold by now.
    Lease again = owner.acquire();
    Waiting.until("the lease ends", () -> !again.isHeld());
    try (Lease later = owner.acquire()) {
      CompletableFuture<LossReason> ofLater = later.lost();
      assertReportedLate(again);
      assertTrue(!ofLater.isDone() || !later.isHeld());
    }
  }

  /** The native client may also notice its end by the clock, and knows the reason then. */
  private static void assertReportedLate(Lease lease) throws Exception {
    LossReason reason = result(lease.lost());
    assertTrue(reason == LossReason.UNKNOWN || reason == LossReason.EXPIRED, reason.toString());
  }

  /** An event of an earlier hold may come late. */
  @Test
  void theLossOfAnotherHoldIsNotItsOwn() throws Exception {
    var owner = client.mutex("other");
    Lease first = owner.acquire();
    assertTrue(first.release());
    try (Lease second = owner.acquire()) {
      long number = owner.holdNumber();
      var watch = new Watch(owner.ownName());
      var lost = new HoldFuture<LossReason>(second);
      watch.add(lost, number);
      // Readers of one client have the same token.
      Executor here = Runnable::run;
      watch.tell(here, Constants.EVENT_LOST, second.token(), number - 1, LossReason.EXPIRED);
      watch.tell(here, Constants.EVENT_AT_RISK, second.token(), number, LossReason.EXPIRED);
      assertFalse(lost.isDone());
      watch.tell(here, Constants.EVENT_LOST, second.token(), number, LossReason.SERVER_LOST);
      assertEquals(LossReason.SERVER_LOST, result(lost));
    }
  }

  @Test
  void anUpgradedLeaseIsLost() throws Exception {
    var owner = client.readWriteMutex("book");
    Lease lease = owner.readLock().acquire();
    CompletableFuture<LossReason> lost = lease.lost();
    assertTrue(owner.tryUpgrade());
    delete("book");
    assertEquals(LossReason.SERVER_LOST, result(lost));
  }

  /** It was first asked for during a release that is refused. */
  @Test
  void aRefusedReleaseKeepsTheFuture() throws Exception {
    var faults = new FaultyMutex.Faults();
    Lease lease = new FaultyMutex(client, "refused", faults).mode().acquire();
    faults.beforeUnlock = () -> assertFalse(lease.lost().isDone());
    faults.isOutOfMemory = true;
    assertStatus(Status.NO_MEMORY, lease::release);
    CompletableFuture<LossReason> lost = lease.lost();
    assertSame(lost, lease.lost());
    delete("refused");
    assertEquals(LossReason.SERVER_LOST, result(lost));
  }

  /** The owner has no hold while the server replies. */
  @Test
  void anExportIsNoLoss() throws Exception {
    try (var halted = new Redis();
        var patient =
            MortiseClient.builder(halted.url() + "?command_timeout=60s")
                .callbackExecutor(Runnable::run)
                .open()) {
      Lease lease = patient.mutex("exported").acquire();
      halted.command("CLIENT", "PAUSE", "60000", "WRITE");
      var export = new Worker(() -> lease.export(Duration.ofMinutes(1)));
      Waiting.until("the export has begun", () -> !lease.isHeld());
      CompletableFuture<LossReason> lost = lease.lost();
      assertFalse(lost.isDone());
      halted.command("CLIENT", "UNPAUSE");
      export.finish();
      assertFalse(lost.isDone());
    }
  }

  /** A reentrant owner cannot acquire before the release of its lost hold. */
  @Test
  void anExportOfALostHoldLeavesItsRelease() throws Exception {
    var owner =
        client.mutex("reentrant", MortiseOptions.DEFAULTS.withReentrant(true).withLease(LEASE));
    for (Duration lease : List.of(Duration.ofMinutes(1), Duration.ofMillis(1))) {
      Lease lost = owner.acquire();
      delete("reentrant");
      Waiting.until("the loss", () -> !lost.isHeld());
      Status expected = lease.equals(Duration.ofMillis(1)) ? Status.INVALID_ARGUMENT : Status.LOST;
      assertStatus(expected, () -> lost.export(lease));
      assertStatus(Status.LOST, owner::acquire);
      assertFalse(lost.release());
    }
    assertTrue(owner.acquire().release());
  }

  /** The server finds the loss, of which no other notice comes. */
  @Test
  void anExportThatFindsALossReportsIt() throws Exception {
    Lease lease = client.mutex("found").acquire();
    CompletableFuture<LossReason> lost = lease.lost();
    delete("found");
    assertStatus(Status.LOST, () -> lease.export(Duration.ofMinutes(1)));
    LossReason reason = result(lost);
    assertTrue(reason == LossReason.UNKNOWN || reason == LossReason.SERVER_LOST, reason.toString());
    assertFalse(lease.release());
  }

  @Test
  void aMultiIsLostWithAMember() throws Exception {
    var door = client.mutex("door");
    var multi = client.multi().add(door).add(client.semaphore("seats", 2).permits(1));
    Lease first = multi.acquire();
    CompletableFuture<LossReason> released = first.lost();
    assertTrue(first.release());
    Lease second = multi.acquire();
    CompletableFuture<LossReason> lost = second.lost();
    delete("seats");
    assertEquals(LossReason.SERVER_LOST, result(lost));
    assertFalse(second.isHeld());
    assertFalse(second.release());
    assertFalse(released.isDone());
  }

  /** Canceling one future cancels no other. */
  @Test
  void eachLeaseHasItsOwn() throws Exception {
    var owner = client.mutex("twice", MortiseOptions.DEFAULTS.withReentrant(true));
    Lease outer = owner.acquire();
    Lease inner = owner.acquire();
    assertTrue(outer.lost().cancel(true));
    assertTrue(outer.isHeld());
    delete("twice");
    assertEquals(LossReason.SERVER_LOST, result(inner.lost()));
  }

  @Test
  void aListenerIsNotifiedToo() throws Exception {
    var received = new LinkedBlockingQueue<LossReason>();
    var owner = client.mutex("both");
    Lease lease = owner.acquire();
    CompletableFuture<LossReason> lost = lease.lost();
    owner.addLossListener(
        new LossListener() {
          @Override
          public void lost(String name, long token) {}

          @Override
          public void lost(String name, long token, LossReason reason) {
            received.add(reason);
          }
        });
    delete("both");
    assertEquals(LossReason.SERVER_LOST, result(lost));
    assertEquals(
        LossReason.SERVER_LOST, received.poll(Waiting.PATIENCE_SECONDS, TimeUnit.SECONDS));
  }

  /** Each callback has its own thread, so one that blocks delays no other. */
  @Test
  void aListenerThatBlocksDelaysNoOther() throws Exception {
    var canEnd = new CountDownLatch(1);
    var received = new LinkedBlockingQueue<Long>();
    try (var blocked =
        MortiseClient.builder(redis.url())
            .options(SHORT)
            .lossListener((name, token) -> await(canEnd))
            .lockListener((name, kind) -> blockingWait(canEnd))
            .open()) {
      var owner = blocked.mutex("blocked");
      owner.addLossListener((name, token) -> received.add(token));
      Lease lease = owner.acquire();
      CompletableFuture<LossReason> lost = lease.lost();
      delete("blocked");
      assertEquals(LossReason.SERVER_LOST, result(lost));
      assertEquals(lease.token(), received.poll(Waiting.PATIENCE_SECONDS, TimeUnit.SECONDS));
    } finally {
      canEnd.countDown();
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException interrupted) {
      throw new AssertionError(interrupted);
    }
  }

  /** Its hold blocks in the notice of a loss. */
  private static LockListener.Wait blockingWait(CountDownLatch canEnd) {
    return new LockListener.Wait() {
      @Override
      public LockListener.Hold granted(long token) {
        return new LockListener.Hold() {
          @Override
          public void released(Status status) {}

          @Override
          public void lost(LossReason reason) {
            await(canEnd);
          }
        };
      }

      @Override
      public void failed(Status status) {}
    };
  }

  @Test
  void aFullQueueIsALimit() throws Exception {
    try (var small = MortiseClient.builder(redis.url()).options(SHORT).queueCapacity(1).open()) {
      Lease watched = small.mutex("watched").acquire();
      Lease refused = small.mutex("refused").acquire();
      assertFalse(watched.lost().isDone());
      assertStatus(Status.LIMIT, refused::lost);
      watched.owner().close();
      CompletableFuture<LossReason> lost = refused.lost();
      delete("refused");
      assertEquals(LossReason.SERVER_LOST, result(lost));
    }
  }

  private static CompletableFuture<LossReason> lossOf(String name) throws Exception {
    return client.mutex(name).acquire().lost();
  }

  @Test
  void whoAsksKeepsTheLeaseAndNobodyElseDoes() throws Exception {
    CompletableFuture<LossReason> kept = lossOf("kept");
    lossOf("forgotten").thenAccept(reason -> {});
    Waiting.until(
        "the collected owner gives its hold back",
        () -> {
          System.gc();
          return !redis.exists("{mortise:forgotten}");
        });
    assertTrue(redis.exists("{mortise:kept}"));
    delete("kept");
    assertEquals(LossReason.SERVER_LOST, result(kept));
    Reference.reachabilityFence(kept);
  }
}
