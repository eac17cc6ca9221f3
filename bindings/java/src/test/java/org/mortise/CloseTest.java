package org.mortise;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mortise.Waiting.assertStatus;
import static org.mortise.Waiting.result;

import java.lang.ref.Reference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.function.Executable;
import org.mortise.Waiting.Worker;

class CloseTest {
  @RegisterExtension static final Redis redis = new Redis();

  @Test
  void everythingSaysClosedAfterClose() throws Exception {
    var client = MortiseClient.open(redis.strictUrl());
    MortiseLock lock = client.lock("held");
    lock.lock();
    var owner = client.mutex("after");
    Lease lease = owner.acquire();
    client.close();
    client.close();
    Waiting.until("the holds are given back", () -> !redis.exists("{mortise:after}"));
    Waiting.until("the holds are given back", () -> !redis.exists("{mortise:held}"));
    assertStatus(Status.CLOSED, client::ping);
    assertStatus(Status.CLOSED, () -> client.setCredentials("", new char[] {'x'}));
    assertStatus(Status.CLOSED, () -> client.mutex("new"));
    assertStatus(Status.CLOSED, () -> client.lock("new").lock());
    assertStatus(Status.CLOSED, owner::acquire);
    assertStatus(Status.CLOSED, owner::tryAcquire);
    assertStatus(Status.CLOSED, () -> owner.query());
    assertStatus(Status.CLOSED, () -> owner.forceRelease("m1:nobody:1.1::1"));
    var future = owner.acquireAsync();
    assertInstanceOf(
        MortiseException.class,
        assertThrows(ExecutionException.class, () -> result(future)).getCause());
    assertFalse(lease.isHeld());
    lease.close();
    owner.close();
    assertEquals(Duration.ZERO, owner.validFor());
    assertStatus(Status.CLOSED, owner::acquire);
    assertThrows(MortiseException.class, lock::unlock);
    assertThrows(IllegalMonitorStateException.class, lock::unlock);
  }

  @Test
  void closeEndsThoseWhoWait() throws Exception {
    var client = MortiseClient.open(redis.strictUrl());
    var holder = MortiseClient.open(redis.strictUrl());
    Lease held = holder.mutex("wait").acquire();
    var future = client.mutex("wait").acquireAsync();
    var workers = new ArrayList<Worker>();
    workers.add(new Worker(() -> assertStatus(Status.CLOSED, () -> client.lock("wait").lock())));
    workers.add(
        new Worker(
            () -> assertStatus(Status.CLOSED, () -> client.lock("wait").lockInterruptibly())));
    workers.add(
        new Worker(() -> assertStatus(Status.CLOSED, () -> client.mutex("wait").acquire())));
    Waiting.untilWaiting(redis, "wait", 4);
    client.close();
    for (Worker worker : workers) worker.finish();
    assertThrows(ExecutionException.class, () -> result(future));
    Waiting.untilWaiting(redis, "wait", 0);
    held.close();
    holder.close();
  }

  @Test
  void closingAnOwnerEndsItsWaitAndItsHold() throws Exception {
    try (var client = MortiseClient.open(redis.url())) {
      var holder = client.mutex("owner");
      Lease held = holder.acquire();
      var waiter = client.mutex("owner");
      CompletableFuture<Lease> future = waiter.acquireAsync();
      waiter.close();
      var thrown = assertThrows(ExecutionException.class, () -> result(future));
      assertEquals(Status.CLOSED, ((MortiseException) thrown.getCause()).status());
      holder.close();
      assertFalse(held.isHeld());
      Waiting.until("the hold is given back", () -> !redis.exists("{mortise:owner}"));
    }
  }

  @Test
  void closingAMemberEndsTheHoldOfItsMulti() throws Exception {
    try (var client =
        MortiseClient.builder(redis.url()).lossListener((name, token) -> {}).open()) {
      var closed = client.mutex("closed");
      var other = client.mutex("other");
      Multi multi = client.multi().add(closed).add(other);
      Lease held = multi.acquire();
      CompletableFuture<LossReason> lost = held.lost();
      closed.close();
      assertFalse(held.isHeld());
      assertStatus(Status.CLOSED, () -> held.extend(Duration.ZERO));
      assertStatus(Status.CLOSED, held::progress);
      assertTrue(other.isHeld());
      assertFalse(held.release());
      assertFalse(other.isHeld());
      assertFalse(lost.isDone());
      assertStatus(Status.CLOSED, multi::tryAcquire);
      assertStatus(Status.CLOSED, multi::acquire);
      var thrown =
          assertThrows(ExecutionException.class, () -> result(multi.tryAcquireAsync()));
      assertEquals(Status.CLOSED, ((MortiseException) thrown.getCause()).status());
      // A grant at the same time as the close is no hold.
      var late = new Event(Status.OK.code(), 0, multi.holdNumber());
      assertFalse(multi.isCurrent(multi.newHold(late)));
    }
  }

  /** The watch of the client's loss listener exists before the close. */
  @Test
  void aLeaseThatACloseEndedIsNotLost() throws Exception {
    try (var client =
        MortiseClient.builder(redis.url()).lossListener((name, token) -> {}).open()) {
      var alone = client.mutex("alone");
      Lease held = alone.acquire();
      alone.close();
      assertStatus(Status.CLOSED, held::lost);
      var member = client.mutex("member");
      Lease both = client.multi().add(client.mutex("kept")).add(member).acquire();
      member.close();
      assertStatus(Status.CLOSED, both::lost);
    }
  }

  /** A watch without an owner would last as long as the client. */
  @Test
  void aCloseWhileItsWatchBeginsEndsTheWatch() throws Exception {
    try (var client = MortiseClient.open(redis.url())) {
      var faults = new FaultyMutex.Faults();
      var owner = new FaultyMutex(client, "begun", faults);
      faults.beforeWatch = owner::close;
      owner.addLossListener((name, token) -> {});
      assertEquals(0, client.core().watchCount());
    }
  }

  /** Otherwise each multi would make the acquires of its members slower, until it is collected. */
  @Test
  void closedMultisLeaveNothingInTheirMembers() throws Exception {
    try (var client = MortiseClient.open(redis.url())) {
      var member = client.mutex("member");
      var uncollected = new ArrayList<Multi>();
      for (int i = 0; i < 20; i++) {
        Multi multi = client.multi().add(member);
        assertEquals(1, member.turn().relatedCount());
        multi.acquire().close();
        multi.close();
        uncollected.add(multi);
      }
      // The acquire of a closed multi can still be ending.
      Multi ending = client.multi().add(member);
      ending.turn().passTo(Pending.IN_A_CALL);
      ending.close();
      uncollected.add(ending);
      uncollected.add(client.multi().add(member));
      assertEquals(2, member.turn().relatedCount());
      Reference.reachabilityFence(uncollected);
    }
  }

  @Test
  void closeWhileOthersCall() throws Exception {
    for (int round = 0; round < 10; round++) {
      var client = MortiseClient.open(redis.strictUrl());
      var isOver = new AtomicBoolean();
      var owner = client.mutex("shared");
      var workers = new ArrayList<Worker>();
      for (int i = 0; i < 4; i++) {
        int mine = i;
        workers.add(
            new Worker(
                () -> {
                  while (!isOver.get()) {
                    try {
                      switch (mine) {
                        case 0 -> client.mutex("made").close();
                        case 1 -> owner.tryAcquire().ifPresent(Lease::close);
                        case 2 -> client.mutex("future").acquireAsync().cancel(false);
                        default -> client.ping();
                      }
                    } catch (MortiseException closed) {
                      assertEquals(Status.CLOSED, closed.status());
                      return;
                    }
                  }
                }));
      }
      Thread.sleep(5 * round);
      if (round % 2 == 0) owner.close();
      client.close();
      isOver.set(true);
      for (Worker worker : workers) worker.finish();
    }
  }

  /** Calls that the server no longer answers, or that come while the client closes. */
  @Test
  void questionsThatRaceACloseSayClosed() throws Exception {
    try (var proxy = new Proxy(redis)) {
      for (int round = 0; round < 20; round++) {
        var client = MortiseClient.open(proxy.url() + "?command_timeout=60s");
        var owner = client.mutex("asked");
        var seats = client.semaphore("seats", 3);
        // The replies are in flight when the client is closed.
        boolean isStalled = round % 2 == 0;
        // A ping is waited for.
        Executable third = isStalled ? () -> client.semaphore("more", 3).query() : client::ping;
        List<Executable> questions = List.of(owner::query, seats::query, third);
        if (isStalled) proxy.holdAnswers();
        var started = new CountDownLatch(questions.size());
        var workers = new ArrayList<Worker>();
        for (Executable question : questions) {
          workers.add(
              new Worker(
                  () -> {
                    if (!isStalled) question.execute();
                    started.countDown();
                    assertStatus(Status.CLOSED, () -> forever(question));
                  }));
        }
        started.await();
        if (isStalled) proxy.untilAnswered();
        client.close();
        proxy.letAnswers();
        for (Worker worker : workers) worker.finish();
      }
    }
  }

  /** The listing waits for a reply, which a close does not end. */
  @Test
  void aCloseDoesNotWaitForAListing() throws Exception {
    try (var proxy = new Proxy(redis);
        var other = MortiseClient.open(redis.strictUrl());
        Lease taken = other.mutex("taken").acquire()) {
      assertTrue(taken.isHeld());
      var client = MortiseClient.open(proxy.url() + "?command_timeout=60s");
      var owner = client.mutex("listed");
      Lease lease = owner.acquire();
      assertTrue(client.lock("thread").tryLock());
      CompletableFuture<LossReason> lost = lease.lost();
      CompletableFuture<Lease> waiting = client.mutex("taken").acquireAsync();
      Waiting.untilWaiting(redis, "taken", 1);
      var asking = client.mutex("asking");
      assertFalse(asking.acquire().lost().isDone());
      proxy.holdAnswers();
      var listing = new Worker(() -> client.listLocks(Waiting.PATIENCE));
      proxy.untilAnswered();
      var question = new Worker(() -> unlessClosed(asking::query));
      Waiting.until("the query has begun", () -> calls(question.thread(), "lock_query"));
      client.close();
      assertTrue(listing.thread().isAlive());
      assertStatus(Status.CLOSED, owner::acquire);
      assertStatus(Status.CLOSED, () -> client.mutex("new"));
      var thrown = assertThrows(ExecutionException.class, () -> result(waiting));
      assertEquals(Status.CLOSED, ((MortiseException) thrown.getCause()).status());
      Waiting.until("the holds are given back", () -> !redis.exists("{mortise:listed}"));
      Waiting.until("the holds are given back", () -> !redis.exists("{mortise:thread}"));
      assertFalse(lost.isDone());
      assertTrue(listing.thread().isAlive());
      client.close();
      proxy.letAnswers();
      listing.finish();
      question.finish();
    }
  }

  private static boolean calls(Thread thread, String method) {
    return Arrays.stream(thread.getStackTrace())
        .anyMatch(frame -> frame.getMethodName().equals(method));
  }

  private static void unlessClosed(Executable call) throws Throwable {
    try {
      call.execute();
    } catch (MortiseException closed) {
      assertEquals(Status.CLOSED, closed.status());
    }
  }

  private static void forever(Executable question) throws Throwable {
    for (; ; ) question.execute();
  }

  @Test
  void closeFromACallback() throws Exception {
    for (boolean isDirect : new boolean[] {true, false}) {
      var builder = MortiseClient.builder(redis.url());
      if (isDirect) builder.callbackExecutor(Runnable::run);
      var client = builder.open();
      var done =
          client.mutex("callback").acquireAsync().thenApply(
              lease -> {
                client.close();
                return lease.isHeld();
              });
      assertFalse(result(done));
      assertStatus(Status.CLOSED, client::ping);
    }
  }

  @Test
  void whatIsForgottenIsClosed() throws Exception {
    var client = MortiseClient.open(redis.strictUrl());
    forgetAHold(client);
    Waiting.until(
        "the collected owner gives its hold back",
        () -> {
          System.gc();
          return !redis.exists("{mortise:forgotten}");
        });
    client.ping();
    client.close();
  }

  private static void forgetAHold(MortiseClient client) throws Exception {
    var owner = client.mutex("forgotten");
    assertTrue(owner.acquire().isHeld());
    assertTrue(redis.exists("{mortise:forgotten}"));
    // Until here it is not collected.
    Reference.reachabilityFence(owner);
  }

  private static Multi multiOf(MortiseClient client) {
    return client
        .multi()
        .add(client.mutex("member"))
        .add(client.readWriteMutex("read").readLock())
        .add(client.readWriteMutex("written").writeLock())
        .add(client.semaphore("permits", 3).permits(2));
  }

  @Test
  void aMultiKeepsItsMembers() throws Exception {
    try (var client = MortiseClient.open(redis.strictUrl())) {
      Multi multi = multiOf(client);
      Lease held = multi.acquire();
      forgetAHold(client);
      Waiting.until(
          "a collected owner gives its hold back",
          () -> {
            System.gc();
            return !redis.exists("{mortise:forgotten}");
          });
      assertTrue(held.isHeld());
      for (String name : List.of("member", "read", "written", "permits")) {
        assertTrue(redis.exists("{mortise:" + name + "}"), name);
      }
      assertTrue(held.release());
      assertTrue(multi.acquire().release());
    }
  }

  @Test
  void aForgottenClientEnds() throws Exception {
    long before = dispatchers();
    forgetAClient();
    Waiting.until(
        "the collected client ends",
        () -> {
          System.gc();
          return dispatchers() <= before && !redis.exists("{mortise:gone}");
        });
  }

  private static void forgetAClient() throws Exception {
    var client = MortiseClient.open(redis.url());
    assertTrue(client.lock("gone").tryLock());
    // Its executor of callbacks does not keep it.
    assertTrue(result(client.mutex("told").acquireAsync().thenApply(Lease::release)));
  }

  private static long dispatchers() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(it -> it.getName().startsWith("mortise-dispatcher-"))
        .count();
  }

  @Test
  void aWaitKeepsItsOwner() throws Exception {
    try (var client = MortiseClient.open(redis.strictUrl())) {
      Lease held = client.mutex("kept").acquire();
      var received = new LinkedBlockingQueue<Lease>();
      client.mutex("kept").acquireAsync().thenAccept(received::add);
      Waiting.untilWaiting(redis, "kept", 1);
      for (int i = 0; i < 5; i++) System.gc();
      held.close();
      assertTrue(received.poll(Waiting.PATIENCE_SECONDS, TimeUnit.SECONDS).release());
    }
  }
}
