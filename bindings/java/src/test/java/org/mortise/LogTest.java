package org.mortise;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.ResourceBundle;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.mortise.Waiting.Worker;

class LogTest {
  private static <T> T next(BlockingQueue<T> received) throws InterruptedException {
    T first = received.poll(20, TimeUnit.SECONDS);
    assertNotNull(first);
    return first;
  }

  private static void lose(Redis server, MortiseClient client, String name) throws Exception {
    Lease lease = client.mutex(name).acquire();
    server.command("DEL", "{mortise:" + name + "}");
    var lost = assertThrows(MortiseException.class, () -> lease.extend(Duration.ZERO));
    assertEquals(Status.LOST, lost.status());
  }

  @Test
  void tellsWhatWasLost() throws Exception {
    try (var server = new Redis();
        var client = MortiseClient.open(server.url())) {
      var received = new LinkedBlockingQueue<LogLine>();
      client.watchLog(LogLevel.ERROR, received::add);
      lose(server, client, "a");
      LogLine line = next(received);
      assertEquals(LogLevel.ERROR, line.level());
      assertEquals(LogSubject.LOST, line.subject());
      assertEquals(LossReason.SERVER_LOST, line.reason());
      assertEquals("a", line.lock());
      assertEquals(0, line.droppedRecords());
      assertTrue(line.text().startsWith("\"a\": "), line.text());
      client.unwatchLog();
      lose(server, client, "b");
      assertEquals(null, received.poll());
    }
  }

  /** An unlock that waits for no reply does not return its failure. */
  @Test
  void tellsWhatAnUnlockThatWasSentCameTo() throws Exception {
    try (var server = new Redis();
        var client = MortiseClient.open(server.url())) {
      var received = new LinkedBlockingQueue<LogLine>();
      client.watchLog(LogLevel.ERROR, received::add);
      assertFalse(lost(server, client, "answered", false).release());
      assertTrue(lost(server, client, "sent", true).release());
      LogLine line = next(received);
      while (line.lock().equals("answered")) line = next(received);
      assertEquals("sent", line.lock());
      assertEquals(LogSubject.LOST, line.subject());
      assertEquals(LossReason.SERVER_LOST, line.reason());
    }
  }

  private static Lease lost(Redis server, MortiseClient client, String name, boolean isSent)
      throws Exception {
    var options = MortiseOptions.DEFAULTS.withReleaseSent(isSent);
    Lease lease = client.mutex(name, options).acquire();
    server.command("DEL", "{mortise:" + name + "}");
    return lease;
  }

  /** Events are reported in their order, also by an executor with many threads. */
  @Test
  void goesToALoggerOfThePlatform() throws Exception {
    try (var server = new Redis();
        var client = MortiseClient.open(server.url())) {
      var received = new LinkedBlockingQueue<String>();
      client.watchLog(LogLevel.INFO, LogLine.to(new Recorder(received)));
      for (String name : new String[] {"a", "b", "c"}) lose(server, client, name);
      for (String name : new String[] {"a", "b", "c"}) {
        String line = next(received);
        assertTrue(line.startsWith("ERROR \"" + name + "\": "), line);
      }
    }
  }

  @Test
  void statisticsComeEverySoOften() throws Exception {
    try (var server = new Redis();
        var client = MortiseClient.open(server.url())) {
      var received = new LinkedBlockingQueue<Stats>();
      client.lock("a").lock();
      client.watchStats(Duration.ofMillis(10), received::add);
      for (int i = 0; i < 3; i++) assertFalse(next(received).samples().isEmpty());
      client.unwatchStats();
      var refused =
          assertThrows(
              MortiseException.class, () -> client.watchStats(Duration.ofMillis(9), received::add));
      assertEquals(Status.INVALID_ARGUMENT, refused.status());
      client.lock("a").unlock();
    }
  }

  @Test
  void aSlowListenerGetsTheNewestStatistics() throws Exception {
    var begun = new CountDownLatch(1);
    var mayEnd = new CountDownLatch(1);
    var calls = new AtomicInteger();
    ExecutorService single = Executors.newSingleThreadExecutor();
    try (var server = new Redis();
        var client = MortiseClient.builder(server.url()).callbackExecutor(single).open();
        var clock = MortiseClient.open(server.url())) {
      client.watchStats(
          Duration.ofMillis(10),
          counted -> {
            calls.incrementAndGet();
            begun.countDown();
            await(mayEnd);
          });
      assertTrue(begun.await(Waiting.PATIENCE_SECONDS, TimeUnit.SECONDS));
      var ticks = new LinkedBlockingQueue<Stats>();
      clock.watchStats(Duration.ofMillis(10), ticks::add);
      for (int i = 0; i < 30; i++) next(ticks);
      client.unwatchStats();
      mayEnd.countDown();
      single.shutdown();
      assertTrue(single.awaitTermination(Waiting.PATIENCE_SECONDS, TimeUnit.SECONDS));
      assertTrue(calls.get() <= 2, calls.get() + " calls");
    } finally {
      mayEnd.countDown();
      single.shutdown();
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException interrupted) {
      throw new AssertionError(interrupted);
    }
  }

  @Test
  void aSlowListenerLosesLinesAndLearnsHowMany() {
    var waiting = new ArrayDeque<Runnable>();
    var received = new ArrayList<LogLine>();
    var report = new LogReport(1, received::add);
    for (int i = 0; i < 100; i++) report.tell(line(0), waiting::add);
    report.tell(line(5), waiting::add);
    while (!waiting.isEmpty()) waiting.remove().run();
    assertEquals(64, received.size());
    report.tell(line(2), waiting::add);
    report.tell(line(0), waiting::add);
    while (!waiting.isEmpty()) waiting.remove().run();
    assertEquals(66, received.size());
    assertEquals(0, received.get(63).droppedRecords());
    assertEquals(36 + 6 + 2, received.get(64).droppedRecords());
    assertEquals(0, received.get(65).droppedRecords());
  }

  private static LogLine line(long dropped) {
    return new LogLine(LogLevel.INFO, LogSubject.LOST, "", "", LossReason.UNKNOWN, dropped);
  }

  /** One of two listeners that are set at the same time stays. */
  @Test
  void aReplacementAtTheSameTimeLeavesOne() throws Exception {
    try (var server = new Redis();
        var client = MortiseClient.open(server.url())) {
      var barrier = new CyclicBarrier(2);
      for (int round = 0; round < 200; round++) {
        var received = new LinkedBlockingQueue<Stats>();
        var workers = new ArrayList<Worker>();
        for (int i = 0; i < 2; i++) {
          workers.add(
              new Worker(
                  () -> {
                    barrier.await();
                    client.watchStats(Duration.ofMillis(10), received::add);
                  }));
        }
        for (Worker worker : workers) worker.finish();
        received.clear();
        next(received);
      }
    }
  }

  @Test
  void isNotThereAfterClose() throws Exception {
    try (var server = new Redis()) {
      var client = MortiseClient.open(server.url());
      client.close();
      var refused =
          assertThrows(
              MortiseException.class, () -> client.watchLog(LogLevel.INFO, line -> {}));
      assertEquals(Status.CLOSED, refused.status());
      refused =
          assertThrows(
              MortiseException.class,
              () -> client.watchStats(Duration.ofSeconds(1), counted -> {}));
      assertEquals(Status.CLOSED, refused.status());
    }
  }

  private record Recorder(BlockingQueue<String> received) implements System.Logger {
    @Override
    public String getName() {
      return "recorder";
    }

    @Override
    public boolean isLoggable(Level level) {
      return true;
    }

    @Override
    public void log(Level level, ResourceBundle bundle, String text, Throwable thrown) {
      received.add(level + " " + text);
    }

    @Override
    public void log(Level level, ResourceBundle bundle, String format, Object... values) {
      received.add(level + " " + format);
    }
  }
}
