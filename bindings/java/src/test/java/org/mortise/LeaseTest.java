package org.mortise;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mortise.Waiting.assertStatus;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.function.ThrowingConsumer;

class LeaseTest {
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

  @Test
  void aLeaseEndsWithItsBlock() throws Exception {
    var owner = client.mutex("block");
    long token;
    try (Lease lease = owner.acquire()) {
      token = lease.token();
      assertTrue(lease.isHeld());
      assertTrue(lease.validFor().toMillis() > 1000);
      assertTrue(redis.exists("{mortise:block}"));
      assertTrue(client.mutex("block").tryAcquire().isEmpty());
      assertTrue(client.mutex("block").tryAcquire(Duration.ofMillis(200)).isEmpty());
      assertEquals(owner, lease.owner());
    }
    assertFalse(redis.exists("{mortise:block}"));
    try (Lease next = client.mutex("block").tryAcquire().orElseThrow()) {
      assertTrue(next.token() > token);
    }
  }

  @Test
  void anExportedLeaseIsContinuedByOneAdopter() throws Exception {
    var exporter = client.mutex("export");
    Lease lease = exporter.acquire();
    assertStatus(Status.INVALID_ARGUMENT, () -> lease.export(Duration.ofMillis(1)));
    assertTrue(lease.isHeld());
    String id = lease.export(Duration.ofMinutes(1));
    assertFalse(lease.isHeld());
    assertFalse(lease.release());
    assertStatus(Status.NOT_OWNER, () -> lease.export(Duration.ZERO));
    assertTrue(client.mutex("export").tryAcquire().isEmpty());

    var adopter = client.mutex("export");
    Lease adopted = adopter.adopt(id);
    assertTrue(adopted.isHeld());
    assertTrue(adopted.token() > lease.token());
    assertStatus(Status.NOT_OWNER, () -> exporter.adopt(id));
    assertStatus(Status.ALREADY_HELD, () -> adopter.adopt(id));
    adopted.export(Duration.ZERO);
    assertTrue(exporter.adopt(id).release());
    assertStatus(Status.NOT_OWNER, () -> exporter.adopt(id));
    assertStatus(Status.INVALID_ARGUMENT, () -> exporter.adopt("no id"));
  }

  @Test
  void readersWritersAndPermitsHaveIds() throws Exception {
    var rw = client.readWriteMutex("export/rw");
    for (Acquirable side : new Acquirable[] {rw.readLock(), rw.writeLock()}) {
      Lease held = side.acquire();
      boolean wasWriting = rw.isWriting();
      Lease adopted = rw.adopt(held.export(Duration.ofMinutes(1)));
      assertEquals(wasWriting, rw.isWriting());
      assertTrue(adopted.release());
    }
    assertStatus(Status.INVALID_ARGUMENT, () -> rw.adopt("no id"));
    var semaphore = client.semaphore("export/permits", 3);
    Lease two = semaphore.permits(2).acquire();
    Lease adopted = semaphore.adopt(two.export(Duration.ofMinutes(1)));
    assertTrue(client.semaphore("export/permits", 3).permits(2).tryAcquire().isEmpty());
    assertTrue(adopted.release());
    try (Lease all = client.multi().add(client.mutex("export/member")).acquire()) {
      assertStatus(Status.UNSUPPORTED, () -> all.export(Duration.ofMinutes(1)));
      var refused =
          assertThrows(MortiseException.class, () -> all.export(Duration.ofMinutes(1)));
      assertTrue(refused.getMessage().contains("has no id"), refused.getMessage());
    }
    for (Executable call :
        new Executable[] {
          () -> client.mutex("export/none").adopt((String) null),
          () -> rw.adopt((String) null),
          () -> semaphore.adopt((String) null)
        }) {
      assertEquals("id", assertThrows(NullPointerException.class, call).getMessage());
    }
  }

  @Test
  void releaseTellsWhetherItWasHeld() throws Exception {
    Lease held = client.mutex("release").acquire();
    assertTrue(held.release());
    assertFalse(held.release());
    assertFalse(held.isHeld());
    assertEquals(Duration.ZERO, held.validFor());
    assertStatus(Status.NOT_OWNER, () -> held.extend(Duration.ofSeconds(1)));
    Lease lost = client.mutex("release").acquire();
    redis.command("DEL", "{mortise:release}");
    assertFalse(lost.release());
    lost.close();
  }

  /** While the server does not answer its upgrade, an owner allows no other call. */
  @Test
  void aReleaseThatIsRefusedAsBusyCanBeDoneAgain() throws Exception {
    try (var frozen = new Redis();
        var impatient = MortiseClient.open(frozen.url())) {
      var owner = impatient.readWriteMutex("busy");
      Lease lease = owner.readLock().acquire();
      frozen.control("pause");
      CompletableFuture<Boolean> upgrade = owner.tryUpgradeAsync();
      assertStatus(Status.BUSY, lease::release);
      assertStatus(Status.BUSY, lease::close);
      assertEquals(
          Status.BUSY,
          assertInstanceOf(
                  MortiseException.class,
                  assertThrows(ExecutionException.class, () -> Waiting.result(lease.releaseAsync()))
                      .getCause())
              .status());
      assertTrue(lease.isHeld());
      frozen.control("resume");
      assertTrue(Waiting.result(upgrade));
      assertTrue(owner.isWriting());
      // It knows of the upgrade, too.
      assertTrue(lease.release());
      assertFalse(lease.release());
      assertFalse(owner.isHeld());
      assertFalse(frozen.exists("{mortise:busy}"));
    }
  }

  /** With an end that no test sees, whatever the owner's options are. */
  private static Lease acquireForLong(Mutex owner) throws Exception {
    for (; ; ) {
      Lease lease = owner.acquire();
      try {
        lease.extend(Duration.ofHours(1));
        return lease;
      } catch (MortiseException slow) {
        assertEquals(Status.LOST, slow.status());
      }
    }
  }

  @Test
  void anOldLeaseDoesNotEndALaterHold() throws Exception {
    var owner = client.mutex(
        "old", MortiseOptions.DEFAULTS.withLease(Duration.ofMillis(60)).withRenewal(false));
    Lease old = owner.acquire();
    Waiting.until("the lease ends", () -> !old.isHeld());
    Lease later = acquireForLong(owner);
    assertFalse(old.release());
    assertFalse(old.isHeld());
    assertTrue(redis.exists("{mortise:old}"));
    later.close();
  }

  @Test
  void extendLengthensALease() throws Exception {
    try (Lease lease = client.mutex("extend").acquire()) {
      lease.extend(Duration.ofHours(1));
      assertTrue(lease.validFor().toMillis() > Duration.ofMinutes(50).toMillis());
      lease.extend(Duration.ZERO);
      assertStatus(Status.INVALID_ARGUMENT, () -> lease.extend(Duration.ofMillis(1)));
      redis.command("DEL", "{mortise:extend}");
      assertStatus(Status.LOST, () -> lease.extend(Duration.ofHours(2)));
      assertFalse(lease.isHeld());
    }
  }

  @Test
  void anOwnerIsReentrantWhenAsked() throws Exception {
    var plain = client.mutex("plain");
    try (Lease lease = plain.acquire()) {
      assertStatus(Status.ALREADY_HELD, plain::acquire);
      assertTrue(lease.isHeld());
    }
    var owner = client.mutex("twice", MortiseOptions.DEFAULTS.withReentrant(true));
    Lease outer = owner.acquire();
    Lease inner = owner.acquire();
    assertEquals(outer.token(), inner.token());
    assertTrue(outer.release());
    assertTrue(inner.isHeld());
    assertTrue(redis.exists("{mortise:twice}"));
    assertTrue(inner.release());
    assertFalse(redis.exists("{mortise:twice}"));
  }

  @Test
  void aQueryShowsHolderAndLabel() throws Exception {
    var owner = client.mutex("who", MortiseOptions.DEFAULTS.withLabel("büro 🔒"));
    assertFalse(owner.query().isHeld());
    try (Lease lease = owner.acquire()) {
      LockInfo info = owner.query();
      assertTrue(info.isHeld());
      assertTrue(info.isMine());
      assertEquals(lease.token(), info.latestToken());
      assertEquals("büro 🔒", info.holders().get(0).label());
      assertEquals(ProcessHandle.current().pid(), info.holders().get(0).processId());
      assertEquals(0, info.waiters().size());
      assertFalse(client.mutex("who").query().isMine());
    }
  }

  @Test
  void aReadWriteLeaseIsUpgradedAndDowngraded() throws Exception {
    var owner = client.readWriteMutex("rw");
    var second = client.readWriteMutex("rw");
    Lease lease = owner.readLock().acquire();
    assertTrue(owner.isReading());
    Lease also = second.readLock().tryAcquire().orElseThrow();
    assertFalse(owner.tryUpgrade());
    also.close();
    long before = lease.token();
    assertTrue(owner.tryUpgrade());
    assertTrue(owner.isWriting());
    assertTrue(lease.token() > before);
    assertTrue(second.readLock().tryAcquire().isEmpty());
    owner.downgrade();
    assertTrue(lease.isHeld());
    second.readLock().tryAcquire().orElseThrow().close();
    assertTrue(Waiting.result(owner.tryUpgradeAsync()));
    Waiting.result(owner.downgradeAsync());
    assertTrue(lease.release());
    second.writeLock().tryAcquire().orElseThrow().close();
    assertStatus(Status.NOT_OWNER, owner::downgrade);
    assertStatus(Status.NOT_OWNER, owner::tryUpgrade);
  }

  /** From the call on the owner only reads, whatever the reply is. */
  @Test
  void aDowngradeWithoutAnAnswerHasChangedTheLease() throws Exception {
    try (var halted = new Redis();
        var impatient = MortiseClient.open(halted.url() + "?command_timeout=300ms");
        var patient = MortiseClient.open(halted.url() + "?command_timeout=60s")) {
      var owner = impatient.readWriteMutex("silent");
      Lease lease = owner.writeLock().acquire();
      halted.command("CLIENT", "PAUSE", "60000", "WRITE");
      assertStatus(Status.UNKNOWN, owner::downgrade);
      assertTrue(lease.isHeld());
      assertTrue(owner.isReading());
      halted.command("CLIENT", "UNPAUSE");
      assertTrue(lease.release());

      owner = patient.readWriteMutex("silent");
      lease = owner.writeLock().acquire();
      halted.command("CLIENT", "PAUSE", "60000", "WRITE");
      var downgrade = owner.downgradeAsync();
      var release = lease.releaseAsync();
      halted.command("CLIENT", "UNPAUSE");
      assertTrue(Waiting.result(release));
      assertThrows(ExecutionException.class, () -> Waiting.result(downgrade));
      patient.readWriteMutex("silent").writeLock().tryAcquire().orElseThrow().close();
    }
  }

  @Test
  void aChangeBetweenTwoLooksDoesNotHideTheHold() {
    var isWriting = new AtomicBoolean(true);
    assertEquals(
        1,
        ReadWriteMutex.isEither(
            0,
            it -> isWriting.get() ? 0 : 1,
            it -> {
              isWriting.set(false);
              return 0;
            }));
    assertEquals(0, ReadWriteMutex.isEither(0, it -> 0, it -> 0));
  }

  @Test
  void aSemaphoreHasPermits() throws Exception {
    var owner = client.semaphore("permits", 3);
    try (Lease two = owner.permits(2).acquire()) {
      assertTrue(two.token() > 0);
      assertTrue(client.semaphore("permits", 3).permits(2).tryAcquire().isEmpty());
      Lease one = client.semaphore("permits", 3).acquire();
      assertEquals(3, owner.query().permitsInUse());
      owner.resize(4);
      assertEquals(4, owner.query().permits());
      client.semaphore("permits", 4).tryAcquire().orElseThrow().close();
      one.close();
    }
    assertStatus(Status.INVALID_ARGUMENT, () -> owner.permits(0).acquire());
    assertStatus(Status.REFUSED, () -> client.semaphore("permits", 9).permits(9).acquire());
  }

  @Test
  void aMultiHoldsAllOrNone() throws Exception {
    var door = client.mutex("door");
    var seats = client.semaphore("seats", 2);
    var plan = client.readWriteMutex("plan");
    var multi = client.multi().add(door).add(seats.permits(2)).add(plan.readLock());
    assertEquals(3, multi.memberCount());
    try (Lease all = multi.acquire()) {
      assertTrue(all.isHeld());
      assertEquals(0, all.token());
      assertTrue(door.token() > 0 && door.isHeld());
      assertTrue(plan.isReading());
      assertTrue(client.semaphore("seats", 2).tryAcquire().isEmpty());
      all.extend(Duration.ofMinutes(10));
      assertTrue(all.validFor().toMillis() > 300_000 && door.validFor().toMillis() > 300_000);
      Waiting.result(all.extendAsync(Duration.ofMinutes(30)));
      assertTrue(all.validFor().toMillis() > 900_000);
    }
    assertFalse(door.isHeld());
    try (Lease one = client.mutex("door").acquire()) {
      assertTrue(one.isHeld());
      assertTrue(multi.tryAcquire().isEmpty());
      assertTrue(Waiting.result(multi.tryAcquireAsync(Duration.ofMillis(200))).isEmpty());
      assertFalse(seats.isHeld());
    }
    assertTrue(Waiting.result(Waiting.result(multi.acquireAsync()).releaseAsync()));
    assertStatus(Status.INVALID_ARGUMENT, () -> multi.add(client.mutex("door")));
  }

  /** In words and as a value, once. */
  private static void assertNames(String name, Status status, Executable call) {
    MortiseException problem = assertThrows(MortiseException.class, call);
    assertEquals(status, problem.status());
    assertEquals(name, problem.lockName());
    String quoted = '"' + name.replace('\0', '?') + "\": ";
    assertTrue(problem.getMessage().startsWith(quoted), problem.getMessage());
    assertEquals(-1, problem.getMessage().indexOf(name, quoted.length()), problem.getMessage());
  }

  @Test
  void aFailureNamesTheLock() throws Exception {
    var owner = client.mutex("named\0");
    Lease lease = owner.acquire();
    assertNames("named\0", Status.ALREADY_HELD, owner::acquire);
    lease.close();
    assertNames("named\0", Status.NOT_OWNER, () -> lease.extend(Duration.ZERO));
    owner.interrupt(true);
    assertNames("named\0", Status.CANCELLED, owner::acquire);
    owner.close();
    assertNames("named\0", Status.CLOSED, owner::acquire);
    assertNames("named\0", Status.CLOSED, owner::query);
  }

  @Test
  void aFailureOfAMultiNamesItsMembers() throws Exception {
    var all = client.multi();
    for (String name : new String[] {"1", "2", "3", "4", "5"}) all.add(client.mutex(name));
    all.interrupt(true);
    MortiseException cancelled = assertThrows(MortiseException.class, all::acquire);
    all.close();
    MortiseException closed = assertThrows(MortiseException.class, all::acquire);
    for (MortiseException problem : new MortiseException[] {cancelled, closed}) {
      String begin = "multi of \"1\", \"2\", \"3\" and 2 more: ";
      assertTrue(problem.getMessage().startsWith(begin), problem.getMessage());
      assertEquals("", problem.lockName());
    }
  }

  @Test
  void aMultiNamesTheMemberThatIsLost() throws Exception {
    var all = client.multi().add(client.mutex("kept")).add(client.mutex("gone"));
    for (boolean isAsync : new boolean[] {false, true}) {
      Lease lease = all.acquire();
      redis.command("DEL", "{mortise:gone}");
      assertNames(
          "gone",
          Status.LOST,
          () -> {
            if (!isAsync) lease.extend(Duration.ofMinutes(1));
            try {
              lease.extendAsync(Duration.ofMinutes(1)).get();
            } catch (ExecutionException failed) {
              throw failed.getCause();
            }
          });
      assertFalse(lease.isHeld());
      assertFalse(lease.release());
    }
  }

  @Test
  void aMultiTellsTheLossesOfItsMembers() throws Exception {
    var received = new LinkedBlockingQueue<String>();
    var all = client.multi().add(client.mutex("first"));
    all.addLossListener((name, token) -> received.add(name + " " + token));
    var second = client.mutex("second");
    all.add(second);
    try (Lease lease = all.acquire()) {
      redis.command("DEL", "{mortise:second}");
      assertThrows(MortiseException.class, () -> lease.extend(Duration.ZERO));
      assertEquals(
          "second " + second.token(), received.poll(Waiting.PATIENCE_SECONDS, TimeUnit.SECONDS));
      redis.command("DEL", "{mortise:first}");
      assertThrows(MortiseException.class, () -> lease.extend(Duration.ZERO));
    }
  }

  @Test
  void bytesNameWhatTheirTextNames() throws Exception {
    try (Lease lease = client.mutex("same").acquire()) {
      assertTrue(lease.isHeld());
      assertTrue(client.mutex("same".getBytes(UTF_8), null).tryAcquire().isEmpty());
    }
  }

  /** A caller may release before the result of the upgrade has reached it. */
  @Test
  void aReleaseAfterAnUpgradeEndsTheHold() throws Exception {
    var results = new LinkedBlockingQueue<Runnable>();
    try (var late =
        MortiseClient.builder(redis.strictUrl()).callbackExecutor(results::add).open()) {
      for (boolean isAsync : new boolean[] {false, true}) {
        var owner = late.readWriteMutex("upgraded");
        Lease lease = owner.readLock().tryAcquire().orElseThrow();
        CompletableFuture<Boolean> upgrade = owner.tryUpgradeAsync();
        Runnable result = results.take();
        assertTrue(owner.isWriting());
        if (isAsync) {
          CompletableFuture<Boolean> release = lease.releaseAsync();
          results.take().run();
          assertTrue(release.join());
        } else {
          assertTrue(lease.release());
        }
        assertFalse(owner.isReading() || owner.isWriting());
        Lease second = owner.readLock().tryAcquire().orElseThrow();
        long token = second.token();
        result.run();
        assertTrue(upgrade.join());
        assertFalse(lease.isHeld());
        assertFalse(lease.release());
        // The late result is not that of the second hold.
        assertEquals(token, second.token());
        assertTrue(second.isHeld());
        assertTrue(second.release());
        assertFalse(owner.isReading() || owner.isWriting());
      }
    }
  }

  /** The owner loses the hold and acquires another one just before the native call. */
  private static void assertFailsForALaterHold(String name, ThrowingConsumer<Lease> call) {
    var faults = new FaultyMutex.Faults();
    var owner = new FaultyMutex(client, name, faults);
    Lease lease = owner.mode().tryAcquire().orElseThrow();
    faults.beforeCall =
        () -> {
          redis.command("DEL", "{mortise:" + name + "}");
          int code = owner.call(it -> MortiseNative.lock_extend(it, 0));
          assertEquals(Status.LOST.code(), code);
          owner.mode().tryAcquire().orElseThrow();
        };
    assertStatus(Status.LOST, () -> call.accept(lease));
  }

  @Test
  void aCallForALaterHoldFails() throws Exception {
    assertFailsForALaterHold("replaced by extend", lease -> lease.extend(Duration.ofHours(1)));
    assertFailsForALaterHold("replaced by value", lease -> lease.setValue("replaced"));
    assertFailsForALaterHold("replaced by progress", Lease::progress);
    for (boolean isValue : new boolean[] {false, true}) {
      assertFailsForALaterHold(
          "replaced later " + isValue,
          lease -> {
            try {
              Waiting.result(
                  isValue ? lease.setValueAsync("v") : lease.extendAsync(Duration.ofHours(1)));
            } catch (ExecutionException failed) {
              throw failed.getCause();
            }
          });
    }
  }

  /** A hold whose replicas still have to acknowledge it is not held, and not over. */
  @Test
  void aFailedExportKeepsAHoldInDoubt() throws Exception {
    var faults = new FaultyMutex.Faults();
    Lease lease = new FaultyMutex(client, "doubt", faults).mode().acquire();
    faults.isInDoubt = true;
    assertStatus(Status.INVALID_ARGUMENT, () -> lease.export(Duration.ofMillis(1)));
    faults.isInDoubt = false;
    assertTrue(lease.isHeld());
    assertTrue(lease.release());
  }

  @Test
  void aReleaseWithoutMemoryCanBeRepeated() throws Exception {
    var faults = new FaultyMutex.Faults();
    Lease lease = new FaultyMutex(client, "memory", faults).mode().acquire();
    faults.isOutOfMemory = true;
    assertStatus(Status.NO_MEMORY, lease::release);
    assertStatus(Status.NO_MEMORY, lease::close);
    var failed = assertThrows(ExecutionException.class, () -> lease.releaseAsync().get());
    assertEquals(Status.NO_MEMORY, ((MortiseException) failed.getCause()).status());
    faults.isOutOfMemory = false;
    assertTrue(lease.isHeld());
    assertTrue(lease.release());
    assertTrue(client.mutex("memory").tryAcquire().orElseThrow().release());
  }

  /** The release comes while the future is made. */
  @Test
  void aReleaseDuringLostIsNoLoss() throws Exception {
    try (var quick =
        MortiseClient.builder(redis.url()).callbackExecutor(Runnable::run).open()) {
      var faults = new FaultyMutex.Faults();
      Lease lease = new FaultyMutex(quick, "released", faults).mode().acquire();
      faults.afterWatch = () -> assertTrue(lease.release());
      CompletableFuture<LossReason> lost = lease.lost();
      assertFalse(lease.isHeld());
      assertFalse(lost.isDone());
    }
  }
}
