package org.mortise;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class LossTest {
  private static final MortiseOptions SHORT =
      MortiseOptions.DEFAULTS.withLease(Duration.ofMillis(300));
  private static Redis redis;

  @BeforeAll
  static void open() {
    redis = new Redis();
  }

  @AfterAll
  static void close() throws Exception {
    redis.close();
  }

  private static String next(LinkedBlockingQueue<String> told) throws InterruptedException {
    return told.poll(Waiting.PATIENCE_SECONDS, TimeUnit.SECONDS);
  }

  @Test
  void aLossIsToldToTheClientsListenerAndTheOwners() throws Exception {
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
        assertEquals(0, lease.validMillis());
      }
      // The Java adapters are watched, too.
      MortiseLock lock = client.lock("thread");
      lock.lock();
      redis.command("DEL", "{mortise:thread}");
      assertEquals("thread " + lock.token(), next(ofClient));
    }
  }

  @Test
  void aRiskIsToldBeforeTheLoss() throws Exception {
    var told = new LinkedBlockingQueue<String>();
    try (var client = MortiseClient.builder(redis.url()).options(SHORT.withRenewal(false)).open()) {
      var owner = client.mutex("risky");
      owner.addLossListener(
          new LossListener() {
            @Override
            public void lost(String name, long token) {
              told.add("lost");
            }

            @Override
            public void atRisk(String name, long token) {
              told.add("at risk " + token);
            }
          });
      Lease lease = owner.acquire();
      assertEquals("at risk " + lease.token(), next(told));
      assertEquals("lost", next(told));
      assertTrue(!lease.isHeld());
    }
  }
}
