package org.mortise;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class LossTest {
  private static final MortiseOptions SHORT =
      MortiseOptions.DEFAULTS.withLease(Duration.ofMillis(300));
  @RegisterExtension static final Redis redis = new Redis();

  private static String next(LinkedBlockingQueue<String> received) throws InterruptedException {
    return received.poll(Waiting.PATIENCE_SECONDS, TimeUnit.SECONDS);
  }

  @Test
  void aLossIsReportedToTheListenersOfClientAndOwner() throws Exception {
    var ofClient = new LinkedBlockingQueue<String>();
    var ofOwner = new LinkedBlockingQueue<String>();
    try (var client =
        MortiseClient.builder(redis.url())
            .options(SHORT)
            .lossListener(
                (name, token) -> {
                  ofClient.add(name + " " + token);
                  throw new IllegalStateException("a listener's own");
                })
            .open()) {
      for (int round = 0; round < 2; round++) {
        var owner = client.mutex("watched");
        owner.addLossListener((name, token) -> ofOwner.add(name + " " + token));
        Lease lease = owner.acquire();
        redis.command("DEL", "{mortise:watched}");
        assertEquals("watched " + lease.token(), next(ofClient));
        assertEquals("watched " + lease.token(), next(ofOwner));
        assertEquals(Duration.ZERO, lease.validFor());
      }
      // The Java adapters are watched, too.
      MortiseLock lock = client.lock("thread");
      lock.lock();
      redis.command("DEL", "{mortise:thread}");
      assertEquals("thread " + lock.token(), next(ofClient));
    }
  }

  @Test
  void whatAListenerThrowsGoesToItsThread() throws Exception {
    var thrown = new LinkedBlockingQueue<Throwable>();
    var received = new LinkedBlockingQueue<Long>();
    ExecutorService single =
        Executors.newSingleThreadExecutor(
            work -> {
              var thread = new Thread(work);
              thread.setUncaughtExceptionHandler((which, what) -> thrown.add(what));
              return thread;
            });
    try (var client =
        MortiseClient.builder(redis.url()).options(SHORT).callbackExecutor(single).open()) {
      var own = new AssertionError("a listener's own");
      for (int round = 0; round < 2; round++) {
        var owner = client.mutex("throws");
        owner.addLossListener(
            (name, token) -> {
              throw own;
            });
        owner.addLossListener((name, token) -> received.add(token));
        Lease lease = owner.acquire();
        redis.command("DEL", "{mortise:throws}");
        assertEquals(lease.token(), received.poll(Waiting.PATIENCE_SECONDS, TimeUnit.SECONDS));
        assertSame(own, thrown.poll(Waiting.PATIENCE_SECONDS, TimeUnit.SECONDS));
      }
    } finally {
      single.shutdown();
    }
  }

  @Test
  void aListenerThatWasRefusedIsAskedForAgain() throws Exception {
    try (var client =
        MortiseClient.builder(redis.url()).options(SHORT).queueCapacity(1).open()) {
      var first = client.mutex("watch");
      var second = client.mutex("watch");
      first.addLossListener((name, token) -> {});
      Waiting.assertStatus(Status.LIMIT, () -> second.addLossListener((name, token) -> {}));
      Waiting.assertStatus(Status.LIMIT, () -> second.addLossListener((name, token) -> {}));
      first.close();
      var received = new LinkedBlockingQueue<Long>();
      second.addLossListener((name, token) -> received.add(token));
      Lease lease = second.tryAcquire().orElseThrow();
      redis.command("DEL", "{mortise:watch}");
      assertEquals(lease.token(), received.poll(Waiting.PATIENCE_SECONDS, TimeUnit.SECONDS));
    }
  }

  @Test
  void aRiskIsReportedBeforeTheLoss() throws Exception {
    var received = new LinkedBlockingQueue<String>();
    // One thread, so that the reports stay in their order.
    ExecutorService single = Executors.newSingleThreadExecutor();
    try (var client =
        MortiseClient.builder(redis.url())
            .options(SHORT.withRenewal(false))
            .callbackExecutor(single)
            .open()) {
      var owner = client.mutex("risky");
      owner.addLossListener(
          new LossListener() {
            @Override
            public void lost(String name, long token) {
              received.add("without a reason");
            }

            @Override
            public void lost(String name, long token, LossReason reason) {
              received.add("lost, " + reason);
            }

            @Override
            public void atRisk(String name, long token) {
              received.add("at risk " + token);
            }
          });
      Lease lease = owner.acquire();
      assertEquals("at risk " + lease.token(), next(received));
      assertEquals("lost, " + LossReason.EXPIRED, next(received));
      assertTrue(!lease.isHeld());
    } finally {
      single.shutdown();
    }
  }
}
