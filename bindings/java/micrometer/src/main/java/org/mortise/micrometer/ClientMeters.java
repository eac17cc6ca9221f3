package org.mortise.micrometer;

import static java.util.stream.Collectors.toMap;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.mortise.MortiseClient;
import org.mortise.MortiseException;
import org.mortise.Stats;

/**
 * What one registry has of one client. The meters keep this, and the client by a weak reference
 * only. No lock is held while the registry is changed, whose listeners may read meters.
 */
final class ClientMeters {
  /** So long all that is read is of one snapshot, as a scrape reads one meter after the other. */
  private static final long FRESH_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private static final String TIMER_COUNT = "_seconds_count";
  private static final String TIMER_SUM = "_seconds_sum";

  private final MeterRegistry registry;
  private final Tags tags;
  private final Set<Series> registered = ConcurrentHashMap.newKeySet();
  /** A monitor would keep the carrier of a virtual thread that waits for the statistics. */
  private final ReentrantLock lock = new ReentrantLock();

  private volatile Map<Series, Double> values = Map.of();
  private long takenNanos;

  ClientMeters(MeterRegistry registry, Tags tags) {
    this.registry = registry;
    this.tags = tags;
  }

  /** A sample without its value. */
  private record Series(String name, String type, Map<String, String> labels) {
    /** A timer stands for all of a histogram, without its buckets. */
    boolean isMeter() {
      return !type.equals("histogram") || name.endsWith(TIMER_COUNT);
    }

    /** In Micrometer's notation, whose registries have their own for what a number is. */
    String meterName() {
      return name.replaceFirst("(_total|" + TIMER_COUNT + ")$", "").replace('_', '.');
    }

    Series sum() {
      return new Series(name.replaceFirst(TIMER_COUNT + "$", TIMER_SUM), type, labels);
    }
  }

  /** Has this snapshot's values from now on, and a meter for each that is new in it. */
  void show(MortiseClient client, Stats stats) {
    takeOver(stats);
    register(client, stats);
  }

  private void takeOver(Stats stats) {
    lock.lock();
    try {
      takenNanos = registry.config().clock().monotonicTime();
      values = stats.samples().stream().collect(toMap(ClientMeters::series, Stats.Sample::value));
    } finally {
      lock.unlock();
    }
  }

  private static Series series(Stats.Sample sample) {
    return new Series(sample.name(), sample.type(), sample.labels());
  }

  private double read(MortiseClient client, Series series) {
    Stats stats = takeIfOld(client);
    if (stats != null) {
      register(client, stats);
    }
    return values.getOrDefault(series, Double.NaN);
  }

  /** A new snapshot, or null if there is no need of one, or none to be had. */
  private Stats takeIfOld(MortiseClient client) {
    lock.lock();
    try {
      return takeInTurn(client);
    } finally {
      lock.unlock();
    }
  }

  private Stats takeInTurn(MortiseClient client) {
    long nowNanos = registry.config().clock().monotonicTime();
    if (nowNanos - takenNanos < FRESH_NANOS) {
      return null;
    }
    try {
      Stats stats = client.stats();
      takeOver(stats);
      return stats;
    } catch (MortiseException closed) {
      // What was counted stays counted; what is held now is not known.
      takenNanos = nowNanos;
      values =
          values.entrySet().stream()
              .filter(entry -> !entry.getKey().type().equals("gauge"))
              .collect(toMap(Map.Entry::getKey, Map.Entry::getValue));
      return null;
    }
  }

  private void register(MortiseClient client, Stats stats) {
    List<Series> all =
        stats.samples().stream().map(ClientMeters::series).filter(Series::isMeter).toList();
    Set<Series> present = Set.copyOf(all);
    registered.removeIf(series -> !present.contains(series) && remove(series));
    List<Series> found = all.stream().filter(registered::add).toList();
    if (!found.isEmpty()) {
      Map<String, String> descriptions = descriptions(stats);
      found.forEach(series -> register(client, series, descriptions));
    }
  }

  /** From Prometheus' text, which has a line {@code # HELP name description} for each name. */
  private static Map<String, String> descriptions(Stats stats) {
    return stats
        .prometheus()
        .lines()
        .filter(line -> line.startsWith("# HELP "))
        .map(line -> line.split(" ", 4))
        .collect(toMap(words -> words[2], words -> words[3]));
  }

  private void register(MortiseClient client, Series series, Map<String, String> descriptions) {
    // A client that was bound before with the same tags may have left one.
    remove(series);
    String name = series.meterName();
    String description = descriptions.get(series.name().replaceFirst("_count$", ""));
    switch (series.type()) {
      case "counter" ->
          FunctionCounter.builder(name, client, counted -> read(counted, series))
              .tags(tags(series))
              .description(description)
              .register(registry);
      case "gauge" ->
          Gauge.builder(name, client, counted -> read(counted, series))
              .tags(tags(series))
              .description(description)
              .register(registry);
      default ->
          FunctionTimer.builder(
                  name,
                  client,
                  counted -> (long) read(counted, series),
                  counted -> read(counted, series.sum()),
                  TimeUnit.SECONDS)
              .tags(tags(series))
              .description(description)
              .register(registry);
    }
  }

  private boolean remove(Series series) {
    // A meter is found by its name and tags.
    registry.removeByPreFilterId(
        new Meter.Id(series.meterName(), tags(series), null, null, Meter.Type.OTHER));
    return true;
  }

  private Tags tags(Series series) {
    return tags.and(
        series.labels().entrySet().stream()
            .map(label -> Tag.of(label.getKey(), label.getValue()))
            .toList());
  }
}
