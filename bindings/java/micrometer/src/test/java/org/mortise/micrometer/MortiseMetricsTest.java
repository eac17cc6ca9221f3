package org.mortise.micrometer;

import static java.util.stream.Collectors.toMap;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MockClock;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.core.instrument.simple.SimpleConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.mortise.MortiseClient;
import org.mortise.MortiseException;
import org.mortise.MortiseOptions;
import org.mortise.Stats;

class MortiseMetricsTest {
  private static final Executor READER = work -> new Thread(work).start();

  private final MockClock clock = new MockClock();
  private final PrometheusMeterRegistry prometheus =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT, new PrometheusRegistry(), clock);
  private final MeterRegistry simple = new SimpleMeterRegistry(SimpleConfig.DEFAULT, clock);

  private static MortiseClient open() {
    String url =
        Objects.requireNonNull(
            System.getenv("MORTISE_TEST_URL"),
            "no MORTISE_TEST_URL: run this by tests/support/with_server");
    return MortiseClient.builder(url)
        .options(MortiseOptions.DEFAULTS.withMetricsName("name"))
        .open();
  }

  /** Something of each kind, and what does not succeed. */
  private static void use(MortiseClient client) throws Exception {
    var lock = client.lock("metrics:\"quoted\"");
    lock.lock();
    var other = new Thread(() -> assertFalse(lock.tryLock()));
    other.start();
    other.join();
    lock.unlock();
    var files = client.readWriteLock("metrics:files");
    files.readLock().lock();
    files.readLock().unlock();
    files.writeLock().lock();
    client.lock("metrics:held").lock();
  }

  private String scrape() {
    clock.add(Duration.ofSeconds(1));
    return prometheus.scrape();
  }

  /** Name with sorted labels, and value, of all but a histogram's buckets. */
  private static Map<String, Double> numbers(String text) {
    return text.lines()
        .filter(line -> !line.startsWith("#") && !line.contains("_bucket{"))
        .collect(
            toMap(
                line -> sorted(line.substring(0, line.lastIndexOf(' '))),
                line -> Double.valueOf(line.substring(line.lastIndexOf(' ') + 1)),
                (one, two) -> {
                  throw new AssertionError("told twice");
                },
                TreeMap::new));
  }

  private static String sorted(String series) {
    int open = series.indexOf('{');
    return Arrays.stream(series.substring(open + 1, series.length() - 1).split(","))
        .sorted()
        .collect(Collectors.joining(",", series.substring(0, open) + "{", "}"));
  }

  private static List<String> help(String text) {
    return text.lines().filter(line -> line.startsWith("# HELP ")).sorted().toList();
  }

  @Test
  void areNamedAndCountedAsInThePrometheusText() throws Exception {
    try (var client = open()) {
      new MortiseMetrics(client).bindTo(prometheus);
      use(client);
      scrape();
      // The client continues, so the comparison is of a time without counts.
      String before;
      String shown;
      do {
        before = client.stats().prometheus();
        shown = scrape();
      } while (!before.equals(client.stats().prometheus()));
      assertEquals(numbers(before), numbers(shown));
      assertEquals(help(before), help(shown));
      assertEquals(1, numbers(shown).get("mortise_holds{kind=\"writer\",name=\"metrics:files\"}"));
      assertTrue(shown.contains("# TYPE mortise_acquire_seconds summary"), shown);
    }
  }

  @Test
  void appearWhenTheyAreCountedFirst() {
    try (var client = open()) {
      new MortiseMetrics(client).bindTo(simple);
      assertNull(simple.find("mortise.holds").gauge());
      assertNull(simple.find("mortise.acquire").functionTimer());
      client.lock("metrics:late").lock();
      clock.add(Duration.ofSeconds(1));
      simple.get("mortise.reconnects").tag("reason", "gone").functionCounter().count();
      assertEquals(1, simple.get("mortise.holds").tag("name", "metrics:late").gauge().value());
      FunctionTimer acquired =
          simple.get("mortise.acquire").tag("outcome", "acquired").functionTimer();
      assertEquals(1, acquired.count());
      assertTrue(acquired.totalTime(TimeUnit.SECONDS) > 0);
      client.lock("metrics:later").lock();
      clock.add(Duration.ofSeconds(1));
      acquired.count();
      assertEquals(1, simple.get("mortise.holds").tag("name", "metrics:later").gauge().value());
    }
  }

  @Test
  void areOfOneSnapshotWithinAScrape() {
    try (var client = open()) {
      client.lock("metrics:first").lock();
      new MortiseMetrics(client).bindTo(simple);
      FunctionTimer acquired = simple.get("mortise.acquire").functionTimer();
      Gauge holds = simple.get("mortise.holds").gauge();
      client.lock("metrics:first").unlock();
      assertEquals(1, acquired.count());
      assertEquals(1, holds.value());
      clock.add(Duration.ofSeconds(1));
      assertEquals(0, holds.value());
    }
  }

  @Test
  void goWithWhatIsNotCountedAnyMore() {
    try (var client = open()) {
      var meters = new ClientMeters(simple, Tags.empty());
      var gone = new Stats.Sample("mortise_reconnects_total", "counter", Map.of("server", "a"), 2);
      var stays = new Stats.Sample("mortise_reconnects_total", "counter", Map.of("server", "b"), 3);
      String text = "# HELP mortise_reconnects_total Connections.\n";
      meters.show(client, new Stats(List.of(gone, stays), "", text));
      assertNotNull(simple.find("mortise.reconnects").tag("server", "a").functionCounter());
      meters.show(client, new Stats(List.of(stays), "", text));
      assertNull(simple.find("mortise.reconnects").tag("server", "a").functionCounter());
      FunctionCounter kept = simple.get("mortise.reconnects").tag("server", "b").functionCounter();
      assertEquals(3, kept.count());
      assertEquals("Connections.", kept.getId().getDescription());
    }
  }

  @Test
  void stayWhatTheyWereWhenTheClientIsClosed() throws Exception {
    var client = open();
    use(client);
    new MortiseMetrics(client).bindTo(prometheus);
    Map<String, Double> last = numbers(scrape());
    client.close();
    Map<String, Double> closed = numbers(scrape());
    assertEquals(last.keySet(), closed.keySet());
    closed.forEach(
        (series, value) -> {
          boolean isGauge = series.matches("mortise_(waiters|holds|connections)\\{.*");
          assertEquals(isGauge ? Double.NaN : last.get(series), value, series);
        });
    assertThrows(MortiseException.class, () -> new MortiseMetrics(client).bindTo(simple));
  }

  @Test
  void areThoseOfTheClientThatWasBoundLast() {
    var first = open();
    first.lock("metrics:again").lock();
    new MortiseMetrics(first).bindTo(simple);
    first.close();
    try (var second = open()) {
      new MortiseMetrics(second).bindTo(simple);
      second.lock("metrics:again").lock();
      second.lock("metrics:again").unlock();
      clock.add(Duration.ofSeconds(1));
      simple.get("mortise.reconnects").functionCounters().forEach(FunctionCounter::count);
      assertEquals(0, simple.get("mortise.holds").gauge().value());
      assertEquals(1, simple.get("mortise.hold").functionTimer().count());
    }
  }

  @Test
  void ofTwoClientsAreDistinguishedByTags() {
    try (var one = open();
        var two = open()) {
      one.lock("metrics:one").lock();
      new MortiseMetrics(one, Tags.of("client", "one")).bindTo(simple);
      new MortiseMetrics(two, Tags.of("client", "two")).bindTo(simple);
      assertEquals(1, simple.get("mortise.holds").tag("client", "one").gauge().value());
      assertNull(simple.find("mortise.holds").tag("client", "two").gauge());
      two.lock("metrics:two").lock();
      clock.add(Duration.ofSeconds(1));
      simple.get("mortise.connections").gauges().forEach(Gauge::value);
      assertEquals(1, simple.get("mortise.holds").tag("client", "two").gauge().value());
      assertEquals(1, simple.get("mortise.holds").tag("client", "one").gauge().value());
    }
  }

  @Test
  void areInEachRegistryOfAComposite() {
    try (var client = open()) {
      var all = new CompositeMeterRegistry(clock, List.of(simple, prometheus));
      new MortiseMetrics(client).bindTo(all);
      client.lock("metrics:composite").lock();
      scrape();
      var held = "mortise_holds{kind=\"mutex\",name=\"metrics:composite\"}";
      assertEquals(1, numbers(scrape()).get(held));
      assertEquals(1, simple.get("mortise.holds").gauge().value());
    }
  }

  @Test
  void doNotKeepTheClient() throws Exception {
    var client = new WeakReference<>(bound());
    long end = System.nanoTime() + Duration.ofMinutes(1).toNanos();
    while (client.get() != null && System.nanoTime() < end) {
      System.gc();
      Thread.sleep(10);
    }
    assertNull(client.get());
    assertTrue(numbers(scrape()).values().stream().anyMatch(value -> value.isNaN()));
  }

  private MortiseClient bound() {
    var client = open();
    new MortiseMetrics(client).bindTo(prometheus);
    return client;
  }

  @Test
  void canBeReadByAllThreadsAlsoByThoseThatRegister() {
    try (var client = open()) {
      var registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
      new MortiseMetrics(client).bindTo(registry);
      // The registry is locked while it reports a new meter.
      Gauge read = registry.get("mortise.connections").tag("state", "up").gauge();
      registry.config().onMeterAdded(meter -> read.value());
      assertTimeoutPreemptively(Duration.ofMinutes(1), () -> readAndRegister(client, registry));
      assertEquals(100, registry.get("mortise.holds").gauges().size());
    }
  }

  private static void readAndRegister(MortiseClient client, PrometheusMeterRegistry registry)
      throws Exception {
    var isOver = new AtomicBoolean();
    List<CompletableFuture<Void>> readers =
        Stream.generate(() -> CompletableFuture.runAsync(() -> readUntil(isOver, registry), READER))
            .limit(2)
            .toList();
    for (int i = 0; i < 100; i++) {
      client.lock("metrics:" + i).lock();
      client.lock("metrics:" + i).unlock();
      registry.counter("other", "number", Integer.toString(i));
      Thread.sleep(10);
    }
    while (registry.find("mortise.holds").gauges().size() < 100) {
      Thread.sleep(10);
    }
    isOver.set(true);
    for (var reader : readers) {
      reader.get();
    }
  }

  private static void readUntil(AtomicBoolean isOver, PrometheusMeterRegistry registry) {
    while (!isOver.get()) {
      registry.scrape();
    }
  }
}
