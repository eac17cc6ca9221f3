package org.mortise;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mortise.Waiting.PATIENCE;
import static org.mortise.Waiting.PATIENCE_SECONDS;
import static org.mortise.Waiting.assertStatus;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.function.Executable;
import org.mortise.Waiting.Worker;

/** An interrupt ends each interruptible acquire at once, and leaves nothing held. */
class InterruptTest {
  private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(60);
  private static final String PATIENT = "?fair=strict&command_timeout=60s";

  @RegisterExtension static final Redis redis = new Redis();
  @RegisterExtension final Proxy proxy = new Proxy(redis);

  /** Each by the key that shows the server's grant. */
  private static Map<String, Executable> acquires(MortiseClient client) {
    var all = new LinkedHashMap<String, Executable>();
    all.put("lock", client.lock("lock")::lockInterruptibly);
    all.put("timed", () -> client.lock("timed").tryLock(PATIENCE_SECONDS, TimeUnit.SECONDS));
    all.put("read", client.readWriteLock("read").readLock()::lockInterruptibly);
    all.put("write", client.readWriteLock("write").writeLock()::lockInterruptibly);
    all.put("mutex", client.mutex("mutex")::acquire);
    all.put("mutex timed", () -> client.mutex("mutex timed").tryAcquire(PATIENCE));
    all.put("seats", client.semaphore("seats", 3).permits(2)::acquire);
    all.put("door", client.multi().add(client.mutex("door"))::acquire);
    return all;
  }

  private void interruptAtAStalledServer(ThreadFactory threads) throws Exception {
    try (var client = MortiseClient.open(proxy.url() + PATIENT)) {
      for (Map.Entry<String, Executable> acquire : acquires(client).entrySet()) {
        String key = "{mortise:" + acquire.getKey() + "}";
        client.ping();
        proxy.holdAnswers();
        var waiter =
            new Worker(
                threads,
                () -> {
                  assertThrows(InterruptedException.class, acquire.getValue());
                  assertFalse(Thread.currentThread().isInterrupted());
                });
        // The server has granted it, and no caller gets it.
        Waiting.until("the grant of " + key, () -> redis.exists(key));
        proxy.untilAnswered();
        long start = System.nanoTime();
        waiter.thread().interrupt();
        waiter.finish();
        long took = System.nanoTime() - start;
        assertTrue(took < COMMAND_TIMEOUT.toNanos() / 2, key + " took " + took + " ns");
        proxy.letAnswers();
        Waiting.until(key + " is given back", () -> !redis.exists(key));
      }
    }
  }

  @Test
  void anInterruptEndsEveryAcquireOfAStalledServer() throws Exception {
    interruptAtAStalledServer(Thread::new);
  }

  @Test
  @Tag("virtual")
  void anInterruptEndsEveryAcquireOfAVirtualThread() throws Exception {
    Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
    var factory = Class.forName("java.lang.Thread$Builder").getMethod("factory").invoke(builder);
    interruptAtAStalledServer((ThreadFactory) factory);
  }

  @Test
  void anOwnerThatWasInterruptedAcquiresAgain() throws Exception {
    try (var client = MortiseClient.open(proxy.url() + PATIENT);
        var owner = client.mutex("again")) {
      for (int round = 0; round < 3; round++) {
        proxy.holdAnswers();
        var waiter = new Worker(() -> assertThrows(InterruptedException.class, owner::acquire));
        Waiting.until("the grant", () -> redis.exists("{mortise:again}"));
        waiter.thread().interrupt();
        waiter.finish();
        proxy.letAnswers();
        assertTrue(owner.acquire().release());
      }
    }
  }

  /** Its interrupt is on its way when the grant is there: the thread knows of both. */
  @Test
  void aGrantThatMeetsAnInterruptIsGivenBack() throws Exception {
    try (var client = MortiseClient.open(redis.url() + PATIENT);
        var owner = client.mutex("meets")) {
      Lease held = client.mutex("meets").acquire();
      var waiter =
          new Worker(
              () -> {
                assertThrows(InterruptedException.class, owner::acquire);
                assertFalse(Thread.currentThread().isInterrupted());
              });
      Waiting.untilWaiting(redis, "meets", 1);
      Worker interrupter;
      synchronized (owner.turn()) {
        interrupter = interrupt(waiter);
        held.close();
        Waiting.until("the grant", owner::isHeld);
      }
      interrupter.finish();
      waiter.finish();
      Waiting.until("it is given back", () -> !redis.exists("{mortise:meets}"));
      assertTrue(owner.tryAcquire().orElseThrow().release());
    }
  }

  /** An interrupt that has begun, and ends the wait only when its owner's monitor is free. */
  private static Worker interrupt(Worker waiter) throws Exception {
    var interrupter = new Worker(() -> waiter.thread().interrupt());
    Waiting.until(
        "the interrupt", () -> interrupter.thread().getState() == Thread.State.BLOCKED);
    return interrupter;
  }

  @Test
  void anInterruptOfAThreadKeepsThatOfTheOwner() throws Exception {
    try (var client = MortiseClient.open(redis.url() + PATIENT);
        var owner = client.mutex("both")) {
      Lease held = client.mutex("both").acquire();
      var waiter = new Worker(() -> assertThrows(InterruptedException.class, owner::acquire));
      Waiting.untilWaiting(redis, "both", 1);
      Worker interrupter;
      synchronized (owner.turn()) {
        interrupter = interrupt(waiter);
        owner.interrupt(true);
      }
      interrupter.finish();
      waiter.finish();
      held.close();
      assertStatus(Status.CANCELLED, owner::acquire);
      owner.interrupt(false);
      assertTrue(owner.acquire().release());
    }
  }

  @Test
  void othersEndTheWaitOfAThreadToo() throws Exception {
    try (var client = MortiseClient.open(redis.url() + PATIENT);
        var cancelled = client.mutex("others");
        var closed = client.mutex("others");
        Lease held = client.mutex("others").acquire()) {
      var first = new Worker(() -> assertStatus(Status.CANCELLED, cancelled::acquire));
      var second = new Worker(() -> assertStatus(Status.CLOSED, closed::acquire));
      Waiting.untilWaiting(redis, "others", 2);
      assertTrue(cancelled.cancel());
      closed.close();
      first.finish();
      second.finish();
      Waiting.untilWaiting(redis, "others", 0);
      assertTrue(held.isHeld());
    }
  }
}
