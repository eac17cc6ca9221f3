package org.mortise;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Optional;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.mortise.Waiting.Worker;

/** A candidate leads, and an observer is notified. */
class ElectionTest {
  @RegisterExtension static final Redis redis = new Redis();

  private static Optional<Leader> next(LinkedBlockingQueue<Optional<Leader>> leaders)
      throws InterruptedException {
    Optional<Leader> leader = leaders.poll(Waiting.PATIENCE_SECONDS, TimeUnit.SECONDS);
    assertTrue(leader != null, "nothing is reported");
    return leader;
  }

  @Test
  void anObserverReceivesEachLeader() throws Exception {
    var leaders = new LinkedBlockingQueue<Optional<Leader>>();
    try (var client = MortiseClient.builder(redis.url()).open();
        var candidate = client.election("scheduler");
        var observer = client.election("scheduler")) {
      observer.observe(Duration.ofMillis(10), leaders::add);
      assertTrue(next(leaders).isEmpty());
      try (Lease lease = candidate.campaign()) {
        assertEquals("", next(leaders).orElseThrow().value());
        lease.setValue("10.0.0.5:8080");
        Leader leader = next(leaders).orElseThrow();
        assertEquals("10.0.0.5:8080", leader.value());
        assertFalse(leader.isMine());
        assertTrue(candidate.isLeader());
        assertTrue(candidate.leader().orElseThrow().isMine());
        assertEquals(Optional.empty(), observer.campaign(Duration.ZERO));
      }
      do {
        // Perhaps first without the value.
      } while (next(leaders).isPresent());
      observer.unobserve();
      candidate.campaign().close();
      assertTrue(candidate.leader().isEmpty());
      assertEquals(0, leaders.size());
    }
  }

  /** One of two listeners that are set at the same time stays. */
  @Test
  void aReplacementAtTheSameTimeLeavesOne() throws Exception {
    try (var client = MortiseClient.builder(redis.url()).open();
        var observer = client.election("replaced")) {
      var barrier = new CyclicBarrier(2);
      for (int round = 0; round < 200; round++) {
        var leaders = new LinkedBlockingQueue<Optional<Leader>>();
        var workers = new ArrayList<Worker>();
        for (int i = 0; i < 2; i++) {
          workers.add(
              new Worker(
                  () -> {
                    barrier.await();
                    observer.observe(Duration.ofMillis(10), leaders::add);
                  }));
        }
        for (Worker worker : workers) worker.finish();
        assertTrue(next(leaders).isEmpty());
      }
    }
  }

  @Test
  void aClosedElectionRefusesAnObservation() {
    try (var client = MortiseClient.builder(redis.url()).open()) {
      var election = client.election("closed");
      assertThrows(
          MortiseException.class, () -> election.observe(Duration.ofMillis(9), leader -> {}));
      election.observe(Duration.ZERO, leader -> {});
      election.close();
      var failure =
          assertThrows(
              MortiseException.class, () -> election.observe(Duration.ZERO, leader -> {}));
      assertEquals(Status.CLOSED, failure.status());
    }
  }
}
