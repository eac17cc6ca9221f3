package org.mortise;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A lease reports that others wait for its lock. */
class ContendedTest {
  private static final MortiseOptions REPORTING = MortiseOptions.DEFAULTS.withContended(true);
  @RegisterExtension static final Redis redis = new Redis();

  private static <T> T get(CompletableFuture<T> future) throws Exception {
    return future.get(Waiting.PATIENCE_SECONDS, TimeUnit.SECONDS);
  }

  @Test
  void aFutureCompletesWhenAnotherOwnerWaits() throws Exception {
    try (var client = MortiseClient.builder(redis.url()).open();
        var lock = client.mutex("contended", REPORTING);
        var other = client.mutex("contended")) {
      Lease lease = lock.acquire();
      var contended = lease.contended();
      assertSame(contended, lease.contended());
      assertFalse(contended.isDone());
      var waiting = other.acquireAsync();
      get(contended);
      lease.close();
      get(waiting).close();
    }
  }

  @Test
  void aFutureAfterTheReportCompletesToo() throws Exception {
    var received = new LinkedBlockingQueue<String>();
    try (var client =
            MortiseClient.builder(redis.url())
                .lossListener(
                    new LossListener() {
                      @Override
                      public void lost(String name, long token) {}

                      @Override
                      public void contended(String name, long token) {
                        received.add(name + " " + token);
                      }
                    })
                .open();
        var lock = client.mutex("contended", REPORTING);
        var other = client.mutex("contended")) {
      Lease lease = lock.acquire();
      var waiting = other.acquireAsync();
      assertEquals(
          "contended " + lease.token(), received.poll(Waiting.PATIENCE_SECONDS, TimeUnit.SECONDS));
      get(lease.contended());
      lease.close();
      get(waiting).close();
    }
  }

  /** A report of an earlier hold may come late. */
  @Test
  void anOldReportDoesNotHideThatOfALaterHold() {
    var watch = new Watch(Name.of("contended"));
    for (long number : new long[] {2, 1}) {
      watch.tell(Runnable::run, Constants.EVENT_CONTENDED, number, number, LossReason.UNKNOWN);
    }
    assertTrue(watch.addContention(new HoldFuture<>(null), 2));
    assertFalse(watch.addContention(new HoldFuture<>(null), 3));
  }

  @Test
  void aMultiIsContendedWithItsFirstMember() throws Exception {
    try (var client = MortiseClient.builder(redis.url()).options(REPORTING).open();
        var free = client.mutex("free");
        var wanted = client.mutex("wanted");
        var all = client.multi().add(free).add(wanted);
        var other = client.mutex("wanted")) {
      Lease lease = all.acquire();
      var contended = lease.contended();
      var waiting = other.acquireAsync();
      get(contended);
      lease.close();
      get(waiting).close();
    }
  }
}
