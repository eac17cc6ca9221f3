package org.mortise;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mortise.Waiting.assertStatus;
import static org.mortise.Waiting.result;

import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Holds of a reader, which have the same token while another reader of its client reads on. */
class ReaderHoldTest {
  /** Long enough that a slow machine asks for the loss before it. */
  private static final MortiseOptions LIMITED =
      MortiseOptions.DEFAULTS.withMaxHold(Duration.ofSeconds(1));
  private static final MortiseOptions BRIEF =
      MortiseOptions.DEFAULTS.withMaxHold(Duration.ofMillis(50));
  private static final int ROUNDS = 20;
  @RegisterExtension static final Redis redis = new Redis();
  private static MortiseClient client;
  private static MortiseClient second;

  @BeforeAll
  static void open() {
    client = MortiseClient.open(redis.url());
    second = MortiseClient.open(redis.url());
  }

  @AfterAll
  static void close() throws Exception {
    client.close();
    second.close();
  }

  private static Lease read(ReadWriteMutex owner) {
    return owner.readLock().tryAcquire().orElseThrow();
  }

  /** With an end that no test sees, whatever the owner's options are. */
  private static Lease readForLong(ReadWriteMutex owner) {
    for (; ; ) {
      Lease lease = read(owner);
      try {
        lease.extend(Duration.ofHours(1));
        return lease;
      } catch (MortiseException slow) {
        assertEquals(Status.LOST, slow.status());
      }
    }
  }

  private static void untilLost(Lease lease) throws Exception {
    Waiting.until("the loss of " + lease, () -> !lease.isHeld());
  }

  private static void assertLost(Lease lease) {
    assertFalse(lease.isHeld());
    assertEquals(Duration.ZERO, lease.validFor());
    assertStatus(Status.LOST, () -> lease.extend(Duration.ZERO));
  }

  @Test
  void aLostHoldStaysLostWhileItsOwnerReadsAgain() throws Exception {
    var asking = client.readWriteMutex("again", LIMITED);
    var silent = client.readWriteMutex("again", LIMITED);
    Lease keeping = read(client.readWriteMutex("again"));
    Lease early = read(asking);
    Lease unasked = read(silent);
    CompletableFuture<LossReason> lost = early.lost();
    untilLost(early);
    untilLost(unasked);
    Lease late = readForLong(asking);
    Lease lateToo = readForLong(silent);
    CompletableFuture<LossReason> ofLate = late.lost();
    assertEquals(early.token(), late.token());
    assertLost(early);
    assertLost(unasked);
    assertEquals(LossReason.MAX_HOLD, result(lost));
    assertEquals(LossReason.UNKNOWN, result(unasked.lost()));
    assertFalse(ofLate.isDone());
    assertFalse(early.release());
    assertFalse(result(unasked.releaseAsync()));
    assertTrue(late.isHeld());
    assertTrue(lateToo.isHeld());
    assertTrue(keeping.release());
    assertTrue(lateToo.release());
    assertTrue(second.readWriteMutex("again").writeLock().tryAcquire().isEmpty());
    assertTrue(late.release());
    assertFalse(ofLate.isDone());
  }

  /** The event of each loss comes when its owner reads again, with the same token. */
  @Test
  void eachLossIsReported() throws Exception {
    var callbacks = new LinkedBlockingQueue<Runnable>();
    try (var late = MortiseClient.builder(redis.url()).callbackExecutor(callbacks::add).open()) {
      Lease keeping = read(late.readWriteMutex("each"));
      var owner = late.readWriteMutex("each", BRIEF);
      var received = new ArrayList<Long>();
      owner.addLossListener((name, token) -> received.add(token));
      var losses = new ArrayList<CompletableFuture<LossReason>>();
      for (int round = 0; round < ROUNDS; round++) {
        Lease lease = read(owner);
        assertEquals(keeping.token(), lease.token());
        losses.add(lease.lost());
        untilLost(lease);
      }
      // With the owner's next hold at hand, none of the losses is known by the time that passed.
      Lease last = readForLong(owner);
      var all = CompletableFuture.allOf(losses.toArray(CompletableFuture<?>[]::new));
      while (!all.isDone() || received.size() < ROUNDS) {
        Runnable callback = callbacks.poll(Waiting.PATIENCE_SECONDS, TimeUnit.SECONDS);
        assertTrue(callback != null, received.size() + " told, and " + losses);
        callback.run();
      }
      for (long token : received) assertEquals(keeping.token(), token);
      assertTrue(last.release());
    }
  }

  @Test
  void aMultiStaysLostWhileItsMemberReadsAgain() throws Exception {
    Lease keeping = read(client.readWriteMutex("member"));
    var member = client.readWriteMutex("member", LIMITED);
    Lease all = client.multi().add(member.readLock()).add(client.mutex("door")).acquire();
    Lease silent =
        client
            .multi()
            .add(client.readWriteMutex("member", LIMITED).readLock())
            .tryAcquire()
            .orElseThrow();
    CompletableFuture<LossReason> lost = all.lost();
    untilLost(all);
    untilLost(silent);
    Lease own = readForLong(member);
    assertEquals(keeping.token(), own.token());
    assertLost(all);
    assertEquals(LossReason.MAX_HOLD, result(lost));
    assertEquals(LossReason.UNKNOWN, result(silent.lost()));
    assertTrue(redis.exists("{mortise:door}"));
    assertFalse(all.release());
    assertFalse(redis.exists("{mortise:door}"));
    assertTrue(own.isHeld());
    assertTrue(own.release());
    assertTrue(keeping.release());
  }
}
